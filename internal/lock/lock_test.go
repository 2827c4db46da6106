package lock

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// holding is the environment variable that makes this test binary a program that
// acquires a lock and waits.
const holding = "INGESTOR_TEST_HOLD_LOCK"

// TestHolding is that program.
func TestHolding(t *testing.T) {
	path := os.Getenv(holding)
	if path == "" {
		return
	}
	if _, err := Acquire(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("held\n")
	select {}
}

// TestAcquire checks that a lock has one holder, within a process and among
// processes, and is released when its process ends.
func TestAcquire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mine, err := Acquire(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, path, os.Getpid())
	if err := mine.Release(); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestHolding$", "-test.timeout=0") //nolint:gosec // it is this program
	cmd.Env = append(os.Environ(), holding+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Errorf("process did not get the lock: %q, %v", line, err)
	}
	refused(t, path, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // The process was killed.
	mine, err = Acquire(path, 0o600)
	if err != nil {
		t.Fatalf("Acquire after the holder was killed returned %v", err)
	}
	if err := mine.Release(); err != nil {
		t.Fatal(err)
	}
}

// refused checks that a lock is held by a process.
func refused(t *testing.T, path string, pid int) {
	t.Helper()
	_, err := Acquire(path, 0o600)
	held, ok := errors.AsType[*Held](err)
	host, _ := os.Hostname()
	if !ok || held.PID != pid || held.Path != path || held.Host != host {
		t.Errorf("Acquire returned %v, want a lock of process %d on %s", err, pid, host)
	}
}

package remote

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"
)

// lockingRepository is the environment variable that makes this test binary a
// program that locks the branch main of a repository until it is killed.
const lockingRepository = "INGESTOR_TEST_LOCK_REPOSITORY"

// mainBranch is the branch of the tests, with the commits it is moved to.
const mainBranch = plumbing.ReferenceName("refs/heads/main")

var (
	firstCommit  = plumbing.NewHash("1111111111111111111111111111111111111111")
	secondCommit = plumbing.NewHash("2222222222222222222222222222222222222222")
)

// TestLocking is that program.
func TestLocking(t *testing.T) {
	dir := os.Getenv(lockingRepository)
	if dir == "" {
		return
	}
	if _, err := lockBranch(t.Context(), dir, Update{Branch: mainBranch, New: firstCommit}); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("locked\n")
	select {}
}

// startLocking starts another process that locks the branch.
func startLocking(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLocking$", "-test.timeout=0") //nolint:gosec // it is this program
	cmd.Env = append(os.Environ(), lockingRepository+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "locked\n" {
		t.Fatalf("branch is not locked: %q, %v", line, err)
	}
	return cmd
}

// emptyRepository creates a bare repository, and returns its folder and a
// function that moves its branch main.
func emptyRepository(t *testing.T) (dir string, move func(from, to plumbing.Hash) error) {
	t.Helper()
	dir = t.TempDir()
	if _, err := gogit.PlainInit(dir, true); err != nil {
		t.Fatal(err)
	}
	return dir, func(from, to plumbing.Hash) error {
		r, err := openLocal(dir)
		if err != nil {
			return err
		}
		return r.Push(t.Context(), Update{Branch: mainBranch, Old: from, New: to, Objects: memory.NewStorage()})
	}
}

// age makes a lock look older.
func age(t *testing.T, path string) {
	t.Helper()
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

// tip returns the content of the branch file.
func tip(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "refs/heads/main"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestLockOutlivesKill checks that the lock of a killed process is broken after
// its timeout, and not before.
func TestLockOutlivesKill(t *testing.T) {
	dir, move := emptyRepository(t)
	other := startLocking(t, dir)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // The process was killed.
	path := filepath.Join(dir, "refs/heads/main.lock")
	if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != firstCommit.String() {
		t.Fatalf("lock contains %q: %v", text, err)
	}
	err := move(plumbing.ZeroHash, secondCommit)
	if !IsBusy(err) || !strings.Contains(err.Error(), path) {
		t.Errorf("move with a new lock returned %v, want busy", err)
	}
	age(t, path)
	if err := move(plumbing.ZeroHash, secondCommit); err != nil || tip(t, dir) != secondCommit.String() {
		t.Fatalf("move with an old lock returned %v, and the branch is at %s", err, tip(t, dir))
	}
	if err := move(secondCommit, firstCommit); err != nil || tip(t, dir) != firstCommit.String() {
		t.Fatalf("next move returned %v, and the branch is at %s", err, tip(t, dir))
	}
	if left, err := filepath.Glob(filepath.Join(dir, ownDir, "*")); err != nil || len(left) != 1 {
		t.Errorf("files %q are left: %v", left, err)
	}
}

// TestLockOfLiveProcess checks that the lock of a running process is kept,
// however old it is, and that the process is named.
func TestLockOfLiveProcess(t *testing.T) {
	dir, move := emptyRepository(t)
	other := startLocking(t, dir)
	path := filepath.Join(dir, "refs/heads/main.lock")
	age(t, path)
	err := move(plumbing.ZeroHash, secondCommit)
	if !IsBusy(err) || !strings.Contains(err.Error(), "process "+strconv.Itoa(other.Process.Pid)+" on host ") {
		t.Errorf("move returned %v, want busy with the process", err)
	}
	if _, err := os.Stat(path); err != nil || tip(t, dir) != "" {
		t.Errorf("lock was removed, or the branch moved to %q: %v", tip(t, dir), err)
	}
}

// TestLockOfAnotherProgram checks that the lock of another program is kept,
// however old it is, and is named.
func TestLockOfAnotherProgram(t *testing.T) {
	for name, text := range map[string]string{"Empty": "", "Commit": secondCommit.String() + "\n"} {
		t.Run(name, func(t *testing.T) {
			dir, move := emptyRepository(t)
			if err := move(plumbing.ZeroHash, firstCommit); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "refs/heads/main.lock")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			age(t, path)
			err := move(firstCommit, secondCommit)
			if !IsBusy(err) || !strings.HasSuffix(Explain(err).Hint, "remove "+path) {
				t.Errorf("move returned %v, %q; want busy with the path", err, Explain(err).Hint)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text || tip(t, dir) != firstCommit.String() {
				t.Errorf("lock contains %q, and the branch is at %q: %v", got, tip(t, dir), err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := move(firstCommit, secondCommit); err != nil {
				t.Errorf("move without the lock returned %v", err)
			}
		})
	}
}

// TestEmptyLock checks that a new branch waits while the lock of another program
// is empty.
func TestEmptyLock(t *testing.T) {
	dir, move := emptyRepository(t)
	if err := os.WriteFile(filepath.Join(dir, "refs/heads/other.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := move(plumbing.ZeroHash, firstCommit); !IsBusy(err) || !strings.Contains(Explain(err).Hint, "empty files below "+dir) {
		t.Errorf("move returned %v, %q; want busy with a hint", err, Explain(err).Hint)
	}
}

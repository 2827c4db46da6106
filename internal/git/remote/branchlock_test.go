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

// lockingRepository is the environment variable that makes of this test binary a
// program that locks the branch main of a repository and stays.
const lockingRepository = "INGESTOR_TEST_LOCK_REPOSITORY"

// main is the branch of the tests, and the commits it is moved to.
const mainBranch = plumbing.ReferenceName("refs/heads/main")

var (
	firstCommit  = plumbing.NewHash("1111111111111111111111111111111111111111")
	secondCommit = plumbing.NewHash("2222222222222222222222222222222222222222")
)

// TestLocking is the program.
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

// startLocking has another process lock the branch, and returns it.
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
		t.Fatalf("the branch is not locked: %q, %v", line, err)
	}
	return cmd
}

// emptyRepository makes a bare repository, and returns its folder and what moves
// its branch main.
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

// age makes a lock look older than it is.
func age(t *testing.T, path string) {
	t.Helper()
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

// tip is what the file of the branch has in it.
func tip(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "refs/heads/main"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestLockOutlivesKill wants the lock of a process that was killed to be broken
// after its time, and not before.
func TestLockOutlivesKill(t *testing.T) {
	dir, move := emptyRepository(t)
	other := startLocking(t, dir)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // It was killed.
	path := filepath.Join(dir, "refs/heads/main.lock")
	if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != firstCommit.String() {
		t.Fatalf("the lock has %q: %v", text, err)
	}
	err := move(plumbing.ZeroHash, secondCommit)
	if !IsBusy(err) || !strings.Contains(err.Error(), path) {
		t.Errorf("a new lock: got %v", err)
	}
	age(t, path)
	if err := move(plumbing.ZeroHash, secondCommit); err != nil || tip(t, dir) != secondCommit.String() {
		t.Fatalf("an old lock: got %v, and the branch is at %s", err, tip(t, dir))
	}
	if err := move(secondCommit, firstCommit); err != nil || tip(t, dir) != firstCommit.String() {
		t.Fatalf("after that: got %v, and the branch is at %s", err, tip(t, dir))
	}
	if left, err := filepath.Glob(filepath.Join(dir, ownDir, "*")); err != nil || len(left) != 1 {
		t.Errorf("files %q are left: %v", left, err)
	}
}

// TestLockOfLiveProcess wants the lock of a process that lives to be kept, however
// old it is, and the process to be named.
func TestLockOfLiveProcess(t *testing.T) {
	dir, move := emptyRepository(t)
	other := startLocking(t, dir)
	path := filepath.Join(dir, "refs/heads/main.lock")
	age(t, path)
	err := move(plumbing.ZeroHash, secondCommit)
	if !IsBusy(err) || !strings.Contains(err.Error(), "process "+strconv.Itoa(other.Process.Pid)+" on host ") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err != nil || tip(t, dir) != "" {
		t.Errorf("the lock is gone, or the branch moved to %q: %v", tip(t, dir), err)
	}
}

// TestLockOfAnotherProgram wants a lock that is not ours to be kept, however old it
// is, and to be named.
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
				t.Errorf("got %v, %q", err, Explain(err).Hint)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text || tip(t, dir) != firstCommit.String() {
				t.Errorf("the lock has %q, and the branch is at %q: %v", got, tip(t, dir), err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := move(firstCommit, secondCommit); err != nil {
				t.Errorf("without the lock: got %v", err)
			}
		})
	}
}

// TestEmptyLock wants a new branch to wait while another program has made a lock
// and not filled it.
func TestEmptyLock(t *testing.T) {
	dir, move := emptyRepository(t)
	if err := os.WriteFile(filepath.Join(dir, "refs/heads/other.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := move(plumbing.ZeroHash, firstCommit); !IsBusy(err) || !strings.Contains(Explain(err).Hint, "empty files below "+dir) {
		t.Errorf("got %v, %q", err, Explain(err).Hint)
	}
}

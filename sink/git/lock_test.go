package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.dev/ingestor/test/gitserver"
)

// TestLocked checks that a commit waits for a lock of another program for a
// limited time, and that the error names the lock file.
func TestLocked(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	locked := filepath.Join(r.dir, "refs/heads/master.lock")
	if err := os.WriteFile(locked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := New(r.dir, Options{}).Commit(t.Context(), contents("b", "b"))
		if err == nil || !strings.Contains(err.Error(), `branch "master" is locked by another program`) || !strings.HasSuffix(hint(err), "remove "+locked) {
			t.Errorf("%v, %q", err, hint(err))
		}
		if took := time.Since(begun); took < patience || took > 2*patience {
			t.Errorf("commit waited for %v", took)
		}
		if r.head("master") != old {
			t.Error("branch was moved")
		}
		// Another process removes the lock.
		time.AfterFunc(patience/2, func() { _ = os.Remove(locked) })
		if got, err := New(r.dir, Options{}).Commit(t.Context(), contents("b", "b")); err != nil || !got.Pushed {
			t.Errorf("commit after the lock was removed: %v", err)
		}
	})
}

// TestLockedOnServer checks a lock of Git on a server.
func TestLockedOnServer(t *testing.T) {
	r := newRepo(t)
	r.commit("master", map[string]string{"a": "a"})
	locked := filepath.Join(r.dir, "refs/heads/master.lock")
	if err := os.WriteFile(locked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(gitserver.Serve(t, r.dir, nil), Options{Timeout: 4 * time.Second}).Commit(t.Context(), contents("b", "b"))
	if err == nil || !strings.Contains(err.Error(), `branch "master" is locked on the server`) || !strings.Contains(hint(err), "remove refs/heads/master.lock") {
		t.Errorf("%v, %q", err, hint(err))
	}
}

// committing and committer are the environment variables that make this test
// binary a program which commits to a repository, several times at once.
const committing, committer = "INGESTOR_TEST_COMMIT_REPOSITORY", "INGESTOR_TEST_COMMIT_NAME"

// each is the number of concurrent commits of each process.
const each = 10

// TestCommitting is the main function of the subprocesses of
// TestRaceOfProcesses.
func TestCommitting(t *testing.T) {
	at := os.Getenv(committing)
	if at == "" {
		return
	}
	var wg sync.WaitGroup
	errs := make([]error, each)
	for i := range each {
		name := fmt.Sprint(os.Getenv(committer), i)
		wg.Go(func() { _, errs[i] = New(at, Options{Branch: "master"}).Commit(t.Context(), contents(name, name)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestRaceOfProcesses checks processes that write concurrently to a new branch.
func TestRaceOfProcesses(t *testing.T) {
	for _, over := range []string{"Disk", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			r := newRepo(t)
			at := r.dir
			if over == "HTTP" {
				at = gitserver.Serve(t, r.dir, nil)
			}
			const processes = 5
			var wg sync.WaitGroup
			for i := range processes {
				wg.Go(func() {
					cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCommitting$") //nolint:gosec // it is this program
					cmd.Env = append(os.Environ(), committing+"="+at, committer+"="+fmt.Sprint("by", i, "-"))
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				})
			}
			wg.Wait()
			if got := len(r.files("master")); got != processes*each {
				t.Errorf("branch has %d files", got)
			}
			r.fsck()
		})
	}
}

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

// TestLocked wants a commit to wait for a lock of another program, but not for as
// long as it might, and the error to name the file.
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
			t.Errorf("it was waited for %v", took)
		}
		if r.head("master") != old {
			t.Error("the branch was moved")
		}
		// Somebody removes it.
		time.AfterFunc(patience/2, func() { _ = os.Remove(locked) })
		if got, err := New(r.dir, Options{}).Commit(t.Context(), contents("b", "b")); err != nil || !got.Pushed {
			t.Errorf("a lock that goes: %v", err)
		}
	})
}

// TestLockedOnServer wants the same of a lock that Git has on a server.
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

// committing are the environment variables that make of this test binary a program
// that commits to a repository, several times at once.
const committing, committer = "INGESTOR_TEST_COMMIT_REPOSITORY", "INGESTOR_TEST_COMMIT_NAME"

// each is how many commits each process makes at once.
const each = 10

// TestCommitting is the program.
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

// TestRaceOfProcesses has processes write to a branch that is not there yet.
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
				t.Errorf("there are %d files", got)
			}
			r.fsck()
		})
	}
}

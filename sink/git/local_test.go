package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"

	"example.dev/ingestor/test/gitserver"
)

// TestWorkTree does not pull the files of a work tree from under somebody.
func TestWorkTree(t *testing.T) {
	dir := t.TempDir()
	if _, err := gogit.PlainInit(dir, false); err != nil {
		t.Fatal(err)
	}
	_, err := New(dir, Options{}).Commit(t.Context(), contents("a", "a"))
	if err == nil || !strings.Contains(err.Error(), `the branch "master" is checked out there`) || !strings.Contains(hint(err), "another branch") {
		t.Errorf("%v, %q", err, hint(err))
	}
	if got, err := New(dir, Options{Branch: "other"}).Commit(t.Context(), contents("a", "a")); err != nil || !got.Pushed {
		t.Errorf("another branch: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file appeared: %v", err)
	}
}

// TestWorkTrees wants the same of those that git worktree makes, whichever is
// written to, and of a repository that has no other.
func TestWorkTrees(t *testing.T) {
	gitserver.Need(t)
	cases := map[string]struct {
		reason string
		bare   bool
		held   []string
	}{
		"Beside": {"each holds its branch", false, []string{"master", "other"}},
		"Bare":   {"the only one does", true, []string{"other"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			main, linked := filepath.Join(t.TempDir(), "main"), filepath.Join(t.TempDir(), "linked")
			if _, err := gogit.PlainInit(main, tc.bare); err != nil {
				t.Fatal(err)
			}
			if _, err := New(main, Options{Branch: "other"}).Commit(t.Context(), contents("a", "a")); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), "git", "-C", main, "worktree", "add", "-q", linked, "other").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, dir := range []string{main, linked} {
				for _, branch := range tc.held {
					_, err := New(dir, Options{Branch: branch, Base: "other"}).Commit(t.Context(), contents("b", "b"))
					if err == nil || !strings.Contains(err.Error(), "is checked out there") {
						t.Errorf("%s\n%s of %s: %v", tc.reason, branch, dir, err)
					}
				}
				if _, err := New(dir, Options{Branch: filepath.Base(dir), Base: "other"}).Commit(t.Context(), contents("b", "b")); err != nil {
					t.Errorf("%s\na branch that nobody has: %v", tc.reason, err)
				}
			}
		})
	}
}

// TestPacked moves a branch that is known from packed-refs alone, as it is after
// a clone or a clean-up.
func TestPacked(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	if err := r.open().Storer.PackRefs(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "refs/heads/master")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("it is not packed: %v", err)
	}
	if _, err := New(r.dir, Options{}).Commit(t.Context(), contents("b", "b")); err != nil {
		t.Fatal(err)
	}
	if c := r.last("master"); c.ParentHashes[0] != old {
		t.Errorf("after %s", c.ParentHashes)
	}
}

// TestPackedAround wants no branch where a packed one has its folder, which the
// disk would not mind.
func TestPackedAround(t *testing.T) {
	r := newRepo(t)
	r.commit("team/catalog", map[string]string{"a": "a"})
	if err := r.open().Storer.PackRefs(); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"team", "team/catalog/new"} {
		_, err := New(r.dir, Options{Branch: branch, Base: "team/catalog"}).Commit(t.Context(), contents("b", "b"))
		if err == nil || !strings.Contains(err.Error(), `there is "team/catalog"`) || !strings.Contains(hint(err), "a branch cannot be where") {
			t.Errorf("%s: got %v, %q", branch, err, hint(err))
		}
	}
	if _, err := New(r.dir, Options{Branch: "team/cat", Base: "team/catalog"}).Commit(t.Context(), contents("b", "b")); err != nil {
		t.Errorf("a name that only begins so: got %v", err)
	}
}

// TestLocalErrors are those of the disk.
func TestLocalErrors(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	cases := map[string]struct {
		reason, at string
		opts       Options
		err, hint  string
	}{
		"Gone":    {"no folder", r.dir + "x", Options{}, "there is no such folder", "name the folder"},
		"None":    {"no repository", t.TempDir(), Options{}, "the folder is not a repository", "name the folder"},
		"Address": {"no address", "git://h/r", Options{}, `there is no way to reach "git"`, "use https"},
		"Branch":  {"a branch where another's folder would be", r.dir, Options{Branch: "master/x"}, "it cannot be written to", "a branch cannot be where"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.at, tc.opts).Commit(t.Context(), contents("b", "b"))
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
			}
			if r.head("master") != old {
				t.Errorf("%s\nthe branch was moved", tc.reason)
			}
		})
	}
}

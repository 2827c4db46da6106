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

// TestWorkTree checks that a push does not change the files of a checked-out
// work tree.
func TestWorkTree(t *testing.T) {
	dir := t.TempDir()
	if _, err := gogit.PlainInit(dir, false); err != nil {
		t.Fatal(err)
	}
	_, err := New(dir, Options{}).Commit(t.Context(), contents("a", "a"))
	if err == nil || !strings.Contains(err.Error(), `branch "master" is checked out there`) || !strings.Contains(hint(err), "another branch") {
		t.Errorf("%v, %q", err, hint(err))
	}
	if got, err := New(dir, Options{Branch: "other"}).Commit(t.Context(), contents("a", "a")); err != nil || !got.Pushed {
		t.Errorf("commit to another branch: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file in the work tree: %v, want none", err)
	}
}

// TestWorkTrees checks linked work trees, for commits through each of them, and
// a bare repository with one work tree.
func TestWorkTrees(t *testing.T) {
	gitserver.Need(t)
	cases := map[string]struct {
		reason string
		bare   bool
		held   []string
	}{
		"Beside": {"Each work tree protects its branch.", false, []string{"master", "other"}},
		"Bare":   {"The only work tree protects its branch.", true, []string{"other"}},
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
					t.Errorf("%s\npush to a branch that is not checked out: %v", tc.reason, err)
				}
			}
		})
	}
}

// TestPacked moves a branch that is only in packed-refs, as after a clone or
// git gc.
func TestPacked(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	if err := r.open().Storer.PackRefs(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "refs/heads/master")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("branch is not packed: %v", err)
	}
	if _, err := New(r.dir, Options{}).Commit(t.Context(), contents("b", "b")); err != nil {
		t.Fatal(err)
	}
	if c := r.last("master"); c.ParentHashes[0] != old {
		t.Errorf("after %s", c.ParentHashes)
	}
}

// TestPackedAround checks that a branch cannot have the name of a folder of a
// packed branch, which the disk would allow.
func TestPackedAround(t *testing.T) {
	r := newRepo(t)
	r.commit("team/catalog", map[string]string{"a": "a"})
	if err := r.open().Storer.PackRefs(); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"team", "team/catalog/new"} {
		_, err := New(r.dir, Options{Branch: branch, Base: "team/catalog"}).Commit(t.Context(), contents("b", "b"))
		if err == nil || !strings.Contains(err.Error(), `branch name conflicts with "team/catalog"`) || !strings.Contains(hint(err), "a branch cannot have the name") {
			t.Errorf("%s: got %v, %q", branch, err, hint(err))
		}
	}
	if _, err := New(r.dir, Options{Branch: "team/cat", Base: "team/catalog"}).Commit(t.Context(), contents("b", "b")); err != nil {
		t.Errorf("branch name with a common prefix: %v", err)
	}
}

// TestLocalErrors checks errors of local repositories.
func TestLocalErrors(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	cases := map[string]struct {
		reason, at string
		opts       Options
		err, hint  string
	}{
		"Gone":    {"A missing folder is reported.", r.dir + "x", Options{}, "folder not found", "specify the folder"},
		"None":    {"A folder that is not a repository is reported.", t.TempDir(), Options{}, "folder is not a repository", "specify the folder"},
		"Address": {"An unsupported scheme is reported.", "git://h/r", Options{}, `unsupported scheme "git"`, "use https"},
		"Branch":  {"A branch below the name of another branch is refused.", r.dir, Options{Branch: "master/x"}, "branch name conflicts with", "a branch cannot have the name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.at, tc.opts).Commit(t.Context(), contents("b", "b"))
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint) {
				t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
			}
			if r.head("master") != old {
				t.Errorf("%s\nbranch was moved", tc.reason)
			}
		})
	}
}

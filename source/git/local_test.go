package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
)

// TestWorkTree reads repositories with work trees: only committed files, and
// without the git program.
func TestWorkTree(t *testing.T) {
	t.Setenv("PATH", "")
	dir := t.TempDir()
	r, err := gogit.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir, Options{}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "repository has no commits yet") {
		t.Errorf("read of an empty repository: %v", err)
	}
	tree, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", definition("committed"))
	if _, err := tree.Add("a.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Commit("first", &gogit.CommitOptions{Author: &who}); err != nil {
		t.Fatal(err)
	}
	write("a.yaml", definition("changed"))
	write("b.yaml", definition("added"))
	if _, err := tree.Add("b.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(dir, ".git")} {
		set, err := New(at, Options{}).Read(t.Context())
		if err != nil || len(set.Definitions) != 1 || set.Definitions[0].Name != "committed" {
			t.Errorf("%s: %+v, %v", at, set.Definitions, err)
		}
	}
	t.Chdir(dir)
	set, err := New(".", Options{}).Read(t.Context())
	if err != nil || len(set.Definitions) != 1 {
		t.Errorf("read of the working directory: %+v, %v", set.Definitions, err)
	}
}

// TestBomb reads a small tree that contains the same folders very many times.
func TestBomb(t *testing.T) {
	r := newRepo(t)
	tree := r.tree(map[string]string{"a.txt": "boom"})
	for range 12 {
		var entries []object.TreeEntry
		for i := range 10 {
			entries = append(entries, object.TreeEntry{Name: fmt.Sprint(i), Mode: filemode.Dir, Hash: tree})
		}
		tree = r.encode(&object.Tree{Entries: entries})
	}
	r.commitTree("master", tree)
	_, err := New(r.dir, Options{MaxFiles: 1000}).Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), "more than 1000 files") {
		t.Errorf("Read: %v", err)
	}
}

func TestDeep(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files(strings.Repeat("d/", maxDepth+2)+"a.yaml"))
	if _, err := New(r.dir, Options{}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "is nested too deeply") {
		t.Errorf("Read: %v", err)
	}
}

// TestBroken reads a repository with a missing object.
func TestBroken(t *testing.T) {
	r := newRepo(t)
	r.commit("master", with(files("a.yaml", "b.yaml"), "c.yaml", "lost: true\n"))
	lost := plumbing.ComputeHash(plumbing.BlobObject, []byte("lost: true\n")).String()
	if err := os.Remove(filepath.Join(r.dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	s := New(r.dir, Options{})
	set, err := s.Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), `cannot read "c.yaml"`) || s.Commit() != "" {
		t.Errorf("Read: %v, Commit() = %q", err, s.Commit())
	}
	if diff := cmp.Diff([]string{"a.yaml", "b.yaml"}, origins(set)); diff != "" {
		t.Errorf("other definitions (-want +got):\n%s", diff)
	}
}

func TestCancelled(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	s := New(r.dir, Options{})
	set, err := s.Read(ctx)
	if set == nil || len(set.Definitions) != 0 || !errors.Is(err, enough) {
		t.Errorf("Read: %v, %v", set, err)
	}
	if _, err := s.Head(ctx); !errors.Is(err, enough) {
		t.Errorf("Head: %v", err)
	}
	if _, err := New(r.dir, Options{Timeout: time.Nanosecond}).Read(t.Context()); !errors.Is(err, context.DeadlineExceeded) || hints(err) == "" {
		t.Errorf("read after the deadline: %v, %q", err, hints(err))
	}
}

// TestLocalErrors checks paths that are not repositories.
func TestLocalErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	detached := newRepo(t)
	detached.commit("main", files("a.yaml"))
	sha256 := newRepo(t)
	sha256.configure("[extensions]\n\tobjectFormat = sha256\n")
	table := newRepo(t)
	table.configure("[extensions]\n\trefStorage = reftable\n")
	cases := map[string]struct{ reason, at, err, hint string }{
		"Missing":  {"A missing folder is reported.", filepath.Join(dir, "nope"), "folder not found", "use a URL"},
		"Plain":    {"A folder that is not a repository is reported.", dir, "folder is not a repository", "that contains .git"},
		"File":     {"A file is not a repository.", filepath.Join(dir, "f"), "folder not found", "that contains .git"},
		"NoHead":   {"A HEAD that points to a missing branch is reported.", detached.dir, "no default branch: HEAD does not refer to an existing branch", "available: main"},
		"SHA256":   {"The SHA-256 object format is not supported.", sha256.dir, "cannot open: ", "git clone"},
		"RefTable": {"The reftable format is not supported.", table.dir, "cannot open: ", "git clone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set, err := New(tc.at, Options{}).Read(t.Context())
			if set == nil || err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hints(err), tc.hint) {
				t.Errorf("%s\nRead: %v, %q\nwant: %q, %q", tc.reason, err, hints(err), tc.err, tc.hint)
			}
		})
	}
}

package git

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/memory"
)

// repo is a real bare repository on the disk.
type repo struct {
	t     testing.TB
	dir   string
	store storage.Storer
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog.git")
	r, err := gogit.PlainInit(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return &repo{t: t, dir: dir, store: r.Storer}
}

// link is the prefix of the content of a link.
const link = "-> "

// commit adds a commit with these files to a branch, and returns it.
func (r *repo) commit(branch string, files map[string]string) plumbing.Hash {
	r.t.Helper()
	made := memory.NewStorage()
	top := openFolder(made, made, plumbing.ZeroHash)
	for name, text := range files {
		mode := filemode.Regular
		if to, ok := strings.CutPrefix(text, link); ok {
			mode, text = filemode.Symlink, to
		}
		in, _, _, err := top.file(name)
		if err != nil {
			r.t.Fatal(err)
		}
		hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(text))
		if err := in.put(name[strings.LastIndexByte(name, '/')+1:], mode, hash, []byte(text)); err != nil {
			r.t.Fatal(err)
		}
	}
	root, err := top.write()
	if err != nil {
		r.t.Fatal(err)
	}
	who := object.Signature{Name: "someone", Email: "someone@example.com", When: time.Unix(1_700_000_000, 0)}
	c := &object.Commit{Author: who, Committer: who, Message: "before\n", TreeHash: root}
	name := plumbing.NewBranchReferenceName(branch)
	if old, err := r.store.Reference(name); err == nil {
		c.ParentHashes = []plumbing.Hash{old.Hash()}
	}
	h, err := store(made, c)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range made.Objects {
		if _, err := r.store.SetEncodedObject(o); err != nil {
			r.t.Fatal(err)
		}
	}
	r.point(name, h)
	return h
}

func (r *repo) point(name plumbing.ReferenceName, at plumbing.Hash) {
	r.t.Helper()
	if err := r.store.SetReference(plumbing.NewHashReference(name, at)); err != nil {
		r.t.Fatal(err)
	}
}

// open opens the repository again, without any cache.
func (r *repo) open() *gogit.Repository {
	r.t.Helper()
	now, err := gogit.PlainOpen(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return now
}

// head returns the commit of a branch, or zero if it does not exist.
func (r *repo) head(branch string) plumbing.Hash {
	r.t.Helper()
	ref, err := r.open().Reference(plumbing.NewBranchReferenceName(branch), true)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return ref.Hash()
}

// last returns the last commit of a branch.
func (r *repo) last(branch string) *object.Commit {
	r.t.Helper()
	c, err := r.open().CommitObject(r.head(branch))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// files returns the files of a branch, or nil if it does not exist.
func (r *repo) files(branch string) map[string]string {
	r.t.Helper()
	if r.head(branch).IsZero() {
		return nil
	}
	all := map[string]string{}
	iter, err := r.last(branch).Files()
	if err != nil {
		r.t.Fatal(err)
	}
	err = iter.ForEach(func(f *object.File) error {
		text, err := f.Contents()
		if f.Mode == filemode.Symlink {
			text = link + text
		}
		all[f.Name] = text
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// fsck runs git fsck, if Git is installed.
func (r *repo) fsck() {
	r.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	cmd := exec.CommandContext(r.t.Context(), "git", "-c", "safe.directory=*", "fsck", "--strict")
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// hook installs a hook script on the server.
func (r *repo) hook(name, script string) {
	r.t.Helper()
	at := filepath.Join(r.dir, "hooks", name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// contents returns files as Commit takes them: name, content, name, content…
func contents(more ...string) map[string][]byte {
	all := map[string][]byte{}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = []byte(more[i+1])
	}
	return all
}

func with(all map[string]string, more ...string) map[string]string {
	all = maps.Clone(all)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func hint(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}

// isPush reports whether a request is a push.
func isPush(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "git-receive-pack")
}

package git

import (
	"errors"
	"os"
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

	"example.dev/ingestor/xrd"
)

// definition returns the text of a definition with the name.
func definition(name string) string {
	return "apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition\nmetadata:\n  name: " + name + "\n"
}

// repo is a real bare repository on the disk.
type repo struct {
	t     testing.TB
	dir   string
	store storage.Storer
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "defs.git")
	r, err := gogit.PlainInit(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return &repo{t: t, dir: dir, store: r.Storer}
}

// configure adds lines to the configuration.
func (r *repo) configure(lines string) {
	r.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = f.WriteString(lines)
	if err := errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) put(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	r.t.Helper()
	o := r.store.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		r.t.Fatal(err)
	}
	h, err := r.store.SetEncodedObject(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

func (r *repo) encode(o object.Object) plumbing.Hash {
	r.t.Helper()
	e := r.store.NewEncodedObject()
	if err := o.Encode(e); err != nil {
		r.t.Fatal(err)
	}
	h, err := r.store.SetEncodedObject(e)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// The prefixes of contents that stand for links and submodules.
const (
	link   = "-> "
	module = "submodule"
)

// tree creates a tree from contents by path.
func (r *repo) tree(files map[string]string) plumbing.Hash {
	r.t.Helper()
	below := map[string]map[string]string{}
	var entries []object.TreeEntry
	for path, text := range files {
		if dir, rest, ok := strings.Cut(path, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = text
			continue
		}
		e := object.TreeEntry{Name: path, Mode: filemode.Regular}
		switch to, isLink := strings.CutPrefix(text, link); {
		case isLink:
			e.Mode, e.Hash = filemode.Symlink, r.put(plumbing.BlobObject, []byte(to))
		case text == module:
			e.Mode, e.Hash = filemode.Submodule, plumbing.NewHash(strings.Repeat("1", 40))
		default:
			e.Hash = r.put(plumbing.BlobObject, []byte(text))
		}
		entries = append(entries, e)
	}
	for dir, files := range below {
		entries = append(entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: r.tree(files)})
	}
	slices.SortFunc(entries, func(a, b object.TreeEntry) int {
		sortable := func(e object.TreeEntry) string {
			if e.Mode == filemode.Dir {
				return e.Name + "/"
			}
			return e.Name
		}
		return strings.Compare(sortable(a), sortable(b))
	})
	return r.encode(&object.Tree{Entries: entries})
}

var who = object.Signature{Name: "someone", Email: "someone@example.com", When: time.Unix(1_700_000_000, 0)}

// commit adds a commit with these files to a branch.
func (r *repo) commit(branch string, files map[string]string) plumbing.Hash {
	r.t.Helper()
	return r.commitTree(branch, r.tree(files))
}

func (r *repo) commitTree(branch string, tree plumbing.Hash) plumbing.Hash {
	r.t.Helper()
	name := plumbing.NewBranchReferenceName(branch)
	c := &object.Commit{Author: who, Committer: who, Message: "change " + branch, TreeHash: tree}
	if old, err := r.store.Reference(name); err == nil {
		c.ParentHashes = []plumbing.Hash{old.Hash()}
	}
	h := r.encode(c)
	r.point(name, h)
	return h
}

func (r *repo) point(name plumbing.ReferenceName, at plumbing.Hash) {
	r.t.Helper()
	if err := r.store.SetReference(plumbing.NewHashReference(name, at)); err != nil {
		r.t.Fatal(err)
	}
}

// tag creates an annotated tag.
func (r *repo) tag(name string, kind plumbing.ObjectType, at plumbing.Hash) plumbing.Hash {
	r.t.Helper()
	h := r.encode(&object.Tag{Name: name, Tagger: who, Message: name, TargetType: kind, Target: at})
	r.point(plumbing.NewTagReferenceName(name), h)
	return h
}

// files returns definitions at the paths.
func files(paths ...string) map[string]string {
	all := map[string]string{}
	for _, p := range paths {
		all[p] = definition(strings.ReplaceAll(p, "/", "-"))
	}
	return all
}

// with returns the files with one more.
func with(all map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func origins(set *xrd.Set) []string {
	var out []string
	for _, d := range set.Definitions {
		out = append(out, d.Origin.File)
	}
	return out
}

// hints returns the hints of all joined errors.
func hints(err error) string {
	var all []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, hints(e))
		}
	} else if e, ok := errors.AsType[*Error](err); ok {
		all = append(all, e.Hint)
	}
	return strings.Join(all, "\n")
}

// mustReturn fails the test if f does not return in time.
func mustReturn(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("function did not return")
	}
}

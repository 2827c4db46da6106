package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
)

// localRepository is a repository on this machine. Its objects are read where
// they are; its work tree is not looked at.
type localRepository struct {
	// own is the folder with HEAD in it. For a work tree that was added to a
	// repository that is not the folder with the objects.
	own   string
	names storer.Storer
	shelf shelf
}

// openLocal opens the repository in dir: dir/.git, or dir itself.
func openLocal(dir string) (*localRepository, error) {
	own, err := gitDir(dir)
	if err != nil {
		return nil, err
	}
	shared := own
	if text, err := os.ReadFile(filepath.Join(own, "commondir")); err == nil {
		shared = below(own, strings.TrimSpace(string(text)))
	}
	names, err := openStore(shared)
	if err != nil {
		return nil, err
	}
	r := &localRepository{own: own, names: names, shelf: shelf{names, borrowed(shared, 0)}}
	return r, r.understood()
}

func openStore(dir string) (storer.Storer, error) {
	store, err := server.DefaultLoader.Load(&transport.Endpoint{Protocol: "file", Path: dir})
	if errors.Is(err, transport.ErrRepositoryNotFound) {
		return nil, notRepository
	}
	return store, err
}

var notRepository = wrong("name the folder that holds .git, or a bare repository", "the folder is not a repository")

func gitDir(dir string) (string, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", wrong("check the spelling; other machines are named by a URL or host:path", "there is no such folder")
	}
	if err != nil {
		return "", pathless(err)
	}
	if !info.IsDir() {
		return "", wrong("name the folder that holds .git, or a bare repository", "it is a file")
	}
	dot := filepath.Join(dir, ".git")
	info, err = os.Stat(dot)
	switch {
	case err == nil && info.IsDir():
		return dot, nil
	case err == nil:
		// A work tree that was added, or a submodule.
		text, err := os.ReadFile(dot)
		to, ok := strings.CutPrefix(string(text), "gitdir:")
		if err != nil || !ok {
			return "", notRepository
		}
		return below(dir, strings.TrimSpace(to)), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", pathless(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "objects")); err != nil {
		return "", notRepository
	}
	return dir, nil
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// pathless returns the cause without the path, which is in the message already.
func pathless(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// understood refuses ways to keep objects and names that nobody here can read.
func (r *localRepository) understood() error {
	store, ok := r.names.(interface {
		Config() (*config.Config, error)
	})
	if !ok {
		return nil
	}
	c, err := store.Config()
	if err != nil {
		return fmt.Errorf("its configuration cannot be read: %w", err)
	}
	extensions := c.Raw.Section("extensions")
	for key, fine := range map[string]string{"objectformat": "sha1", "refstorage": "files"} {
		if v := extensions.Option(key); v != "" && !strings.EqualFold(v, fine) {
			return wrong("read a clone of it that was made in the usual way", "it keeps its %s as %q", map[string]string{"objectformat": "objects", "refstorage": "names"}[key], v)
		}
	}
	return nil
}

func (r *localRepository) refs(context.Context) (*refs, error) {
	all := &refs{at: map[string]plumbing.Hash{}}
	found, err := r.names.IterReferences()
	if err != nil {
		return nil, err
	}
	err = found.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && ref.Name() != plumbing.HEAD {
			all.at[ref.Name().String()] = ref.Hash()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("its names cannot be read: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(r.own, "HEAD"))
	if err != nil {
		return nil, notRepository
	}
	head := strings.TrimSpace(string(text))
	if branch, ok := strings.CutPrefix(head, "ref:"); ok {
		all.branch = strings.TrimSpace(branch)
		all.head = all.at[all.branch]
		return all, nil
	}
	if isHash(head) {
		all.head = plumbing.NewHash(head)
	}
	return all, nil
}

func (r *localRepository) peel(t target) (plumbing.Hash, error) {
	c, err := commitOf(r.shelf, t.want)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Hash, nil
}

// search looks among all objects.
func (r *localRepository) search(_ context.Context, digits string) (plumbing.Hash, error) {
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var commits []plumbing.Hash
	for _, store := range append([]objects{r.shelf.objects}, r.shelf.more...) {
		finder, ok := store.(interface {
			HashesWithPrefix([]byte) ([]plumbing.Hash, error)
		})
		if !ok {
			continue
		}
		found, err := finder.HashesWithPrefix(prefix)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		for _, h := range found {
			if _, err := store.EncodedObject(plumbing.CommitObject, h); err == nil {
				commits = append(commits, h)
			}
		}
	}
	return only(commits, digits)
}

func (r *localRepository) load(context.Context, target, bool) (objects, error) { return r.shelf, nil }

func (r *localRepository) need(context.Context, []file) (objects, error) { return r.shelf, nil }

func (r *localRepository) close() {}

// shelf is the objects of a repository and of those it borrows from, as a clone
// made with --shared or --reference does.
type shelf struct {
	objects
	more []objects
}

// maxBorrowed is how far one repository may borrow from the next.
const maxBorrowed = 5

// borrowed opens what a repository borrows from. What cannot be opened is
// passed over, for the objects may not be needed.
func borrowed(dir string, depth int) []objects {
	text, err := os.ReadFile(filepath.Join(dir, "objects", "info", "alternates"))
	if err != nil || depth == maxBorrowed {
		return nil
	}
	var all []objects
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		// The lines name folders of objects, which are inside repositories.
		from := filepath.Dir(below(filepath.Join(dir, "objects"), line))
		store, err := openStore(from)
		if err != nil {
			continue
		}
		all = append(append(all, store), borrowed(from, depth+1)...)
	}
	return all
}

// EncodedObject returns the object from wherever it is.
func (s shelf) EncodedObject(kind plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o, err := s.objects.EncodedObject(kind, h)
	for i := 0; err != nil && i < len(s.more); i++ {
		if found, e := s.more[i].EncodedObject(kind, h); e == nil {
			return found, nil
		}
	}
	return o, err
}

// EncodedObjectSize returns the size of the object wherever it is.
func (s shelf) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	n, err := s.objects.EncodedObjectSize(h)
	for i := 0; err != nil && i < len(s.more); i++ {
		if found, e := s.more[i].EncodedObjectSize(h); e == nil {
			return found, nil
		}
	}
	return n, err
}

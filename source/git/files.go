package git

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"example.dev/ingestor/internal/git/remote"
)

// Files returns what is committed at Ref as files, whatever their names, for callers
// that need more than definitions. If Ref is empty, page begins with it, as in the
// URL of a file's page: a branch, tag or commit, followed by a path. That path is
// returned, "." if it is empty; whether it exists is not checked. The files are an
// fs.ReadLinkFS that does not follow links itself, and is safe for concurrent use. A
// submodule is an irregular file. Path and Paths are ignored.
func (s *Source) Files(ctx context.Context, page string) (files fs.FS, at string, err error) {
	err = s.open(ctx, func(ctx context.Context, r *remote.Repository) error {
		t, rest, err := begins(r.Refs, s.opts.Ref, page)
		if err != nil {
			return err
		}
		if err := r.Fetch(ctx, t.want); err != nil {
			return err
		}
		commit, err := commitOf(r.Objects, t.want)
		if err != nil {
			return err
		}
		root, err := object.GetTree(r.Objects, commit.TreeHash)
		if err != nil {
			return unreadable(".", err)
		}
		files, at = &tree{in: r.Objects, root: root, when: commit.Committer.When}, cmp.Or(rest, ".")
		return nil
	})
	return files, at, err
}

// begins resolves the branch, tag or commit at the beginning of a page, and returns
// the path after it.
func begins(in storer.ReferenceStorer, ref, page string) (target, string, error) {
	page = strings.Trim(page, "/")
	if ref != "" || page == "" {
		t, err := resolve(in, ref)
		return t, page, err
	}
	parts := strings.Split(page, "/")
	const most = 20
	for n := min(len(parts), most); n > 0; n-- {
		if t, err := resolve(in, strings.Join(parts[:n], "/")); err == nil {
			return t, strings.Join(parts[n:], "/"), nil
		}
	}
	t, err := resolve(in, parts[0])
	return t, "", err
}

// tree is a file system of a committed tree.
type tree struct {
	in   objects
	when time.Time
	mu   sync.Mutex
	root *object.Tree
}

var _ fs.ReadLinkFS = (*tree)(nil)

// find returns the entry at a path, without following links.
func (t *tree) find(op, name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return &entry{tree: t, name: name, mode: filemode.Dir, hash: t.root.Hash}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.root.FindEntry(name)
	if err != nil {
		if errors.Is(err, object.ErrEntryNotFound) || errors.Is(err, object.ErrDirectoryNotFound) || errors.Is(err, plumbing.ErrObjectNotFound) {
			err = fs.ErrNotExist
		}
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	found := &entry{tree: t, name: e.Name, mode: e.Mode, hash: e.Hash}
	if found.Mode().IsRegular() {
		if found.size, err = t.in.EncodedObjectSize(e.Hash); err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return found, nil
}

// Open opens a file or folder.
func (t *tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		return &folder{entry: e}, nil
	}
	if !e.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o, err := t.in.EncodedObject(plumbing.BlobObject, e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	r, err := o.Reader()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{ReadCloser: r, entry: e}, nil
}

// Lstat returns the info of the entry at a path.
func (t *tree) Lstat(name string) (fs.FileInfo, error) { return t.find("lstat", name) }

// ReadLink returns the target of a link.
func (t *tree) ReadLink(name string) (string, error) {
	e, err := t.find("readlink", name)
	if err != nil {
		return "", err
	}
	if e.mode != filemode.Symlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if size, err := t.in.EncodedObjectSize(e.hash); err != nil || size > maxLinkText {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: cmp.Or(err, fs.ErrInvalid)}
	}
	to, err := content(t.in, e.hash)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(to), nil
}

// entry is a file, a folder or a link. It is its own fs.FileInfo.
type entry struct {
	tree *tree
	name string
	mode filemode.FileMode
	hash plumbing.Hash
	size int64
}

func (e *entry) Name() string       { return path.Base(e.name) }
func (e *entry) Size() int64        { return e.size }
func (e *entry) ModTime() time.Time { return e.tree.when }
func (e *entry) IsDir() bool        { return e.mode == filemode.Dir }
func (e *entry) Sys() any           { return nil }

func (e *entry) Mode() fs.FileMode {
	switch e.mode {
	case filemode.Dir:
		return fs.ModeDir | 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Executable:
		return 0o755
	case filemode.Regular, filemode.Deprecated:
		return 0o644
	}
	return fs.ModeIrregular
}

// file is an open file.
type file struct {
	io.ReadCloser
	entry *entry
}

func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }

// folder is an open folder.
type folder struct {
	entry *entry
	left  []fs.DirEntry
	read  bool
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *folder) Close() error               { return nil }

func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.entry.name, Err: errors.New("is a directory")}
}

// ReadDir lists the folder. Invalid file names are left out.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.read {
		in := f.entry.tree
		in.mu.Lock()
		defer in.mu.Unlock()
		t, err := object.GetTree(in.in, f.entry.hash)
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: f.entry.name, Err: err}
		}
		for _, e := range t.Entries {
			if e.Name == "" || e.Name == "." || !fs.ValidPath(e.Name) || strings.Contains(e.Name, "/") {
				continue
			}
			there := &entry{tree: in, name: e.Name, mode: e.Mode, hash: e.Hash}
			if there.Mode().IsRegular() {
				there.size, _ = in.in.EncodedObjectSize(e.Hash)
			}
			f.left = append(f.left, fs.FileInfoToDirEntry(there))
		}
		slices.SortFunc(f.left, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		f.read = true
	}
	if n <= 0 {
		all := f.left
		f.left = nil
		return all, nil
	}
	if len(f.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.left))
	some := f.left[:n]
	f.left = f.left[n:]
	return some, nil
}

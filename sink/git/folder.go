package git

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"

	"example.dev/ingestor/internal/git/remote"
)

// folder is a folder of a commit that is being changed. Its entries are read
// lazily.
type folder struct {
	in   storer.EncodedObjectStorer
	out  *memory.Storage
	path string

	was     plumbing.Hash
	read    bool
	entries map[string]object.TreeEntry
	// below are the subfolders that were opened.
	below map[string]*folder
}

// openFolder returns the root folder with the given tree hash; a new one if the
// hash is zero. New objects are stored in out.
func openFolder(in storer.EncodedObjectStorer, out *memory.Storage, tree plumbing.Hash) *folder {
	return &folder{in: in, out: out, was: tree, entries: map[string]object.TreeEntry{}, below: map[string]*folder{}}
}

// load reads the entries of the folder.
func (f *folder) load() error {
	if f.read || f.was.IsZero() {
		return nil
	}
	f.read = true
	t, err := object.GetTree(f.in, f.was)
	if err != nil {
		return fmt.Errorf("cannot read folder %q: %w", shownPath(f.path), err)
	}
	for _, e := range t.Entries {
		f.entries[e.Name] = e
	}
	return nil
}

// sub returns the subfolder of a name, a new one if there is none.
func (f *folder) sub(name string) (*folder, error) {
	if d, ok := f.below[name]; ok {
		return d, nil
	}
	if err := f.load(); err != nil {
		return nil, err
	}
	e, ok := f.entries[name]
	if ok && e.Mode != filemode.Dir {
		return nil, f.inTheWay(name, e.Mode, "a folder")
	}
	d := openFolder(f.in, f.out, e.Hash)
	d.path = path.Join(f.path, name)
	f.below[name] = d
	return d, nil
}

// at returns the folder at a path relative to this one. It does not follow links,
// so that the path cannot escape.
func (f *folder) at(names string) (*folder, error) {
	if names == "" || names == "." {
		return f, nil
	}
	d := f
	for name := range strings.SplitSeq(names, "/") {
		var err error
		if d, err = d.sub(name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// file returns the entry of a file at a path below this folder, and whether it
// exists.
func (f *folder) file(name string) (in *folder, e object.TreeEntry, ok bool, err error) {
	if in, err = f.at(path.Dir(name)); err != nil {
		return nil, e, false, err
	}
	if err := in.load(); err != nil {
		return nil, e, false, err
	}
	base := path.Base(name)
	if _, made := in.below[base]; made {
		return nil, e, false, in.inTheWay(base, filemode.Dir, "a file")
	}
	e, ok = in.entries[base]
	return in, e, ok, nil
}

// inTheWay returns an error for an existing entry of another type.
func (f *folder) inTheWay(name string, mode filemode.FileMode, want string) error {
	is := map[filemode.FileMode]string{
		filemode.Dir: "a folder", filemode.Symlink: "a link", filemode.Submodule: "a submodule",
	}[mode]
	if is == "" {
		is = "a file"
	}
	return remote.Wrong("move it, or choose another path", "%q is %s in the repository, not %s", shownPath(path.Join(f.path, name)), is, want)
}

// put writes a file to the folder.
func (f *folder) put(name string, mode filemode.FileMode, hash plumbing.Hash, data []byte) error {
	o := f.out.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if _, err := f.out.SetEncodedObject(o); err != nil {
		return err
	}
	f.entries[name] = object.TreeEntry{Name: name, Mode: mode, Hash: hash}
	return nil
}

// content returns the content of a file of at most most bytes.
func (f *folder) content(h plumbing.Hash, most int64) ([]byte, error) {
	o, err := f.in.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return nil, err
	}
	if o.Size() > most {
		return nil, errors.New("too large")
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // It was only read.
	return io.ReadAll(io.LimitReader(r, most))
}

// write writes the folder and its subfolders, and returns its hash, which is the
// old one if nothing changed. Empty folders are omitted.
func (f *folder) write() (plumbing.Hash, error) {
	for name, d := range f.below {
		h, err := d.write()
		if err != nil {
			return h, err
		}
		delete(f.entries, name)
		if len(d.entries) == 0 && (d.read || d.was.IsZero()) {
			continue
		}
		f.entries[name] = object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: h}
	}
	if !f.read && !f.was.IsZero() {
		return f.was, nil
	}
	t := &object.Tree{}
	for _, e := range f.entries {
		t.Entries = append(t.Entries, e)
	}
	slices.SortFunc(t.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortable(a), sortable(b)) })
	mem := &plumbing.MemoryObject{}
	if err := t.Encode(mem); err != nil {
		return plumbing.ZeroHash, err
	}
	if mem.Hash() == f.was {
		return f.was, nil
	}
	return store(f.out, t)
}

// sortable returns the key by which Git sorts entries.
func sortable(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// store adds an object to the new objects.
func store(in *memory.Storage, o object.Object) (plumbing.Hash, error) {
	e := in.NewEncodedObject()
	if err := o.Encode(e); err != nil {
		return plumbing.ZeroHash, err
	}
	return in.SetEncodedObject(e)
}

// folderName returns the path of a folder in a repository, "" for the root.
func folderName(given string) (string, error) {
	name := path.Clean("/" + strings.Trim(given, "/"))[1:]
	if name == "" && !strings.Contains(given, "..") {
		return "", nil
	}
	if strings.Trim(given, "/") != name && strings.Trim(strings.TrimPrefix(given, "./"), "/") != name {
		return "", badPath(given)
	}
	return name, checkPath(name)
}

// checkPath returns an error unless a path is relative, does not escape and is
// valid on every system and for every Git version.
func checkPath(name string) error {
	if name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, `\:`) || strings.ContainsFunc(name, unicode.IsControl) {
		return badPath(name)
	}
	// Some systems ignore format characters in names.
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	for part := range strings.SplitSeq(seen, "/") {
		low := strings.ToLower(strings.TrimRight(part, ". "))
		if low == "" || low == ".git" || low == "git~1" {
			return badPath(name)
		}
	}
	return nil
}

func badPath(name string) error {
	return remote.Wrong("write a path from the root of the repository, with slashes, and without .. and .git", "%q is not a valid path in a repository", name)
}

// shownPath returns a path for messages, as valid UTF-8.
func shownPath(p string) string { return strings.ToValidUTF8(p, string(utf8.RuneError)) }

package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// commitOf returns the commit that a hash leads to, through annotated tags.
func commitOf(in objects, h plumbing.Hash) (*object.Commit, error) {
	for range 10 {
		tag, err := object.GetTag(in, h)
		if err != nil {
			break
		}
		h = tag.Target
	}
	c, err := object.GetCommit(in, h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, wrong("name a branch, a tag or a commit", "%s is no commit, or is not there", h)
	}
	return c, err
}

// file is a file to read.
type file struct {
	path string
	hash plumbing.Hash
}

// node is a file, a folder or a link in the tree. Links may lead to it by
// another path, by which it is then known.
type node struct {
	path, real string
	hash       plumbing.Hash
	mode       filemode.FileMode
}

// walker collects the files to read.
type walker struct {
	ctx   context.Context
	in    objects
	root  plumbing.Hash
	opts  Options
	files []file
	links []node
	// seen are the files and folders there have been, by real path.
	seen map[string]bool
	// met counts all entries, as a small tree can show the same folder under
	// very many paths.
	met int
}

const (
	maxDepth = 500
	maxLinks = 40
	// perFile is how many entries may be met for each file that may be read.
	perFile = 10
)

// find lists the files at a path below root.
func find(ctx context.Context, in objects, root plumbing.Hash, opts Options) ([]file, error) {
	w := &walker{ctx: ctx, in: in, root: root, opts: opts, seen: map[string]bool{}}
	at := strings.Trim(opts.Path, "/")
	n, err := w.lookup(at)
	if err != nil {
		return nil, w.notThere(err)
	}
	n.path = path.Clean(at)
	if n.mode == filemode.Submodule {
		return nil, wrong("read its repository as a source of its own", "%q is a submodule", opts.Path)
	}
	if n.mode != filemode.Dir {
		return []file{{n.path, n.hash}}, nil
	}
	if err := w.folder(n, 0); err != nil {
		return nil, err
	}
	// Links come last, so that what is reachable with and without them is known
	// by its own path.
	for len(w.links) > 0 {
		l := w.links[0]
		w.links = w.links[1:]
		if err := w.follow(l); err != nil {
			return nil, err
		}
	}
	if len(w.files) == 0 {
		w.skip(n.path, "it holds no .yaml, .yml or .json file")
	}
	return w.files, nil
}

func (w *walker) skip(path, why string) {
	if w.opts.Skipped != nil {
		w.opts.Skipped(readablePath(path), why)
	}
}

// These are where a path may lead.
var (
	errNowhere = errors.New("it leads nowhere")
	errOut     = errors.New("it leads out of the repository")
	errRound   = errors.New("it leads in circles")
	errModule  = errors.New("it leads into a submodule")
)

// notThere explains why Options.Path was not found, and what is there instead.
func (w *walker) notThere(err error) error {
	switch {
	case errors.Is(err, errOut):
		return wrong("write it from the top of the repository", "the path %q leads out of it", w.opts.Path)
	case !errors.Is(err, errNowhere) && !errors.Is(err, errRound) && !errors.Is(err, errModule):
		return err
	}
	hint := "the path is from the top of the repository"
	if t, e := object.GetTree(w.in, w.root); e == nil && len(t.Entries) > 0 {
		var names []string
		for _, e := range t.Entries[:min(len(t.Entries), shownRefs)] {
			names = append(names, readablePath(e.Name))
		}
		hint += ", where there are " + strings.Join(names, ", ")
	}
	return wrong(hint, "it has no file or folder %q", w.opts.Path)
}

// lookup finds what a path from the root leads to, through links.
func (w *walker) lookup(at string) (node, error) {
	way := []node{{real: "", hash: w.root, mode: filemode.Dir}}
	todo := strings.Split(at, "/")
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		here := way[len(way)-1]
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && len(way) == 1:
			return node{}, errOut
		case name == "..":
			way = way[:len(way)-1]
			continue
		case here.mode == filemode.Submodule:
			return node{}, errModule
		case here.mode != filemode.Dir:
			return node{}, errNowhere
		}
		next, err := w.child(here, name)
		if err != nil {
			return node{}, err
		}
		if next.mode != filemode.Symlink {
			way = append(way, next)
			continue
		}
		if links++; links > maxLinks {
			return node{}, errRound
		}
		to, err := w.text(next)
		if err != nil {
			return node{}, err
		}
		if strings.HasPrefix(to, "/") {
			return node{}, errOut
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	return way[len(way)-1], nil
}

// child returns an entry of a folder by its name.
func (w *walker) child(of node, name string) (node, error) {
	t, err := object.GetTree(w.in, of.hash)
	if err != nil {
		return node{}, unreadable(of.real, err)
	}
	for _, e := range t.Entries {
		if e.Name == name {
			return node{real: join(of.real, name), hash: e.Hash, mode: e.Mode}, nil
		}
	}
	return node{}, errNowhere
}

// text returns where a link leads.
func (w *walker) text(link node) (string, error) {
	blob, err := w.in.EncodedObject(plumbing.BlobObject, link.hash)
	// Nobody makes links this long, and long ones may not have been fetched.
	if errors.Is(err, plumbing.ErrObjectNotFound) || err == nil && blob.Size() > 1<<10 {
		return "", errNowhere
	}
	if err != nil {
		return "", unreadable(link.real, err)
	}
	to, err := content(blob)
	return string(to), err
}

// join adds a name to a path from the top.
func join(dir, name string) string {
	if dir == "" || dir == "." {
		return name
	}
	return dir + "/" + name
}

// folder takes what is in a folder and below.
func (w *walker) folder(n node, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.seen[n.real+"/"] {
		return nil
	}
	w.seen[n.real+"/"] = true
	if depth > maxDepth {
		return fmt.Errorf("the folder %q is too deep", readablePath(n.path))
	}
	t, err := object.GetTree(w.in, n.hash)
	if err != nil {
		return unreadable(n.path, err)
	}
	for _, e := range t.Entries {
		if w.met++; w.met > perFile*w.opts.MaxFiles {
			return w.tooMany()
		}
		if strings.HasPrefix(e.Name, ".") || strings.Contains(e.Name, "/") {
			continue
		}
		entry := node{path: join(n.path, e.Name), real: join(n.real, e.Name), hash: e.Hash, mode: e.Mode}
		if err := w.entry(entry, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(n node, depth int) error {
	switch {
	case n.mode == filemode.Dir:
		return w.folder(n, depth+1)
	case n.mode == filemode.Submodule:
		w.skip(n.path, "it is a submodule; read its repository as a source of its own")
	case n.mode == filemode.Symlink:
		w.links = append(w.links, n)
	case readable(n.path):
		return w.add(n)
	}
	return nil
}

func (w *walker) add(n node) error {
	if w.seen[n.real] {
		return nil
	}
	w.seen[n.real] = true
	if len(w.files) == w.opts.MaxFiles {
		return w.tooMany()
	}
	w.files = append(w.files, file{n.path, n.hash})
	return nil
}

func (w *walker) tooMany() error {
	return wrong("name the folder the definitions are in, or allow more", "it holds more than the %d files that are allowed", w.opts.MaxFiles)
}

// follow takes what a link leads to, as long as it stays in the repository.
func (w *walker) follow(l node) error {
	// A link is relative to where it is, not to the path it was found by.
	n, err := w.lookup(l.real)
	for _, way := range []error{errNowhere, errOut, errRound, errModule} {
		if errors.Is(err, way) {
			w.skip(l.path, "it is a link, and "+way.Error())
			return nil
		}
	}
	if err != nil {
		return err
	}
	n.path = l.path
	switch {
	case n.mode == filemode.Dir:
		return w.folder(n, strings.Count(l.path, "/"))
	case n.mode == filemode.Submodule:
		w.skip(l.path, "it is a link, and "+errModule.Error())
	case readable(l.path):
		return w.add(n)
	}
	return nil
}

// readable reports whether a name found in a folder is one to read.
func readable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// unreadable is an object that is missing or broken.
func unreadable(at string, err error) error {
	return wrong("the repository may be broken, or a clone that was made without all of it", "%q cannot be read: %w", readablePath(at), err)
}

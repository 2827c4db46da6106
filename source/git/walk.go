package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"example.dev/ingestor/internal/git/remote"
	"example.dev/ingestor/source"
)

// node is a file, a folder or a link in the tree. path is the path by which it was
// reached, possibly through links; real is its path without links.
type node struct {
	path, real string
	hash       plumbing.Hash
	mode       filemode.FileMode
}

// walker collects the files to read.
type walker struct {
	in                    objects
	root                  plumbing.Hash
	opts                  Options
	files, folders, links []node
	// seen are the nodes already added, by real path.
	seen map[string]bool
	// wants selects files by their paths.
	wants func(path string) bool
	// met counts all entries, since a small tree can contain the same folder under very
	// many paths.
	met int
}

const (
	maxDepth = 500
	maxLinks = 40
	// maxLinkText is more than operating systems allow for a link.
	maxLinkText = 4 << 10
	// perFile is how many entries may be visited for each file that may be read.
	perFile = 10
)

// errPath is the error for a path that leads to nothing that can be read.
var errPath = errors.New("path")

// errNoMatch is the error for a pattern without matches.
var errNoMatch = errors.New("no file matches the pattern")

// find lists the files at the paths below root.
func find(ctx context.Context, in objects, root plumbing.Hash, opts Options) ([]node, error) {
	w := &walker{in: in, root: root, opts: opts, seen: map[string]bool{}}
	paths := opts.Paths
	if len(paths) == 0 {
		paths = []string{opts.Path}
	}
	for _, p := range paths {
		if err := w.from(ctx, p); err != nil {
			return nil, err
		}
	}
	return w.files, nil
}

// from lists the files at a path, or those that match a pattern.
func (w *walker) from(ctx context.Context, given string) error {
	at := path.Clean(strings.Trim(given, "/"))
	w.wants = readable
	n, err := w.lookup(at)
	isPattern := errors.Is(err, errPath) && source.IsPattern(at)
	if isPattern {
		p, bad := source.ParsePattern(at)
		if bad != nil {
			return wrong("escape literal special characters with a backslash", "cannot read pattern %q: %w", given, bad)
		}
		at, w.wants = p.Folder(), chosenBy(p)
		n, err = w.lookup(at)
	}
	if errors.Is(err, errPath) && w.opts.Optional {
		w.skip(given, "does not exist")
		return nil
	}
	if errors.Is(err, errPath) {
		return w.notThere(given, err)
	}
	if err != nil {
		return err
	}
	n.path = at
	if n.mode != filemode.Dir {
		if !w.seen[n.real] {
			w.seen[n.real] = true
			w.files = append(w.files, n)
		}
		return nil
	}
	before := len(w.files)
	w.folders = []node{n}
	for err == nil && len(w.folders)+len(w.links) > 0 {
		if err = ctx.Err(); err == nil {
			err = w.next()
		}
	}
	switch {
	case err != nil || len(w.files) > before:
	case isPattern:
		return w.notThere(given, errNoMatch)
	default:
		w.skip(n.path, "no .yaml, .yml or .json file")
	}
	return err
}

// readable reports whether a file in a folder is one to read.
func readable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// chosenBy returns a function that selects the files that match a pattern, and those
// in folders that match it.
func chosenBy(p source.Pattern) func(name string) bool {
	return func(name string) bool {
		if p.Match(name) {
			return !p.AnyName() || readable(name)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if p.Match(dir) {
				return readable(name)
			}
		}
		return false
	}
}

// notThere explains why a path was not found, and lists what exists instead.
func (w *walker) notThere(given string, err error) error {
	hint := "write the path from the root of the repository"
	if t, e := object.GetTree(w.in, w.root); e == nil {
		var names []string
		for _, e := range t.Entries[:min(len(t.Entries), remote.Most)] {
			names = append(names, readablePath(e.Name))
		}
		hint += ", which has " + strings.Join(names, ", ")
	}
	return wrong(hint, "cannot read path %q: %w", given, err)
}

func (w *walker) skip(path, why string) {
	if w.opts.Skipped != nil {
		w.opts.Skipped(readablePath(path), why)
	}
}

// next reads the next folder. Links come last, so that a file that is reachable with
// and without them has its own path.
func (w *walker) next() error {
	if len(w.folders) == 0 {
		link := w.links[0]
		w.links = w.links[1:]
		n, err := w.lookup(link.real)
		if errors.Is(err, errPath) {
			w.skip(link.path, "cannot follow link: "+err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		n.path = link.path
		return w.add(n)
	}
	n := w.folders[0]
	w.folders = w.folders[1:]
	t, err := object.GetTree(w.in, n.hash)
	if err != nil {
		return unreadable(n.path, err)
	}
	for _, e := range t.Entries {
		if strings.HasPrefix(e.Name, ".") || strings.Contains(e.Name, "/") {
			continue
		}
		if err := w.add(node{path.Join(n.path, e.Name), path.Join(n.real, e.Name), e.Hash, e.Mode}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a node, unless its real path was already seen.
func (w *walker) add(n node) error {
	w.met++
	switch {
	case w.seen[n.real]:
		return nil
	case n.mode == filemode.Dir && strings.Count(n.path, "/") > maxDepth:
		return fmt.Errorf("folder %q is nested too deeply", readablePath(n.path))
	case n.mode == filemode.Dir:
		w.folders = append(w.folders, n)
	case n.mode == filemode.Symlink:
		w.links = append(w.links, n)
	case n.mode == filemode.Submodule:
		w.skip(n.path, "is a submodule; add its repository as a separate source")
	case w.wants(n.path):
		w.files = append(w.files, n)
	default:
		return w.bounds()
	}
	w.seen[n.real] = true
	return w.bounds()
}

func (w *walker) bounds() error {
	if len(w.files) > w.opts.MaxFiles || w.met > perFile*w.opts.MaxFiles {
		return wrong(tooMuch, "more than %d files", w.opts.MaxFiles)
	}
	return nil
}

// lookup resolves a path from the root, through links.
func (w *walker) lookup(at string) (node, error) {
	for range maxLinks {
		if path.IsAbs(at) || at == ".." || strings.HasPrefix(at, "../") {
			return node{}, fmt.Errorf("%w is outside the repository", errPath)
		}
		n, rest, err := w.descend(at)
		if err != nil || n.mode != filemode.Symlink {
			return n, err
		}
		if size, err := w.in.EncodedObjectSize(n.hash); err == nil && size > maxLinkText {
			return n, fmt.Errorf("%w does not exist", errPath)
		}
		to, err := content(w.in, n.hash)
		if err != nil {
			return n, unreadable(n.real, err)
		}
		if at = string(to); !path.IsAbs(at) {
			at = path.Join(path.Dir(n.real), at, rest)
		}
	}
	return node{}, fmt.Errorf("%w has a loop of links", errPath)
}

// descend follows a path from the root to its end, or to the first link in it, and
// returns the rest of the path.
func (w *walker) descend(at string) (n node, rest string, err error) {
	n, rest = node{real: ".", hash: w.root, mode: filemode.Dir}, at
	for rest != "" && rest != "." && n.mode == filemode.Dir {
		t, err := object.GetTree(w.in, n.hash)
		if err != nil {
			return n, "", unreadable(n.real, err)
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		i := slices.IndexFunc(t.Entries, func(e object.TreeEntry) bool { return e.Name == name })
		if i < 0 {
			return n, "", fmt.Errorf("%w does not exist", errPath)
		}
		n = node{real: path.Join(n.real, name), hash: t.Entries[i].Hash, mode: t.Entries[i].Mode}
	}
	switch {
	case n.mode == filemode.Submodule:
		return n, "", fmt.Errorf("%w is in a submodule; add its repository as a separate source", errPath)
	case n.mode != filemode.Symlink && n.mode != filemode.Dir && rest != "":
		return n, "", fmt.Errorf("%w does not exist", errPath)
	}
	return n, rest, nil
}

package location

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// isPattern reports whether a path has patterns in it.
func isPattern(p string) bool { return strings.ContainsAny(p, "*?[") }

// Folder returns the folder of a path before the first pattern in it, which is what
// a location that the operator wrote may read.
func Folder(p string) string {
	dir := path.Dir(p)
	for isPattern(dir) {
		dir = path.Dir(dir)
	}
	return dir
}

// globber finds the files of a tree that match a pattern. Names that begin
// with a dot match only patterns that do.
type globber struct {
	ctx     context.Context
	fsys    fs.FS
	entries int
	found   map[string]bool
}

var errPattern = errors.New("the pattern is not well formed")

// glob returns the files below fsys that match, in order.
func glob(ctx context.Context, fsys fs.FS, pattern string) ([]string, error) {
	segments := strings.Split(pattern, "/")
	for _, s := range segments {
		if _, err := path.Match(s, ""); err != nil {
			return nil, errPattern
		}
	}
	g := globber{ctx: ctx, fsys: fsys, found: map[string]bool{}}
	if err := g.walk(".", segments); err != nil {
		return nil, err
	}
	files := make([]string, 0, len(g.found))
	for f := range g.found {
		files = append(files, f)
	}
	slices.Sort(files)
	return files, nil
}

// walk looks for what matches the segments below dir.
func (g *globber) walk(dir string, segments []string) error {
	segment, rest := segments[0], segments[1:]
	if segment == "**" && len(rest) == 0 {
		// Everything below, at any depth.
		rest = []string{"*"}
	}
	if segment == "**" {
		if err := g.walk(dir, rest); err != nil {
			return err
		}
	}
	if !isPattern(segment) && segment != "**" {
		return g.step(path.Join(dir, segment), rest)
	}
	entries, err := g.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(segment, ".")
		if segment == "**" {
			// Links to folders are not followed here: they may go in circles.
			if e.IsDir() && !hidden {
				if err := g.walk(path.Join(dir, name), segments); err != nil {
					return err
				}
			}
			continue
		}
		if ok, _ := path.Match(segment, name); ok && !hidden {
			if err := g.step(path.Join(dir, name), rest); err != nil {
				return err
			}
		}
	}
	return nil
}

// step takes what matched: a file if nothing is left of the pattern, else a
// folder to look into.
func (g *globber) step(name string, rest []string) error {
	if len(rest) > 0 {
		return g.walk(name, rest)
	}
	info, err := fs.Stat(g.fsys, name)
	if err != nil {
		return g.serious(name, err)
	}
	if !info.Mode().IsRegular() || g.found[name] {
		return nil
	}
	if len(g.found) == maxFiles {
		return fmt.Errorf("the pattern matches more than %d files", maxFiles)
	}
	g.found[name] = true
	return nil
}

func (g *globber) read(dir string) ([]fs.DirEntry, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(g.fsys, dir)
	if err != nil {
		return nil, g.serious(dir, err)
	}
	// A folder counts itself: a pattern can come to an empty one many times.
	if g.entries += 1 + len(entries); g.entries > maxEntries {
		return nil, fmt.Errorf("there are more than %d files to look at for the pattern", maxEntries)
	}
	return entries, nil
}

// serious returns the error unless it says that there is nothing that could
// match: what is not there, no folder, or behind a link that leads out or
// nowhere. Anything else may hide files, and nobody must take them for gone.
func (g *globber) serious(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	for at := name; at != "."; at = path.Dir(at) {
		if info, err := fs.Lstat(g.fsys, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
	}
	return err
}

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

// isPattern reports whether a path contains patterns.
func isPattern(p string) bool { return strings.ContainsAny(p, "*?[") }

// Folder returns the folder of a path before its first pattern, which is what a
// configured location may read.
func Folder(p string) string {
	dir := path.Dir(p)
	for isPattern(dir) {
		dir = path.Dir(dir)
	}
	return dir
}

// globber finds the files of a tree that match a pattern. Names that begin with a dot
// match only patterns that do.
type globber struct {
	ctx     context.Context
	fsys    fs.FS
	entries int
	found   map[string]bool
}

var errPattern = errors.New("malformed pattern")

// glob returns the files below fsys that match, sorted.
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

// walk finds the matches of the segments below dir.
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
			// Links to folders are not followed here, because they may form cycles.
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

// step processes a match: a file if the pattern is used up, else a folder to search.
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
	// A folder counts itself, because a pattern can visit an empty one many times.
	if g.entries += 1 + len(entries); g.entries > maxEntries {
		return nil, fmt.Errorf("the pattern requires a search of more than %d files", maxEntries)
	}
	return entries, nil
}

// serious returns the error unless it means that nothing can match: the path does not
// exist, is not a folder, or is below a link that is broken or escapes. Any other error
// may hide files, which must not be considered removed.
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

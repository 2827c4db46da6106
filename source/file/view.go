package file

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// view is everything that determines what Read would read. All paths except those of
// files are absolute, and have no links in them.
type view struct {
	// files are those that Read would read, by the paths it gives them, and ends their
	// resolved paths.
	files map[string]stamp
	ends  map[string]bool
	// dirs are directories all of whose entries matter, because Read would read them.
	dirs map[string]bool
	// names are single entries of directories that matter: those on the path to what was
	// named, and links.
	names map[string]bool
	// known are the resolved paths of directories.
	known map[string]string
}

// survey returns the current view.
func (s *Source) survey(ctx context.Context) *view {
	found := s.find(ctx)
	v := &view{
		files: found.infos, ends: map[string]bool{}, dirs: map[string]bool{},
		names: map[string]bool{}, known: map[string]string{},
	}
	for _, p := range s.paths {
		v.trace(p)
	}
	for _, d := range found.dirs {
		if end := v.trace(d); end != "" {
			v.dirs[end] = true
		}
	}
	for _, f := range found.files {
		if end := v.traceFile(f); end != "" {
			v.ends[end] = true
		}
	}
	return v
}

// traceFile is trace for one of many files in a directory.
func (v *view) traceFile(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return v.trace(path)
	}
	dir, ok := v.known[filepath.Dir(path)]
	if !ok {
		dir = v.trace(filepath.Dir(path))
		v.known[filepath.Dir(path)] = dir
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Base(path))
}

// maxLinks is the maximum number of links on the path to a file.
const maxLinks = 255

// trace resolves a path through links, records the entries that determine where it
// leads, and returns the resolved path, or "" if it leads nowhere. For a missing
// entry, its directory is watched.
func (v *view) trace(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	at, todo := root(abs)
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			v.names[next] = true
			return ""
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		v.names[next] = true
		to, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return ""
		}
		rest := strings.Split(filepath.ToSlash(to), "/")
		if filepath.IsAbs(to) {
			at, rest = root(to)
		}
		todo = append(rest, todo...)
	}
	v.names[at] = true
	return at
}

// root splits an absolute path into its root and the names below.
func root(path string) (first string, names []string) {
	first = filepath.VolumeName(path) + string(filepath.Separator)
	return first, strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
}

// folders returns the directories to watch.
func (v *view) folders() map[string]bool {
	all := map[string]bool{}
	for d := range v.dirs {
		all[d] = true
	}
	for n := range v.names {
		all[filepath.Dir(n)] = true
	}
	for e := range v.ends {
		all[filepath.Dir(e)] = true
	}
	return all
}

// judge reports whether an event at path may matter, and whether the file there was
// written.
func (v *view) judge(path string, op fsnotify.Op, recursive bool) (look, written bool) {
	if op&^fsnotify.Chmod == 0 {
		return false, false
	}
	written = op.Has(fsnotify.Create) || op.Has(fsnotify.Write)
	if v.names[path] || v.ends[path] || v.dirs[path] {
		return true, written
	}
	name := filepath.Base(path)
	if !v.dirs[filepath.Dir(path)] || strings.HasPrefix(name, ".") {
		return false, false
	}
	if readable(name) {
		return true, written
	}
	// It may be a directory, or a link to one.
	return recursive && op&^(fsnotify.Chmod|fsnotify.Write) != 0, false
}

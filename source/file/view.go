package file

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// view is what decides what Read would read. All paths but those of files are
// absolute, and have no links on the way.
type view struct {
	// files are those that Read would read, by the paths it gives them, and
	// ends where these lead to.
	files map[string]stamp
	ends  map[string]bool
	// dirs are folders of which all entries matter that Read would look at.
	dirs map[string]bool
	// names are single entries of folders that matter: those on the way to
	// what was named, and links.
	names map[string]bool
	// known is where folders lead to.
	known map[string]string
}

// survey finds out what there is.
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

// traceFile is trace for one of many files in a folder.
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

// maxLinks is how many links may be on the way to a file.
const maxLinks = 255

// trace goes along a path, through links, notes the entries that decide where
// it leads to, and returns where that is, or "" if it leads nowhere. Of an entry
// that is missing it is the folder that is watched.
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

// root splits an absolute path into its first folder and the names below.
func root(path string) (first string, names []string) {
	first = filepath.VolumeName(path) + string(filepath.Separator)
	return first, strings.Split(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/")
}

// folders are those to watch.
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

// judge reports whether it is worth a look that something happened at path,
// and whether the file there was written.
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
	// It may be a folder, or a link to one.
	return recursive && op&^(fsnotify.Chmod|fsnotify.Write) != 0, false
}

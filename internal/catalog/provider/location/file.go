package location

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

const maxPath = 4096

// checkPath returns a problem if a file location has a path that cannot be read. It
// must be absolute, because there is no working directory to resolve it against.
func checkPath(target string) *Problem {
	switch {
	case len(target) > maxPath || strings.ContainsRune(target, 0):
		return problemf(nameInput, "Unable to read file, the path has more than %d characters or contains NUL", maxPath)
	case !filepath.IsAbs(filepath.FromSlash(target)):
		return problemf(nameInput, "Unable to read file, the path %q is not absolute", clip(target))
	}
	return nil
}

// scope is a list of folders below which files may be read.
type scope []string

// scopeOf returns the folders for a location: the configured ones, and its own if it is
// in the configuration.
func (r *Reader) scopeOf(t Target) scope {
	var s scope
	for _, root := range r.opts.Config.Roots {
		s = append(s, path.Clean(filepath.ToSlash(root)))
	}
	if t.Static && t.Type == TypeFile {
		s = append(s, Folder(path.Clean(filepath.ToSlash(t.Target))))
	}
	return s
}

// find returns the innermost folder that contains the path, and the path relative to
// it.
func (s scope) find(p string) (root, below string, ok bool) {
	for _, dir := range s {
		rest, in := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
		if in && (!ok || len(dir) > len(root)) {
			root, below, ok = dir, rest, true
		}
	}
	return root, below, ok
}

// found is the list of files that a path matches.
type found struct {
	root *os.Root
	dir  string
	// names are relative to dir.
	names []string
}

func (f *found) close() { _ = f.root.Close() } // Opened for reading only.

// path returns the full path of one of the names.
func (f *found) path(name string) string { return path.Join(f.dir, name) }

// open returns the files that a path matches, which may contain patterns. All access is
// through an os.Root, so that no link can escape from the folder.
func (s scope) open(ctx context.Context, target string) (*found, *Problem) {
	if p := checkPath(target); p != nil {
		return nil, p
	}
	clean := path.Clean(filepath.ToSlash(target))
	dir, below, ok := s.find(clean)
	if !ok {
		return nil, problemf(nameNotAllowed,
			"Unable to read file, reading '%s' is not allowed; add a folder above it to backend.reading.roots", clip(target))
	}
	root, err := os.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil, fileProblem(target, err)
	}
	f := &found{root: root, dir: dir, names: []string{below}}
	if _, err := root.Lstat(below); err == nil || !isPattern(below) {
		return f, nil
	}
	f.names, err = glob(ctx, root.FS(), below)
	if err == nil && len(f.names) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.close()
		return nil, fileProblem(target, err)
	}
	return f, nil
}

// read reads one of the files.
func (f *found) read(name string, most int64) ([]byte, *Problem) {
	data, err := f.readAll(name, most)
	if err != nil {
		return nil, fileProblem(f.path(name), err)
	}
	return data, nil
}

func (f *found) readAll(name string, most int64) ([]byte, error) {
	// A plain open would block on a pipe without a writer.
	in, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // Opened for reading only.
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a folder, not a file; add a pattern such as /*.yaml")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is a device or a pipe, not a file")
	}
	return readAll(in, most)
}

func fileProblem(target string, err error) *Problem {
	if errors.Is(err, fs.ErrNotExist) {
		return problemf(nameNotFound, "file %s does not exist", clip(target))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	// The standard library does not export the error.
	if strings.Contains(err.Error(), "path escapes from parent") {
		return problemf(nameNotAllowed, "Unable to read file, %s is a link that escapes from the folders of backend.reading.roots", clip(target))
	}
	return problemf(nameOther, "Unable to read file, %s: %v", clip(target), err)
}

// sum returns the hash of the names and contents of the files.
func (f *found) sum(ctx context.Context, most int64) ([sha256.Size]byte, error) {
	h := sha256.New()
	var total int64
	for _, name := range f.names {
		if err := ctx.Err(); err != nil {
			return [sha256.Size]byte{}, err
		}
		data, err := f.readAll(name, most)
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		if total += int64(len(data)); total > maxTotal {
			return [sha256.Size]byte{}, fmt.Errorf("more than %d bytes", maxTotal)
		}
		sumFile(h, name, data)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// sumFile adds a file to a hash. The lengths separate the name from the content.
func sumFile(h interface{ Write([]byte) (int, error) }, name string, data []byte) {
	head := binary.BigEndian.AppendUint64(nil, uint64(len(name)))
	head = binary.BigEndian.AppendUint64(head, uint64(len(data)))
	_, _ = h.Write(append(head, name...)) // A hash does not fail.
	_, _ = h.Write(data)
}

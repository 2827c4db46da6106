package action

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Workspace is the private folder of a task. No path escapes it, neither by dots
// nor by links. It may be used concurrently.
type Workspace struct {
	root *os.Root

	mu sync.Mutex
	// room is the number of bytes that may still be written, if limited is set.
	room    int64
	limited bool
}

// OpenWorkspace opens the folder, which must exist.
func OpenWorkspace(dir string) (*Workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			// Do not reveal the path of the workspace.
			err = e.Err
		}
		return nil, fmt.Errorf("cannot open the workspace: %w", err)
	}
	return &Workspace{root: root}, nil
}

// Limit limits the bytes written from now on. Overwriting a file frees its old
// size; removing a file frees nothing.
func (w *Workspace) Limit(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room, w.limited = bytes, true
}

// errFull is the error of a write that exceeds the limit.
var errFull = errors.New("the files of the task exceed the size limit; write fewer files, or use several tasks")

// take reserves room for a file.
func (w *Workspace) take(at string, size int64) error {
	// Small and empty files take up room too.
	const block = 4 << 10
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.limited {
		return nil
	}
	size = max(size, block)
	if was, err := w.root.Stat(at); err == nil && was.Mode().IsRegular() {
		size -= max(was.Size(), block)
	}
	if size > w.room {
		return errFull
	}
	w.room -= size
	return nil
}

// Close closes the workspace; the folder remains.
func (w *Workspace) Close() error { return w.root.Close() }

// FS returns the folder for reading.
func (w *Workspace) FS() fs.FS { return w.root.FS() }

// Write writes a file and creates its parent folders.
func (w *Workspace) Write(name string, data []byte) error {
	at, err := inside(name)
	if err != nil {
		return err
	}
	if err := w.take(at, int64(len(data))); err != nil {
		return wrong("write", name, err)
	}
	if err := w.root.MkdirAll(path.Dir(at), 0o750); err != nil {
		return wrong("write", name, err)
	}
	return wrong("write", name, w.root.WriteFile(at, data, 0o600))
}

// WriteFile writes a file as Write does, and makes it executable or not.
func (w *Workspace) WriteFile(name string, data []byte, executable bool) error {
	if err := w.Write(name, data); err != nil {
		return err
	}
	at, err := inside(name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	return wrong("write", name, w.root.Chmod(at, mode))
}

// Remove removes a file, or a folder with its contents. A missing file is not an
// error.
func (w *Workspace) Remove(name string) error {
	at, err := inside(name)
	if err != nil {
		return err
	}
	if at == "." {
		return fmt.Errorf("cannot remove %q: is the workspace itself", name)
	}
	return wrong("remove", name, w.root.RemoveAll(at))
}

// Rename renames a file or folder. Without overwrite it fails if the new name
// exists.
func (w *Workspace) Rename(from, to string, overwrite bool) error {
	at, err := inside(from)
	if err != nil {
		return err
	}
	there, err := inside(to)
	if err != nil {
		return err
	}
	switch _, err := w.root.Lstat(there); {
	case err == nil && !overwrite:
		return fmt.Errorf("cannot rename %q to %q: target already exists", from, to)
	case err == nil:
		if err := w.Remove(to); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return wrong("rename", from, err)
	}
	if err := w.root.MkdirAll(path.Dir(there), 0o750); err != nil {
		return wrong("rename", from, err)
	}
	return wrong("rename", from, w.root.Rename(at, there))
}

// inside returns the clean path of a name, or an error if the path escapes the
// workspace.
func inside(name string) (string, error) {
	at := path.Clean(filepath.ToSlash(name))
	if name == "" || !filepath.IsLocal(at) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("cannot use path %q: outside the workspace", name)
	}
	return at, nil
}

// wrong returns the error of a failed operation, without the path of the
// workspace.
func wrong(verb, name string, err error) error {
	if err == nil {
		return nil
	}
	for {
		e, ok := errors.AsType[*fs.PathError](err)
		if !ok {
			break
		}
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot %s %q: %w", verb, name, err)
}

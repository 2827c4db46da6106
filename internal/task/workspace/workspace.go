// Package workspace keeps the folders of tasks: one for each that runs here,
// gone when it ends, with a copy of what is in it for whoever takes the task
// over on another machine.
package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The names of what lies in the folder that several processes share.
const (
	prefix   = "process-"
	lockName = ".lock"
)

// Root is the folder that a process has for the folders of its tasks.
type Root struct {
	dir  string
	lock *os.File
}

// Open makes a folder in dir, which is made as well. What processes left there
// that are gone is removed.
func Open(dir string) (*Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder for workspaces: %w", err)
	}
	if err := private(dir); err != nil {
		return nil, fmt.Errorf("cannot use the folder for workspaces %s: %w", dir, err)
	}
	sweep(dir)
	r := &Root{dir: filepath.Join(dir, prefix+strings.ToLower(rand.Text()))}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder for workspaces: %w", err)
	}
	var err error
	if r.lock, err = os.OpenFile(filepath.Join(r.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("cannot make the folder for workspaces: %w", err)
	}
	if !lock(r.lock) {
		return nil, errors.Join(fmt.Errorf("cannot lock the folder for workspaces %s", r.dir), r.lock.Close())
	}
	return r, nil
}

// Close removes the folder with all that is in it.
func (r *Root) Close() error {
	return errors.Join(os.RemoveAll(r.dir), r.lock.Close())
}

// Make makes an empty folder. What was there of that name is removed.
func (r *Root) Make(name string) (dir string, err error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("cannot make the workspace %q: it is no name", name)
	}
	dir = filepath.Join(r.dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("cannot empty the workspace: %w", pathless(err))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make the workspace: %w", pathless(err))
	}
	return dir, nil
}

// pathless is an error without the path it is about: whoever runs a task is told,
// and need not know where that is.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Remove removes a folder that Make made.
func (r *Root) Remove(name string) error { return os.RemoveAll(filepath.Join(r.dir, name)) }

// sweep removes the folders of processes that are gone: nobody holds their
// locks. One that was made just now may not have its lock yet, and is left to
// the next.
func sweep(dir string) {
	found, err := os.ReadDir(dir)
	if err != nil || !locks {
		return
	}
	for _, e := range found {
		at := filepath.Join(dir, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f, err := os.OpenFile(filepath.Join(at, lockName), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			// Without its lock there are no folders of tasks in it.
			_ = os.Remove(at)
			continue
		}
		if err != nil {
			continue
		}
		if lock(f) {
			_ = os.RemoveAll(at) // What stays is tried again next time.
		}
		_ = f.Close()
	}
}

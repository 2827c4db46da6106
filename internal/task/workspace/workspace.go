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

// What lies in the folder that several processes share has these in its name: a
// folder, and beside it the lock that says that its process lives. The lock is
// there before the folder and goes after it, so that whoever is stopped in
// between leaves a lock by which the rest is found.
const (
	prefix = "process-"
	suffix = ".lock"
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
	for range 100 {
		r := &Root{dir: filepath.Join(dir, prefix+strings.ToLower(rand.Text()))}
		f, err := os.OpenFile(r.dir+suffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("cannot make the folder for workspaces: %w", err)
		}
		r.lock = f
		// Another process may sweep just now, and take the new lock for one that
		// was left.
		if !lock(f) || !there(f) {
			_ = f.Close()
			continue
		}
		if err := os.Mkdir(r.dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("cannot make the folder for workspaces: %w", err), r.Close())
		}
		return r, nil
	}
	return nil, fmt.Errorf("cannot lock a folder for workspaces in %s: others remove it each time", dir)
}

// there tells whether an open file still has its name.
func there(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(have, named)
}

// Close removes the folder with all that is in it.
func (r *Root) Close() error {
	if err := errors.Join(os.RemoveAll(r.dir), r.lock.Close()); err != nil {
		return err
	}
	// Not all systems remove what is open; now that it is not, another may sweep.
	if err := os.Remove(r.lock.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
// locks. What cannot be removed keeps its lock, and is tried again by the next.
func sweep(dir string) {
	found, err := os.ReadDir(dir)
	if err != nil || !locks {
		return
	}
	for _, e := range found {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		at := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(at, os.O_RDWR, 0)
		if err != nil {
			continue // Its process has just removed it, or it is another's.
		}
		if lock(f) && os.RemoveAll(strings.TrimSuffix(at, suffix)) == nil {
			_ = os.Remove(at)
		}
		_ = f.Close()
	}
}

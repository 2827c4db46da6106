// Package workspace manages the folders of tasks: one for each running task of this
// process, removed when the task ends, with a copy of its contents for the replica
// that takes over the task.
package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Names in the folder that several processes share: each process has a folder, and
// next to it a lock file that shows that the process is alive. The lock file is
// created before the folder and removed after it, so that a process that is killed in
// between leaves a lock file by which the rest is found.
const (
	prefix = "process-"
	suffix = ".lock"
)

// Root is the folder of a process for the folders of its tasks. Its methods may be
// called concurrently.
type Root struct {
	// base is the folder that several processes share.
	base string

	mu   sync.Mutex
	dir  string
	lock *os.File
	// made is the file info of dir at its creation.
	made fs.FileInfo
	// probed is the time of the last test write.
	probed time.Time
}

// Unusable is the error for a folder in which workspaces cannot be created.
type Unusable struct {
	// what is the operation that failed, and base the folder for workspaces.
	what, base string
	err        error
}

// Error returns the reason with the path of the folder.
func (e *Unusable) Error() string {
	return fmt.Sprintf("cannot %s workspace folder %s: %v", e.what, e.base, pathless(e.err))
}

// Public returns the reason without the path, for clients that need not know it.
func (e *Unusable) Public() string {
	return fmt.Sprintf("cannot %s workspace folder: %v", e.what, pathless(e.err))
}

// Unwrap returns the cause.
func (e *Unusable) Unwrap() error { return e.err }

func (r *Root) unusable(what string, err error) error {
	return &Unusable{what: what, base: r.base, err: err}
}

// errRemoved is the reason why a lock cannot be acquired.
var errRemoved = errors.New("another process removes the lock file each time")

// Open creates a folder in base, and base itself if it does not exist. Folders of
// processes that are gone are removed.
func Open(base string) (*Root, error) {
	r := &Root{base: base}
	if err := r.create(); err != nil {
		return nil, err
	}
	return r, nil
}

// create creates the folder of the process and its lock. It trusts no existing file:
// in a world-writable folder, such as one for temporary files, another user may have
// created the base.
func (r *Root) create() error {
	if err := os.MkdirAll(r.base, 0o700); err != nil {
		return r.unusable("create", err)
	}
	base, err := openPrivate(r.base)
	if err != nil {
		return r.unusable("use", err)
	}
	defer base.Close() //nolint:errcheck // nothing is lost
	sweep(base)
	for range 100 {
		name := prefix + strings.ToLower(rand.Text())
		f, err := makeLock(base, name)
		if err != nil {
			return r.unusable("lock", err)
		}
		if f == nil {
			continue
		}
		err = base.Mkdir(name, 0o700)
		var made fs.FileInfo
		if err == nil {
			made, err = base.Lstat(name)
		}
		if err != nil {
			_ = base.Remove(name + suffix)
			_ = f.Close() // It locks nothing.
			return r.unusable("create", err)
		}
		r.dir, r.lock, r.made = filepath.Join(r.base, name), f, made
		return nil
	}
	return r.unusable("lock", errRemoved)
}

// openPrivate opens a folder to which no other user can write, and which no other
// user has replaced.
func openPrivate(dir string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 && !trusted(info) {
		return nil, errors.New("path is a symbolic link of another user; remove it, or set scaffolder.workingDirectory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	// Check the opened folder, not what has its name by now.
	if info, err = root.Stat("."); err == nil {
		err = private(info)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// makeLock creates the lock file of a folder and locks it. It returns nil if another
// process considers it stale and removes it.
func makeLock(base *os.Root, name string) (*os.File, error) {
	f, err := base.OpenFile(name+suffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if !lock(f) || !there(f) {
		return nil, f.Close()
	}
	return f, nil
}

// there reports whether an open file still exists under its name.
func there(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(have, named)
}

// ensure creates the folder and its lock again if another program removed them, as
// cleanup programs for temporary files do.
func (r *Root) ensure() error {
	now, err := os.Lstat(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r.unusable("use", err)
	}
	if err != nil || !os.SameFile(r.made, now) {
		left := r.lock
		if err := r.create(); err != nil {
			return err
		}
		if there(left) {
			_ = os.Remove(left.Name())
		}
		_ = left.Close() // It locks nothing any more.
		return nil
	}
	if there(r.lock) {
		return nil
	}
	base, err := openPrivate(r.base)
	if err != nil {
		return r.unusable("use", err)
	}
	defer base.Close() //nolint:errcheck // nothing is lost
	f, err := makeLock(base, filepath.Base(r.dir))
	if err == nil && f == nil {
		err = errRemoved
	}
	if err != nil {
		return r.unusable("lock", err)
	}
	_ = r.lock.Close() // Its file was removed.
	r.lock = f
	return nil
}

// probeEvery is the minimum interval between test writes of Ready.
const probeEvery = 5 * time.Second

// Ready returns an error if workspaces cannot be created: their folder is gone and
// cannot be created again, or cannot be written to.
func (r *Root) Ready(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensure(); err != nil {
		return err
	}
	if !r.probed.IsZero() && now.Sub(r.probed) < probeEvery {
		return nil
	}
	f, err := os.CreateTemp(r.dir, "probe-")
	if err == nil {
		_, err = f.WriteString("x")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return r.unusable("write to", err)
	}
	r.probed = now
	return nil
}

// Touch updates the times of all folders, so that cleanup programs for temporary
// files do not remove them. Missing folders are created again.
func (r *Root) Touch(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensure(); err != nil {
		return err
	}
	base, err := openPrivate(r.base)
	if err != nil {
		return r.unusable("use", err)
	}
	defer base.Close() //nolint:errcheck // nothing is lost
	name := filepath.Base(r.dir)
	tasks, err := os.ReadDir(r.dir)
	for _, at := range []string{".", name + suffix, name} {
		err = errors.Join(err, base.Chtimes(at, now, now))
	}
	for _, t := range tasks {
		if e := base.Chtimes(filepath.Join(name, t.Name()), now, now); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return r.unusable("touch", err)
	}
	return nil
}

// Close removes the folder and its contents.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(os.RemoveAll(r.dir), r.lock.Close()); err != nil {
		return err
	}
	// Some systems do not remove open files. Once the lock is closed, another process
	// may remove it in its sweep.
	if err := os.Remove(r.lock.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Make creates an empty folder; an existing one with that name is removed. The folder
// of the process is created again if it is gone.
func (r *Root) Make(name string) (dir string, err error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("cannot create workspace %q: invalid name", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensure(); err != nil {
		if e, ok := errors.AsType[*Unusable](err); ok {
			err = errors.New(e.Public())
		}
		return "", fmt.Errorf("cannot create workspace: %w", err)
	}
	dir = filepath.Join(r.dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("cannot empty workspace: %w", pathless(err))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create workspace: %w", pathless(err))
	}
	return dir, nil
}

// pathless returns an error without its path: the user who runs a task sees it, and
// need not know the path.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Remove removes a folder that Make created.
func (r *Root) Remove(name string) error {
	r.mu.Lock()
	dir := r.dir
	r.mu.Unlock()
	return os.RemoveAll(filepath.Join(dir, name))
}

// sweep removes the folders of processes that are gone, whose locks are free. A
// folder that cannot be removed keeps its lock file, and the next sweep retries.
func sweep(base *os.Root) {
	found, err := fs.ReadDir(base.FS(), ".")
	if err != nil || !locks {
		return
	}
	for _, e := range found {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		f, err := base.OpenFile(e.Name(), os.O_RDWR, 0)
		if err != nil {
			continue // Its process has just removed it, or it belongs to another user.
		}
		if lock(f) && base.RemoveAll(strings.TrimSuffix(e.Name(), suffix)) == nil {
			_ = base.Remove(e.Name())
		}
		_ = f.Close()
	}
}

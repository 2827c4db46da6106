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
	"sync"
	"time"
)

// What lies in the folder that several processes share has these in its name: a
// folder, and beside it the lock that says that its process lives. The lock is
// there before the folder and goes after it, so that whoever is stopped in
// between leaves a lock by which the rest is found.
const (
	prefix = "process-"
	suffix = ".lock"
)

// Root is the folder that a process has for the folders of its tasks. Its
// methods may be called at once.
type Root struct {
	// base is the folder that several processes share.
	base string

	mu   sync.Mutex
	dir  string
	lock *os.File
	// made is what dir was when it was made.
	made fs.FileInfo
	// probed is when something was last written to it.
	probed time.Time
}

// Unusable is why there can be no workspaces.
type Unusable struct {
	// what could not be done, with the folder for workspaces.
	what, base string
	err        error
}

// Error returns the reason with the path of the folder.
func (e *Unusable) Error() string {
	return fmt.Sprintf("cannot %s the folder for workspaces %s: %v", e.what, e.base, pathless(e.err))
}

// Public returns the reason without the path, for those who need not know it.
func (e *Unusable) Public() string {
	return fmt.Sprintf("cannot %s the folder for workspaces: %v", e.what, pathless(e.err))
}

// Unwrap returns the cause.
func (e *Unusable) Unwrap() error { return e.err }

func (r *Root) unusable(what string, err error) error {
	return &Unusable{what: what, base: r.base, err: err}
}

// errRemoved is why a lock cannot be had.
var errRemoved = errors.New("other processes remove its lock each time")

// Open makes a folder in base, which is made as well. What processes left there
// that are gone is removed.
func Open(base string) (*Root, error) {
	r := &Root{base: base}
	if err := r.create(); err != nil {
		return nil, err
	}
	return r, nil
}

// create makes the folder of the process and its lock. It trusts nothing that it
// finds: where everybody can write, as to folders for temporary files, somebody
// else may have made the base.
func (r *Root) create() error {
	if err := os.MkdirAll(r.base, 0o700); err != nil {
		return r.unusable("make", err)
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
			return r.unusable("make", err)
		}
		r.dir, r.lock, r.made = filepath.Join(r.base, name), f, made
		return nil
	}
	return r.unusable("lock", errRemoved)
}

// openPrivate opens a folder that nobody else can put something into, and that
// nobody else has put in its place.
func openPrivate(dir string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 && !trusted(info) {
		return nil, errors.New("it is a symbolic link of another user; remove it, or set scaffolder.workingDirectory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	// What was opened is looked at, not what has its name by now.
	if info, err = root.Stat("."); err == nil {
		err = private(info)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// makeLock makes the lock of a folder and locks it. It returns nil if another
// process takes it for one that was left, and removes it.
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

// there tells whether an open file still has its name.
func there(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(have, named)
}

// ensure makes the folder again if it was removed from outside, as programs do
// that clean up temporary files, and its lock.
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
	_ = r.lock.Close() // Its file has no name any more.
	r.lock = f
	return nil
}

// probeEvery is how often Ready writes something.
const probeEvery = 5 * time.Second

// Ready returns an error if there can be no workspaces: their folder is gone and
// cannot be made again, or cannot be written to.
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

// Touch makes what lies here look used, so that programs which remove old
// temporary files leave it alone. What is gone is made again.
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

// Close removes the folder with all that is in it.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(os.RemoveAll(r.dir), r.lock.Close()); err != nil {
		return err
	}
	// Not all systems remove what is open; now that it is not, another may sweep.
	if err := os.Remove(r.lock.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Make makes an empty folder. What was there of that name is removed. The folder
// of the process is made again if it is gone.
func (r *Root) Make(name string) (dir string, err error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("cannot make the workspace %q: it is no name", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.ensure(); err != nil {
		if e, ok := errors.AsType[*Unusable](err); ok {
			err = errors.New(e.Public())
		}
		return "", fmt.Errorf("cannot make the workspace: %w", err)
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
func (r *Root) Remove(name string) error {
	r.mu.Lock()
	dir := r.dir
	r.mu.Unlock()
	return os.RemoveAll(filepath.Join(dir, name))
}

// sweep removes the folders of processes that are gone: nobody holds their
// locks. What cannot be removed keeps its lock, and is tried again by the next.
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
			continue // Its process has just removed it, or it is another's.
		}
		if lock(f) && base.RemoveAll(strings.TrimSuffix(e.Name(), suffix)) == nil {
			_ = base.Remove(e.Name())
		}
		_ = f.Close()
	}
}

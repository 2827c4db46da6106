package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is the folder with the state of a server. No other process uses it.
type Folder struct {
	path string
	lock *os.File
}

// marker is the file that marks the folder of a temporary server: all its
// contents can be removed. test/apiserver writes it as well.
const marker = "devcluster.temporary"

// Claim creates the folder unless it exists, and locks it until Leave. A
// temporary folder must be empty or marked, because it is removed later; Claim
// marks it.
func Claim(dir string, temporary bool) (*Folder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot use %q: %w", dir, err)
	}
	if temporary {
		// This must happen before any file is created.
		if err := checkDisposable(path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot use the folder: %w", err)
	}
	f := &Folder{path: path, lock: lock}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Leave()
		return nil, fmt.Errorf("cannot use %s: another devcluster runs in it", path)
	}
	if temporary {
		if err := os.WriteFile(filepath.Join(path, marker), nil, 0o600); err != nil {
			f.Leave()
			return nil, fmt.Errorf("cannot mark the folder: %w", err)
		}
	}
	return f, nil
}

// checkDisposable returns an error if the folder contains files of others.
func checkDisposable(path string) error {
	if _, err := os.Lstat(filepath.Join(path, marker)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot use the folder: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("cannot use %s: a temporary server would remove it in the end, and it is not empty; name one that is empty or does not exist", path)
	}
	return nil
}

// Leave unlocks the folder.
func (f *Folder) Leave() { _ = f.lock.Close() }

// Remove removes a folder that was claimed as temporary.
func (f *Folder) Remove() error {
	if _, err := os.Lstat(filepath.Join(f.path, marker)); err != nil {
		return fmt.Errorf("cannot remove the folder: it is not marked: %w", err)
	}
	return os.RemoveAll(f.path)
}

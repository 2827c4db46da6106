//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// locks says that locks can be relied on.
const locks = true

// lock tells whether the caller is the only one who has f locked. The lock goes
// with the process.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// private returns an error for a folder that others could put something into.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("it is no folder")
	}
	owner := -1
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(s.Uid)
	}
	if info.Mode().Perm()&0o002 != 0 || owner != os.Geteuid() && owner != 0 {
		return errors.New("others can write to it; make it one's own, or set scaffolder.workingDirectory to another")
	}
	return nil
}

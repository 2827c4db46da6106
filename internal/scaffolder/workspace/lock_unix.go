//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// locks says that file locks are reliable.
const locks = true

// lock tries to lock f exclusively, and reports whether it succeeded. The lock ends
// with the process.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// private returns an error for a folder to which other users could write.
func private(info fs.FileInfo) error {
	switch {
	case !info.IsDir():
		return errors.New("not a directory; set scaffolder.workingDirectory to one")
	case info.Mode().Perm()&0o002 != 0:
		return errors.New("directory is writable by others; run chmod o-w, or set scaffolder.workingDirectory to another")
	case !trusted(info):
		return errors.New("directory belongs to another user; set scaffolder.workingDirectory to another")
	}
	return nil
}

// trusted reports whether a file belongs to the user of the process, or to root, who
// can do anything anyway.
func trusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}

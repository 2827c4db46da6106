//go:build unix

package workspace

import (
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

//go:build unix && !solaris && !aix

package lock

import (
	"errors"
	"os"
	"syscall"
)

// acquire locks an open file, without waiting. The lock belongs to the open file,
// so that a second lock in this process is refused too.
func acquire(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

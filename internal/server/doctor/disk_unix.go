//go:build linux || darwin || freebsd

package doctor

import (
	"golang.org/x/sys/unix"
)

// writable returns an error if this user cannot write to a file or folder. Nothing is
// written.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

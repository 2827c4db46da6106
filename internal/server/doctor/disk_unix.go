//go:build linux || darwin || freebsd

package doctor

import (
	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes a user may still write to the disk of a path.
func freeSpace(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}

// writable returns an error if this user cannot write to a file or folder. Nothing is
// written.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

//go:build linux || darwin || freebsd

package db

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes this user may still write to the disk of a path.
func FreeSpace(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	blocks := uint64(s.Bavail) //nolint:unconvert // The types differ between systems.
	if unix.Geteuid() == 0 {
		// Some blocks are reserved for this user.
		blocks = uint64(s.Bfree) //nolint:unconvert // The types differ between systems.
	}
	return blocks * uint64(s.Bsize), nil
}

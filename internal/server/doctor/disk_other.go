//go:build !linux && !darwin && !freebsd && !windows

package doctor

import (
	"errors"
	"os"
)

// freeSpace is not known on this system.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// writable returns an error if a path is not there; the rest is not known on this
// system.
func writable(path string) error {
	_, err := os.Stat(path)
	return err
}

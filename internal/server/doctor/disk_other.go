//go:build !linux && !darwin && !freebsd && !windows

package doctor

import (
	"errors"
	"os"
)

// freeSpace is not supported on this system.
func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

// writable returns an error if a path does not exist; permissions cannot be checked on
// this system.
func writable(path string) error {
	_, err := os.Stat(path)
	return err
}

//go:build !linux && !darwin && !freebsd && !windows

package doctor

import "os"

// writable returns an error if a path does not exist; permissions cannot be checked on
// this system.
func writable(path string) error {
	_, err := os.Stat(path)
	return err
}

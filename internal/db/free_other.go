//go:build !linux && !darwin && !freebsd && !windows

package db

import "errors"

// FreeSpace is not supported on this system.
func FreeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }

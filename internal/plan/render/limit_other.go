//go:build !linux

package render

import "os"

// limit does nothing: only Linux limits the memory of another process.
func limit(int, int64) error { return nil }

// killed reports false: only Linux ends processes if memory is exhausted.
func killed(*os.ProcessState) bool { return false }

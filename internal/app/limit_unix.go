//go:build unix

package app

import (
	"os/signal"
	"syscall"
)

// withoutLimits makes a write beyond the file size limit fail with an error
// instead of ending the process with SIGXFSZ.
func withoutLimits() { signal.Ignore(syscall.SIGXFSZ) }

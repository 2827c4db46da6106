//go:build unix

package app

import (
	"os/signal"
	"syscall"
)

// withoutLimits has a write beyond the largest size of files fail like any other,
// rather than end the process.
func withoutLimits() { signal.Ignore(syscall.SIGXFSZ) }

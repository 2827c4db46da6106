//go:build !unix

package app

// withoutLimits has nothing to do where there are no signals.
func withoutLimits() {}

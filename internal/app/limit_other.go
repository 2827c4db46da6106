//go:build !unix

package app

// withoutLimits does nothing where there are no such signals.
func withoutLimits() {}

// Package size says how much a test does: `make test-long` runs all of them at
// full size.
package size

import "os"

// Of returns how many of something a test makes: the usual number, or with
// INGESTOR_LONG=1 the full one.
func Of(usual, full int) int {
	if os.Getenv("INGESTOR_LONG") == "1" {
		return full
	}
	return usual
}

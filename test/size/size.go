// Package size scales tests: `make test-long` runs all of them at full size.
package size

import "os"

// Of returns the size of a test: the usual one, or with INGESTOR_LONG=1 the
// full one.
func Of(usual, full int) int {
	if os.Getenv("INGESTOR_LONG") == "1" {
		return full
	}
	return usual
}

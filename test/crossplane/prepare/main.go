// Command prepare builds the programs of Crossplane that tests start, unless
// that was done before.
package main

import (
	"errors"
	"fmt"
	"os"

	"example.dev/ingestor/test/crossplane"
)

func main() {
	err := crossplane.Build()
	if errors.Is(err, crossplane.ErrOff) {
		fmt.Fprintln(os.Stderr, "crossplane:", err, "and tests that need it are skipped")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crossplane:", err)
		os.Exit(1)
	}
}

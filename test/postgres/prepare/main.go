// Command prepare installs the PostgreSQL that tests start, unless there is
// one.
package main

import (
	"errors"
	"fmt"
	"os"

	"example.dev/ingestor/test/postgres"
)

func main() {
	err := postgres.Install(os.Stderr)
	if errors.Is(err, postgres.ErrOff) {
		fmt.Fprintln(os.Stderr, "postgres:", err, "and tests that need it are skipped")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

// Command prepare installs the npm packages of the issuer that tests start,
// unless that was done before.
package main

import (
	"errors"
	"fmt"
	"os"

	"example.dev/ingestor/test/issuer"
)

func main() {
	_, _, err := issuer.Install()
	if errors.Is(err, issuer.ErrOff) {
		fmt.Fprintln(os.Stderr, "issuer:", err, "and tests that need one are skipped")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "issuer:", err)
		os.Exit(1)
	}
}

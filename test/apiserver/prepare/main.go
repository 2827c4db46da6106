// Command prepare builds the program devcluster, unless that was done before,
// and prints its path.
package main

import (
	"fmt"
	"os"

	"example.dev/ingestor/test/apiserver"
)

func main() {
	bin, err := apiserver.Binary()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
	fmt.Println(bin)
}

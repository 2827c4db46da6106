// Command cli is ingestor-cli, composer-ingestor and xrd-transform with the
// extension. The program is chosen by the name of the executable or by the first
// argument.
package main

import (
	"example.dev/ingestor"
	"example.dev/ingestor/examples/extending"
)

func main() { ingestor.Main("", extending.Extension) }

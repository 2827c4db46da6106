// Command cli is ingestor-cli, composer-ingestor and xrd-transform with the
// extension: the one it is called after, or that its first argument names.
package main

import (
	"example.dev/ingestor"
	"example.dev/ingestor/examples/extending"
)

func main() { ingestor.Main("", extending.Extension) }

// Command xrd-transform renders catalog entities from extract records and
// template files.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/transform"
)

func main() { app.Main(transform.Name, transform.Run) }

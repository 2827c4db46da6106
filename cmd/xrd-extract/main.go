// Command xrd-extract writes extract records of composite resource definitions.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/extract"
)

func main() { app.Main(extract.Name, extract.Run) }

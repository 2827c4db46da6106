// Command ingestor-cli turns composite resource definitions into catalog
// entities.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

func main() { app.Main(ingestor.Name, ingestor.Run) }

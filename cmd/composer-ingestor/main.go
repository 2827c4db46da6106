// Command composer-ingestor shows, checks and exports what the service makes
// of the composite resource definitions in clusters.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
)

func main() { app.Main(composer.Name, composer.Run) }

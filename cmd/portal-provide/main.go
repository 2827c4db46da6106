// Command portal-provide delivers entities to a portal's catalog.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide"
)

func main() { app.Main(provide.Name, provide.Run) }

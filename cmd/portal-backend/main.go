// Command portal-backend is a developer portal's backend: catalog, scaffolder,
// authentication and permission over HTTP.
package main

import (
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

func main() { app.Main(portal.Name, portal.Run) }

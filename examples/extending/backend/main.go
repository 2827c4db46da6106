// Command backend is portal-backend with the extension.
package main

import (
	"example.dev/ingestor/cmd/portal-backend/backend"
	"example.dev/ingestor/examples/extending"
)

func main() {
	backend.Main(backend.Options{Hooks: extending.Extension.Hooks, Transformer: extending.Extension.Transformer})
}

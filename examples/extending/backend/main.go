// Command backend is portal-backend with the extension.
package main

import (
	"example.dev/ingestor/examples/extending"
	"example.dev/ingestor/portal"
)

func main() {
	portal.Main(portal.Options{Hooks: extending.Extension.Hooks, Transformer: extending.Extension.Transformer})
}

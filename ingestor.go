// Package ingestor lets an organisation build its own command-line programs with
// an extension of the engine. Package cmd/portal-backend/backend does the same for
// the backend, so that a pull request shows what the catalog will contain.
package ingestor

import (
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/cli/transform"
)

// Programs that can be extended.
const (
	CLI       = ingestor.Name
	Composer  = composer.Name
	Transform = transform.Name
)

// Options are the extension.
type Options = engine.Extension

// Main runs a program, with its flags, and exits. If program is empty, it is
// chosen by the name of the executable or, if that names none, by the first
// argument.
func Main(program string, o Options) {
	app.MainOneOf(program, map[string]app.Program{
		CLI: ingestor.With(o), Composer: composer.With(o), Transform: transform.With(o),
	})
}

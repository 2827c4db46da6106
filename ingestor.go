// Package ingestor is the command-line programs with code of an organisation's
// own around the engine. Package portal is the backend with the same code, so
// that a pull request shows what the catalog will have.
package ingestor

import (
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/cli/transform"
)

// The programs that can be extended.
const (
	CLI       = ingestor.Name
	Composer  = composer.Name
	Transform = transform.Name
)

// Options are what is added.
type Options = engine.Extension

// Main runs a program, with its flags, and ends the process. If program is empty
// it is the one that the executable is called after or, if it is called otherwise,
// that the first argument names.
func Main(program string, o Options) {
	app.MainOneOf(program, map[string]app.Program{
		CLI: ingestor.With(o), Composer: composer.With(o), Transform: transform.With(o),
	})
}

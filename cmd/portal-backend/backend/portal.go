// Package backend lets an organisation build its own portal-backend, with
// additional actions and an extension of the engine.
package backend

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

// Options are the additions.
type Options struct {
	// Actions are available to steps in addition to the built-in ones.
	Actions []action.Action
	// Hooks, Transformer and Version are those of engine.Extension. Package ingestor
	// takes the same for the command-line programs.
	Hooks       engine.Hooks
	Transformer func(engine.Transformer) engine.Transformer
	Version     string
}

// Main runs the program portal-backend, with its flags and its configuration, and
// exits.
func Main(o Options) {
	app.Main(portal.Name, portal.With(o.Actions, engine.Extension{Hooks: o.Hooks, Transformer: o.Transformer, Version: o.Version}))
}

package engine

import (
	"errors"
	"sync"
)

// Extension is code with which an organisation extends the engine. The zero value
// changes nothing. All programs take an Extension, so that its effects show both in the
// catalog and on the command line.
type Extension struct {
	// Hooks are called before and after the default transformation.
	Hooks Hooks
	// Transformer, if not nil, is given the default Transformer and returns the one to use.
	// It may wrap the default, which calls the Hooks, or ignore it. It is called for each
	// run of the engine, often for each definition, so keep state outside of it.
	Transformer func(Transformer) Transformer
	// Version names this code. The service rebuilds everything when it changes. Empty means
	// that every build of the program is a new version, which is right unless equivalent
	// builds differ, such as builds for several architectures.
	Version string
}

// Engine returns an engine with the extension's hooks, and the Transformer to use: the
// engine, or what the extension replaces it with. If the extension panics or returns
// nil, Transform panics or returns an error, for each definition.
func (x Extension) Engine(profile Profile, opts Options) (*Engine, Transformer) {
	e := New(profile, opts, x.Hooks)
	return e, x.Around(e)
}

// Around returns the extension's Transformer around next, or next if there is none.
func (x Extension) Around(next Transformer) Transformer {
	if x.Transformer == nil {
		return next
	}
	around := sync.OnceValue(func() Transformer { return x.Transformer(next) })
	return TransformerFunc(func(in Input) (Result, error) {
		t := around()
		if t == nil {
			return Result{}, errors.New("cannot transform: the extension returned no Transformer")
		}
		return t.Transform(in)
	})
}

package engine

import (
	"errors"
	"sync"
)

// Extension is code that an organisation puts around the engine. The zero value
// changes nothing. All programs take one, so that what is added shows in the
// catalog and on the command line alike.
type Extension struct {
	// Hooks are called before and after the default transformation.
	Hooks Hooks
	// Transformer, if not nil, is given the default Transformer and returns the
	// one to use: it may wrap the default one, which calls the Hooks, or leave it
	// aside. It is called for each run of the engine, often for each definition, so
	// that what is to be remembered is kept outside.
	Transformer func(Transformer) Transformer
	// Version names this code. The service makes everything anew when it is another
	// one than before. Empty means that every build of the program is another one,
	// which is right unless builds that do the same differ, as those for several
	// architectures do.
	Version string
}

// Engine returns an engine with the extension's hooks, and what transforms: the
// engine, or what the extension puts in its place. If that panics or is nil,
// Transform does the same or returns an error, for each definition.
func (x Extension) Engine(profile Profile, opts Options) (*Engine, Transformer) {
	e := New(profile, opts, x.Hooks)
	return e, x.Around(e)
}

// Around returns what transforms in the place of a Transformer.
func (x Extension) Around(next Transformer) Transformer {
	if x.Transformer == nil {
		return next
	}
	around := sync.OnceValue(func() Transformer { return x.Transformer(next) })
	return TransformerFunc(func(in Input) (Result, error) {
		t := around()
		if t == nil {
			return Result{}, errors.New("the extension returned no Transformer")
		}
		return t.Transform(in)
	})
}

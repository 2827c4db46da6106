package inspect

import (
	"context"
	"encoding/json"
)

// Source is a definition or a Composition as it is stored.
type Source struct {
	// Source is the name of the source that it was read from.
	Source string          `json:"source"`
	Object json.RawMessage `json:"object"`
}

// Source returns the object that entities are built from: a Composition of a definition,
// or the definition itself if the name of the Composition is empty. It reports false if
// there is none.
func (in *Inspector) Source(ctx context.Context, definition, composition string) (Source, bool, error) {
	o, ok, err := in.opts.Builder.Source(ctx, definition, composition)
	return Source{Source: o.Source, Object: o.Body}, ok, err
}

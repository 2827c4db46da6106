// Package source defines where definitions are read from. A source only reads; it
// makes no decisions.
package source

import (
	"context"

	"example.dev/ingestor/xrd"
)

// Source reads definitions, Compositions and composites.
type Source interface {
	// Read reads everything. The Set is never nil and holds what could be read even
	// if the error, which joins all failures, is not nil.
	Read(ctx context.Context) (*xrd.Set, error)
}

// Func is a function that implements Source.
type Func func(ctx context.Context) (*xrd.Set, error)

// Read calls f.
func (f Func) Read(ctx context.Context) (*xrd.Set, error) { return f(ctx) }

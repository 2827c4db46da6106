// Package source is where definitions come from. A source reads; it decides
// nothing.
package source

import (
	"context"

	"example.dev/ingestor/xrd"
)

// Source reads definitions, Compositions and composites.
type Source interface {
	// Read reads all there is. The Set is never nil and holds what could be
	// read even when the error, which joins all failures, is not nil.
	Read(ctx context.Context) (*xrd.Set, error)
}

// Func is a function that is a Source.
type Func func(ctx context.Context) (*xrd.Set, error)

// Read calls f.
func (f Func) Read(ctx context.Context) (*xrd.Set, error) { return f(ctx) }

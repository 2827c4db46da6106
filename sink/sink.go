// Package sink defines destinations of entities.
package sink

import (
	"context"

	"example.dev/ingestor/entity"
)

// Sink writes validated entities.
type Sink interface {
	// Write writes all entities in the given order, or returns an error and leaves
	// no partial file behind.
	Write(ctx context.Context, entities []*entity.Entity) error
}

// Func is a function that implements Sink.
type Func func(ctx context.Context, entities []*entity.Entity) error

// Write calls f.
func (f Func) Write(ctx context.Context, entities []*entity.Entity) error { return f(ctx, entities) }

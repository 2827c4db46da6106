// Package sink is where entities go.
package sink

import (
	"context"

	"example.dev/ingestor/entity"
)

// Sink takes entities that have been checked.
type Sink interface {
	// Write writes all entities, in the order given, or returns an error and
	// leaves no part of a file behind.
	Write(ctx context.Context, entities []*entity.Entity) error
}

// Func is a function that is a Sink.
type Func func(ctx context.Context, entities []*entity.Entity) error

// Write calls f.
func (f Func) Write(ctx context.Context, entities []*entity.Entity) error { return f(ctx, entities) }

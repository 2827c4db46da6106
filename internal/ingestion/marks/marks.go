// Package marks keeps the marks by which change detection tells whether an object of a
// source is still the same, in memory, in the database or in Redis, and is how Redis is
// used as a cache.
package marks

import "context"

// Marks remembers a mark for each object of a source. Its methods may be called
// at once.
type Marks interface {
	// Load returns the marks of a source by the objects' keys. If nothing is
	// known, there are none.
	Load(ctx context.Context, source string) (map[string]string, error)
	// Save sets marks of a source and drops others.
	Save(ctx context.Context, source string, set map[string]string, drop []string) error
	// Forget drops all marks of sources other than those.
	Forget(ctx context.Context, keep []string) error
}

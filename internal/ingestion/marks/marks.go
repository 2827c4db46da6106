// Package marks stores the marks by which change detection recognizes unchanged objects
// of a source, in memory, in the database or in Redis. It also provides Redis as a
// cache.
package marks

import "context"

// Marks stores a mark for each object of a source. Its methods may be called
// concurrently.
type Marks interface {
	// Load returns the marks of a source by the objects' keys. The map is empty if there
	// are none.
	Load(ctx context.Context, source string) (map[string]string, error)
	// Save sets marks of a source and drops others.
	Save(ctx context.Context, source string, set map[string]string, drop []string) error
	// Forget drops the marks of all sources except those in keep.
	Forget(ctx context.Context, keep []string) error
}

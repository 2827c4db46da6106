// Package catalog is what the portal's catalog tells over HTTP: entities, found
// by filters and names, each caller those they may read.
package catalog

import (
	"context"
	"sync/atomic"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
)

// Catalog answers for the catalog.
type Catalog struct {
	store  *store.Store
	policy *permission.Policy
	// Deleted, if not nil, is told of an entity that somebody deleted, so that
	// its provider can bring it back.
	Deleted func(ctx context.Context, e *store.Entity) error
	// Audit records deletions; nil records nothing.
	Audit *audit.Log
	// Origin, if not nil, returns where entities of a provider come from.
	Origin func(provider string) string
	// key signs cursors, once it is known.
	key atomic.Pointer[[]byte]
}

// New returns the catalog of a store, as the policy lets callers see it.
func New(s *store.Store, p *permission.Policy) *Catalog {
	return &Catalog{store: s, policy: p}
}

// Package catalog serves the portal's catalog over HTTP: entities, found by filters and
// names. Each caller gets those they may read.
//
// It is one package because all endpoints share cursors, the shapes of responses, and how
// the caller is restricted.
package catalog

import (
	"context"
	"sync/atomic"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/words"
)

// Catalog serves the catalog.
type Catalog struct {
	store  *store.Store
	policy *permission.Policy
	// Deleted, if not nil, is called with an entity that a user deleted, so that its
	// provider can restore it.
	Deleted func(ctx context.Context, e *store.Entity) error
	// Audit records deletions; nil records nothing.
	Audit *audit.Log
	// Words is the vocabulary of the feed; auto means upstream, because every entity of a
	// feed has the same.
	Words words.Choice
	// Origin, if not nil, returns where entities of a provider come from.
	Origin func(provider string) string
	// key signs cursors, once it is loaded.
	key atomic.Pointer[[]byte]
}

// New returns the catalog of a store, restricted by the policy.
func New(s *store.Store, p *permission.Policy) *Catalog {
	return &Catalog{store: s, policy: p}
}

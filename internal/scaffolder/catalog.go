package scaffolder

import (
	"context"

	"example.dev/ingestor/document/tree"
)

// Catalog is the catalog as the scaffolder uses it. It is safe for concurrent use. If
// there is no entity, the error is db.ErrNotFound.
type Catalog interface {
	// Find returns the entity with a reference, if the caller of the context may read it.
	Find(ctx context.Context, ref string) (*Entity, error)
	// Get returns the entity with a reference, without checking permissions.
	Get(ctx context.Context, ref string) (*Entity, error)
	// Refusal returns why the catalog would refuse an entity, whose location need not be
	// annotated; "" if it would not. It may change the entity.
	Refusal(n *tree.Node) string
}

// Entity is an entity of the catalog.
type Entity struct {
	// Ref is its canonical reference.
	Ref  string
	JSON []byte
	// Origin says where it comes from, as permissions name origins.
	Origin string
	// Read says that the catalog itself has read it from a location.
	Read bool
}

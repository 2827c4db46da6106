package catalog

import (
	"context"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/identity/audit"
)

// recordDelete records that an entity was deleted, or why not.
func (c *Catalog) recordDelete(ctx context.Context, e *store.Entity, err error) {
	c.Audit.Done(ctx, audit.Event{Name: audit.EntityDelete, Target: map[string]string{"entity": e.Ref, "provider": e.Provider}}, err)
}

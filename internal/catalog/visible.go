package catalog

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
)

// visible returns the filter that passes the entities that the caller may read.
func (c *Catalog) visible(ctx context.Context) filter.Filter {
	return c.policy.Filter(auth.From(ctx), permission.EntityRead)
}

// mayRead reports whether the caller may read an entity. Most callers may read all, for
// which the entity need not be decoded.
func (c *Catalog) mayRead(ctx context.Context, e *store.Entity) (bool, error) {
	switch c.visible(ctx).Op {
	case filter.OpTrue:
		return true, nil
	case filter.OpFalse:
		return false, nil
	default:
		r, err := permission.ResourceOf(e.Ref, e.JSON)
		return err == nil && c.policy.Decide(auth.From(ctx), permission.EntityRead, r), err
	}
}

// Resource returns what permissions need to know of an entity, or nil if there is no
// such entity.
func (c *Catalog) Resource(ctx context.Context, ref string) (*permission.Resource, error) {
	e, err := c.store.Get(ctx, strings.ToLower(ref))
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := permission.ResourceOf(e.Ref, e.JSON)
	if err == nil && c.Origin != nil {
		r.Origin = c.Origin(e.Provider)
	}
	return r, err
}

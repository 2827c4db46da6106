package catalog

import (
	"context"

	"example.dev/ingestor/internal/catalog/query"
)

// Seal returns v, which must be a struct with fields, as a sealed text that a client
// keeps and sends back. A text of one purpose is invalid for another.
func (c *Catalog) Seal(ctx context.Context, purpose string, v any) (string, error) {
	key, err := c.sealKey(ctx)
	if err != nil {
		return "", err
	}
	return query.Seal(key, purpose, v)
}

// Unseal reads a sealed text into v. It returns query.ErrSeal for other texts.
func (c *Catalog) Unseal(ctx context.Context, purpose, text string, v any) error {
	if !query.Sealed(text) {
		return query.ErrSeal
	}
	key, err := c.sealKey(ctx)
	if err != nil {
		return err
	}
	return query.Unseal(key, purpose, text, v)
}

// Prepare loads the key that cursors are signed with, and stores one if there is none:
// later a read must not have to write, because the disk may be full.
func (c *Catalog) Prepare(ctx context.Context) error {
	_, err := c.sealKey(ctx)
	return err
}

// sealKey returns the key that texts are signed with: one for all replicas, which the
// database holds. It never changes, so it is loaded once.
func (c *Catalog) sealKey(ctx context.Context) ([]byte, error) {
	if key := c.key.Load(); key != nil {
		return *key, nil
	}
	key, err := c.store.Secret(ctx, "cursor")
	if err != nil {
		return nil, err
	}
	c.key.Store(&key)
	return key, nil
}

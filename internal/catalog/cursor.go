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

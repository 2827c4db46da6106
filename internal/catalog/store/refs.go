package store

import (
	"context"

	"example.dev/ingestor/internal/db"
)

// Refs returns the references of all entities of a provider, sorted.
func (s *Store) Refs(ctx context.Context, provider string) ([]string, error) {
	const doing = "read the references of a provider"
	rows, err := s.Read.QueryContext(ctx, "SELECT ref FROM entities WHERE provider = $1 ORDER BY ref", db.Storable(provider))
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	defer func() { _ = rows.Close() }()
	var refs []string
	for rows.Next() {
		var ref string
		if err := rows.Scan(&ref); err != nil {
			return nil, db.Fail(doing, err)
		}
		refs = append(refs, ref)
	}
	return refs, db.Fail(doing, rows.Err())
}

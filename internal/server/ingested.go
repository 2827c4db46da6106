package server

import (
	"context"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/unit"
)

// ingested is the catalog as ingestion uses it.
type ingested struct{ store *store.Store }

// Prepare implements ingest.Catalog.
func (ingested) Prepare(n *tree.Node) any { return write.Prepare(n) }

// Put implements ingest.Catalog.
func (c ingested) Put(ctx context.Context, outcomes []unit.Build) ([]batch.Written, error) {
	changes := make([]write.Change, len(outcomes))
	for i, o := range outcomes {
		changes[i] = write.Change{Provider: o.Provider, Full: true, Keep: o.Keep, Put: make([]write.Document, len(o.Entities))}
		for j, e := range o.Entities {
			changes[i].Put[j] = write.Document{JSON: e}
			if j < len(o.Prepared) {
				changes[i].Put[j].Prepared, _ = o.Prepared[j].(*write.Prepared)
			}
		}
	}
	results, err := c.store.SyncAll(ctx, changes)
	if err != nil {
		return nil, err
	}
	out := make([]batch.Written, len(results))
	for i, r := range results {
		out[i] = batch.Written{Added: r.Added, Updated: r.Updated, Removed: r.Removed, Unchanged: r.Unchanged,
			Changed: batch.Changes{Added: r.Refs.Added, Updated: r.Refs.Updated, Removed: r.Refs.Removed}}
		for _, no := range r.Refused {
			out[i].Refused = append(out[i].Refused, batch.Refused{Ref: no.Ref, Owner: no.Owner})
		}
	}
	return out, nil
}

// Missing implements ingest.Catalog.
func (c ingested) Missing(ctx context.Context, limit int) ([]inspect.MissingRef, error) {
	var out []inspect.MissingRef
	for _, prefix := range unit.ProviderPrefixes() {
		all, err := c.store.Dangling(ctx, prefix, limit)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			out = append(out, inspect.MissingRef{Ref: m.Ref, Relation: m.Type, Entities: m.Sources, Example: m.First})
		}
	}
	return out, nil
}

// Entity implements ingestion.Entities.
func (c ingested) Entity(ctx context.Context, ref string) (provider string, entity []byte, err error) {
	e, err := c.store.Get(ctx, ref)
	if err != nil {
		return "", nil, err
	}
	return e.Provider, e.JSON, nil
}

// Each implements ingestion.Entities.
func (c ingested) Each(ctx context.Context, refs []string, do func(i int, provider string, entity []byte) error) error {
	found, err := c.store.GetMany(ctx, refs)
	if err != nil {
		return err
	}
	for i, e := range found {
		if e == nil {
			continue
		}
		if err := do(i, e.Provider, e.JSON); err != nil {
			return err
		}
	}
	return nil
}

// Providers implements ingestion.Entities.
func (c ingested) Providers(ctx context.Context) (map[string]int, error) {
	return c.store.Providers(ctx)
}

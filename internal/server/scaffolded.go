package server

import (
	"context"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/scaffolder"
)

// scaffolded is the catalog as the scaffolder uses it.
type scaffolded struct {
	catalog *catalog.Catalog
	store   *store.Store
}

// Find implements scaffolder.Catalog.
func (c scaffolded) Find(ctx context.Context, ref string) (*scaffolder.Entity, error) {
	return scaffoldedEntity(c.catalog.Find(ctx, ref))
}

// Get implements scaffolder.Catalog.
func (c scaffolded) Get(ctx context.Context, ref string) (*scaffolder.Entity, error) {
	return scaffoldedEntity(c.store.Get(ctx, ref))
}

func scaffoldedEntity(e *store.Entity, err error) (*scaffolder.Entity, error) {
	if err != nil {
		return nil, err
	}
	return &scaffolder.Entity{Ref: e.Ref, JSON: e.JSON, Origin: originOf(e.Provider), Read: store.IsLocationProvider(e.Provider)}, nil
}

// Refusal implements scaffolder.Catalog.
func (scaffolded) Refusal(n *tree.Node) string {
	// The sender of a dry run cannot state the origin of the Template.
	location.Claim(n, "url:dry-run")
	if problems := location.ProblemsOf(n); len(problems) > 0 {
		return problems[0].Text()
	}
	return ""
}

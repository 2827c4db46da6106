package portal_test

import (
	"path/filepath"
	"testing"

	"example.dev/ingestor/internal/config"
)

// shipped returns the path of a configuration that comes with the programs.
func shipped(name string) string { return filepath.Join("..", "..", name) }

// TestNewcomer starts the portal as `make run` does, but for its port and its
// database, and wants the examples in it.
func TestNewcomer(t *testing.T) {
	w := start(t, setup{under: []string{shipped("app-config.yaml")}, sections: map[string]any{"catalog": map[string]any{}}})
	var health struct {
		Status            string
		EntitiesGenerated int
	}
	w.until("the examples are in the catalog", func() bool {
		w.get("/api/composer-ingestor/health", &health)
		return health.EntitiesGenerated >= 37 && health.Status == "healthy" && w.there("component/default/checkout")
	})
	if health.EntitiesGenerated != 37 {
		t.Errorf("there are %d entities, and the README says 37", health.EntitiesGenerated)
	}
	var page struct{ TotalItems int }
	if w.get("/api/catalog/entities/by-query?filter=kind=template&limit=0", &page); page.TotalItems != 11 {
		t.Errorf("there are %d Templates, and the README says 11", page.TotalItems)
	}
}

// TestShippedConfiguration wants the configuration of `make run-cluster` to be
// without a mistake.
func TestShippedConfiguration(t *testing.T) {
	cfg, findings := config.Load([]string{shipped("app-config.yaml"), shipped("app-config.cluster.yaml")}, config.Options{})
	for _, f := range findings {
		t.Errorf("%s:%d: %s", f.File, f.Pos.Line, f.Message)
	}
	if len(cfg.Composer.Sources) != 0 || len(cfg.Composer.Clusters) != 1 || len(cfg.Orchestrator.Clusters) != 1 || !cfg.ClusterIngestor.Enabled {
		t.Errorf("it reads one cluster, with both variants, and no folder: %+v", cfg.Composer)
	}
}

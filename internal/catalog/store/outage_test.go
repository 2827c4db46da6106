package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/test/postgres"
)

// TestOutage kills PostgreSQL for ten seconds. Every call returns an error
// without a secret, and succeeds as soon as the server is back.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("the outage takes ten seconds")
	}
	t.Parallel()
	server := postgres.Start(t)
	s := opener(t, db.Options{Client: db.Postgres, URL: server.Database(t), Now: time.Now})()
	m := mirror.New(s.DB)
	put(t, s, small(t, "API", "a", ""))
	calls := map[string]func(context.Context) error{
		"Get":     func(ctx context.Context) error { _, err := s.Get(ctx, "api:default/a"); return err },
		"GetMany": func(ctx context.Context) error { _, err := s.GetMany(ctx, []string{"api:default/a"}); return err },
		"Query":   func(ctx context.Context) error { _, err := s.Query(ctx, Query{Limit: 1, Total: true}); return err },
		"Digest":  func(ctx context.Context) error { _, err := s.Digest(ctx, Query{Limit: NoLimit}); return err },
		"Facets": func(ctx context.Context) error {
			_, err := s.Facets(ctx, []string{"kind"}, filter.Filter{}, Text{})
			return err
		},
		"Ancestry":  func(ctx context.Context) error { _, err := s.Ancestry(ctx, "api:default/a"); return err },
		"Providers": func(ctx context.Context) error { _, err := s.Providers(ctx); return err },
		"Ping":      s.Ping,
		"Each": func(ctx context.Context) error {
			return s.Each(ctx, Query{Limit: NoLimit}, func(*Entity) error { return nil })
		},
		"Units":       func(ctx context.Context) error { _, err := m.Units(ctx, 1); return err },
		"UnitObjects": func(ctx context.Context) error { _, err := m.UnitObjects(ctx, []string{"u"}); return err },
		"Alone": func(ctx context.Context) error {
			return s.WithLock(ctx, "work", func(context.Context) error { return nil })
		},
		"Observe": func(ctx context.Context) error {
			_, err := m.Observe(ctx, mirror.Observation{Source: "s", List: "l", Put: []mirror.Object{{Key: "k", Unit: "u", Version: 1}}})
			return err
		},
		"Sync": func(ctx context.Context) error {
			_, err := s.Sync(ctx, write.Change{Provider: "test", Put: []write.Document{small(t, "API", "b", "")}})
			return err
		},
	}
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s before the outage returned %v", name, err)
		}
	}
	server.Kill()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		for name, call := range calls {
			err := call(t.Context())
			if !errors.Is(err, db.ErrUnavailable) {
				t.Fatalf("%s during the outage returned %v, want db.ErrUnavailable", name, err)
			}
			if strings.Contains(fmt.Sprintf("%+v", err), server.Password) {
				t.Fatalf("error of %s contains the password", name)
			}
		}
	}
	server.Restart(t)
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s after the outage returned %v", name, err)
		}
	}
}

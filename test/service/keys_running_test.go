package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/test/redis"
)

// runningKeys has the keys of processing and logging.
var runningKeys = map[string]keyed{
	"Retries": {
		reason: "A failed scan is retried as often as configured.",
		keys:   []string{"composerIngestor.processing.retryAttempts", "composerIngestor.processing.retryDelay"},
		with:   unreadable(sections{"retryAttempts": 3, "retryDelay": 50}),
		check: func(t *testing.T, s *service, _ string) {
			s.until("four runs", func() error { return runs(s, 4) })
			time.Sleep(time.Second)
			if err := runs(s, 4); err != nil {
				t.Error(err)
			}
			s.wantHealth(health.Unhealthy, nil)
		},
	},
	"NoRetries": {
		reason: "A failed scan is not retried if retries are disabled.",
		keys:   []string{"composerIngestor.processing.retryAttempts"},
		with:   unreadable(sections{"retryAttempts": 0, "retryDelay": 10}),
		check: func(t *testing.T, s *service, _ string) {
			s.wantHealth(health.Unhealthy, nil)
			time.Sleep(time.Second)
			if err := runs(s, 1); err != nil {
				t.Error(err)
			}
		},
	},
	"RetryDelay": {
		reason: "The next attempt waits for the configured delay.",
		keys:   []string{"composerIngestor.processing.retryDelay"},
		with:   unreadable(sections{"retryAttempts": 3, "retryDelay": 600000}),
		check: func(t *testing.T, s *service, _ string) {
			s.wantHealth(health.Unhealthy, nil)
			time.Sleep(3 * time.Second)
			if err := runs(s, 1); err != nil {
				t.Error(err)
			}
		},
	},
	"Level": {
		reason: "Changes and failures are not logged if that is disabled.",
		keys:   []string{"composerIngestor.logging.level"},
		files:  alone, composer: sections{"logging": sections{"level": "error"}},
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", entities("alphas")...)
			put(t, filepath.Join(dir, "bad.yaml"), "{")
			s.scan("")
			s.wantHealth(health.Degraded, nil)
			for _, message := range []string{"catalog changed", unreadLine} {
				if lines := s.logged(message); len(lines) != 0 {
					t.Errorf("%v was logged, want nothing", lines)
				}
			}
		},
	},
	"UsualLevel": {
		reason: "Changes and failures are logged by default, once each.",
		keys:   []string{"composerIngestor.logging.level"},
		files:  alone,
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", entities("alphas")...)
			put(t, filepath.Join(dir, "bad.yaml"), "{")
			s.scan("")
			s.scan("")
			// A file with an error affects no other file: nothing becomes
			// stale.
			for message, times := range map[string]int{"catalog changed": 1, unreadLine: 1} {
				if lines := s.logged(message); len(lines) != times {
					t.Errorf("%s was logged %d times: %v", message, len(lines), lines)
				}
			}
		},
	},
}

// unreadLine is logged of a source that cannot be read.
const unreadLine = "source scan failed or incomplete; last known objects are kept"

// unreadable returns a configuration whose source names a missing file.
func unreadable(processing sections) func(*testing.T, string) (sections, sections) {
	return func(_ *testing.T, dir string) (sections, sections) {
		return sections{
			"processing": processing,
			"sources":    []any{sections{"name": "files", "type": "file", "path": filepath.Join(dir, "missing")}},
		}, nil
	}
}

// runs checks the number of scans.
func runs(s *service, want int) error {
	var all struct{ Items []ingest.Run }
	if _, err := s.get("/api/composer-ingestor/runs", &all); err != nil {
		return err
	}
	if len(all.Items) != want {
		return fmt.Errorf("%d runs were recorded, want %d", len(all.Items), want)
	}
	return nil
}

func TestRunningKeys(t *testing.T) { keep(t, runningKeys) }

// cacheKeys has the keys of caches.
var cacheKeys = map[string]keyed{
	"Off": {
		reason: "Disabled caches are not read.",
		keys:   []string{"composerIngestor.caching.enabled"},
		files:  many(20), composer: sections{"caching": sections{"enabled": false}},
		check: func(t *testing.T, s *service, _ string) {
			explainAll(t, s, 20)
			explainAll(t, s, 20)
			for _, cache := range []string{"resources", "transforms", "templates"} {
				if n := s.cached(cache, "hit") + s.cached(cache, "miss"); n != 0 {
					t.Errorf("cache %s was read %d times, want 0", cache, n)
				}
			}
		},
	},
	"Usual": {
		reason: "Cached objects are reused, and the cache is large enough for all of them.",
		keys:   []string{"composerIngestor.caching.enabled", "composerIngestor.caching.ttl", "composerIngestor.caching.maxSize"},
		files:  many(20),
		check: func(t *testing.T, s *service, _ string) {
			explainAll(t, s, 20)
			time.Sleep(1200 * time.Millisecond)
			before := s.cached("resources", "hit")
			explainAll(t, s, 20)
			if n := s.cached("resources", "hit") - before; n != 20 {
				t.Errorf("%d of 20 objects were still cached, want 20", n)
			}
		},
	},
	"TTL": {
		reason: "Cached objects expire after the configured time.",
		keys:   []string{"composerIngestor.caching.ttl"},
		files:  many(20), composer: sections{"caching": sections{"ttl": 1}},
		check: func(t *testing.T, s *service, _ string) {
			explainAll(t, s, 20)
			time.Sleep(1200 * time.Millisecond)
			before := s.cached("resources", "hit")
			explainAll(t, s, 20)
			if n := s.cached("resources", "hit") - before; n != 0 {
				t.Errorf("%d of 20 objects were still cached, want 0", n)
			}
		},
	},
	"MaxSize": {
		reason: "The cache holds no more objects than configured.",
		keys:   []string{"composerIngestor.caching.maxSize"},
		files:  many(20), composer: sections{"caching": sections{"maxSize": 2}},
		check: func(t *testing.T, s *service, _ string) {
			explainAll(t, s, 20)
			before := s.cached("resources", "hit")
			explainAll(t, s, 20)
			if n := s.cached("resources", "hit") - before; n > 4 {
				t.Errorf("%d of 20 objects were still cached, want at most 4 with a cache of 2", n)
			}
		},
	},
	"Shared": {
		reason: "Services that share a Redis share the results of transforms.",
		keys:   []string{"backend.cache.store", "backend.cache.connection"},
		files:  many(20),
		with: func(t *testing.T, dir string) (sections, sections) {
			shared := redis.Start(t).URL(0)
			other := start(t, setup{redis: shared, sections: composer(sections{
				"watch": false, "sources": []any{sections{"name": "files", "type": "file", "path": dir}},
			})})
			explainAll(t, other, 20)
			if hits := other.cached("transforms", "hit"); hits != 0 {
				t.Fatalf("%d units were found in an empty Redis, want 0", hits)
			}
			other.stop()
			return nil, sections{"redis": shared}
		},
		check: func(t *testing.T, s *service, _ string) {
			explainAll(t, s, 20)
			if hits := s.cached("transforms", "hit"); hits != 20 {
				t.Errorf("%d of 20 units came from Redis, want 20", hits)
			}
		},
	},
}

// many returns n definitions in one file each.
func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("many%ds", i)
		out[name+".yaml"] = definition(name, "one")
	}
	return out
}

// explainAll waits until the catalog has n definitions, and asks for the
// explanation of each.
func explainAll(t *testing.T, s *service, n int) {
	t.Helper()
	s.until("all definitions", func() error {
		refs, err := s.refs("kind=template")
		if err == nil && len(refs) != n {
			err = fmt.Errorf("catalog has %d definitions", len(refs))
		}
		return err
	})
	for i := range n {
		var x inspect.Explanation
		if _, err := s.get(fmt.Sprintf("/api/composer-ingestor/explain/many%ds.%s", i, group), &x); err != nil {
			t.Fatal(err)
		}
		if len(x.Entities) != 3 || x.TakenBy != "composerIngestor" {
			t.Fatalf("explanation is %+v, want three entities of composerIngestor", x)
		}
	}
}

func TestCacheKeys(t *testing.T) { keep(t, cacheKeys) }

// written returns an entity as a generator writes it to a file.
func written(name, title string) string {
	return fmt.Sprintf(`apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: %s, title: %s}
spec: {type: service, lifecycle: production, owner: team}
`, name, title)
}

// generatedKeys has the keys of the provider of generated files.
var generatedKeys = map[string]keyed{
	"Off": {
		reason: "The provider reads nothing if it is disabled.",
		keys:   []string{"catalog.providers.xrdTemplates.enabled"},
		with:   generatedIn(sections{"enabled": false, "watchForChanges": true, "schedule": sections{"frequency": "1s"}}),
		check: func(_ *testing.T, s *service, _ string) {
			time.Sleep(1500 * time.Millisecond)
			s.waitForRefs("")
		},
	},
	"Watch": {
		reason: "Entities in the folder are ingested, and changes of the folder are ingested immediately.",
		keys: []string{
			"catalog.providers.xrdTemplates.enabled", "catalog.providers.xrdTemplates.sourceDirectory", "catalog.providers.xrdTemplates.watchForChanges",
		},
		with: generatedIn(sections{"watchForChanges": true, "schedule": sections{"frequency": "1h"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", "component:default/first")
			put(t, filepath.Join(dir, "out", "second.yaml"), written("second", "Second"))
			s.waitForRefs("", "component:default/first", "component:default/second")
			if err := os.Remove(filepath.Join(dir, "out", "first.yaml")); err != nil {
				t.Fatal(err)
			}
			s.waitForRefs("", "component:default/second")
		},
	},
	"NotWatched": {
		reason: "Without a watch, a change waits for the schedule.",
		keys:   []string{"catalog.providers.xrdTemplates.watchForChanges"},
		with:   generatedIn(sections{"schedule": sections{"frequency": "1h"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", "component:default/first")
			put(t, filepath.Join(dir, "out", "second.yaml"), written("second", "Second"))
			time.Sleep(time.Second)
			s.waitForRefs("", "component:default/first")
		},
	},
	"Frequency": {
		reason: "The schedule finds changes that no watch reported.",
		keys:   []string{"catalog.providers.xrdTemplates.schedule.frequency"},
		with:   generatedIn(sections{"schedule": sections{"frequency": "1s"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", "component:default/first")
			put(t, filepath.Join(dir, "out", "first.yaml"), written("first", "Renamed"))
			s.until("another title", func() error {
				if title := s.entity("component:default/first").Metadata.Title; !strings.Contains(title, "Renamed") {
					return fmt.Errorf("title is %q", title)
				}
				return nil
			})
		},
	},
}

// generatedIn returns a configuration in which the provider reads a folder with
// one entity.
func generatedIn(settings sections) func(*testing.T, string) (sections, sections) {
	return func(t *testing.T, dir string) (sections, sections) {
		put(t, filepath.Join(dir, "out", "first.yaml"), written("first", "First"))
		settings["sourceDirectory"] = filepath.Join(dir, "out")
		return nil, sections{"composerIngestor": nil, "catalog": sections{"providers": sections{"xrdTemplates": settings}}}
	}
}

func TestGeneratedKeys(t *testing.T) { keep(t, generatedKeys) }

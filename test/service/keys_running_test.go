package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/redis"
)

// runningKeys say how it is worked.
var runningKeys = map[string]keyed{
	"Retries": {
		reason: "What cannot be read is tried again as often as the configuration says.",
		keys:   []string{"composerIngestor.processing.retryAttempts", "composerIngestor.processing.retryDelay"},
		with:   unreadable(sections{"retryAttempts": 3, "retryDelay": 50}),
		check: func(t *testing.T, s *service, _ string) {
			s.until("four runs", func() error { return runs(s, 4) })
			time.Sleep(time.Second)
			if err := runs(s, 4); err != nil {
				t.Error(err)
			}
			s.fares(ingest.Unhealthy, nil)
		},
	},
	"NoRetries": {
		reason: "Without retries a scan is tried once.",
		keys:   []string{"composerIngestor.processing.retryAttempts"},
		with:   unreadable(sections{"retryAttempts": 0, "retryDelay": 10}),
		check: func(t *testing.T, s *service, _ string) {
			s.fares(ingest.Unhealthy, nil)
			time.Sleep(time.Second)
			if err := runs(s, 1); err != nil {
				t.Error(err)
			}
		},
	},
	"RetryDelay": {
		reason: "The next attempt waits for as long as the configuration says.",
		keys:   []string{"composerIngestor.processing.retryDelay"},
		with:   unreadable(sections{"retryAttempts": 3, "retryDelay": 600000}),
		check: func(t *testing.T, s *service, _ string) {
			s.fares(ingest.Unhealthy, nil)
			time.Sleep(3 * time.Second)
			if err := runs(s, 1); err != nil {
				t.Error(err)
			}
		},
	},
	"Level": {
		reason: "Less is logged if less is wanted.",
		keys:   []string{"composerIngestor.logging.level"},
		files:  alone, composer: sections{"logging": sections{"level": "error"}},
		check: func(t *testing.T, s *service, dir string) {
			s.wants("", entities("alphas")...)
			put(t, filepath.Join(dir, "bad.yaml"), "{")
			s.scan("")
			s.fares(ingest.Degraded, nil)
			for _, message := range []string{"catalog changed", unreadLine} {
				if lines := s.logged(message); len(lines) != 0 {
					t.Errorf("it is logged: %v", lines)
				}
			}
		},
	},
	"UsualLevel": {
		reason: "Without a word about it changes and failures are logged, each once.",
		keys:   []string{"composerIngestor.logging.level"},
		files:  alone,
		check: func(t *testing.T, s *service, dir string) {
			s.wants("", entities("alphas")...)
			put(t, filepath.Join(dir, "bad.yaml"), "{")
			s.scan("")
			s.scan("")
			// The file that is bad condemns only itself: nothing becomes stale.
			for message, times := range map[string]int{"catalog changed": 1, unreadLine: 1} {
				if lines := s.logged(message); len(lines) != times {
					t.Errorf("%s is logged %d times: %v", message, len(lines), lines)
				}
			}
		},
	},
}

// unreadLine is logged of a source that cannot be read.
const unreadLine = "source cannot be read, wholly or in part; what is known of it stays"

// unreadable is a row with a file that is not there.
func unreadable(processing sections) func(*testing.T, string) (sections, sections) {
	return func(_ *testing.T, dir string) (sections, sections) {
		return sections{
			"processing": processing,
			"sources":    []any{sections{"name": "files", "type": "file", "path": filepath.Join(dir, "missing")}},
		}, nil
	}
}

// runs checks how many scans there were.
func runs(s *service, want int) error {
	var all struct{ Items []ingest.Run }
	if _, err := s.get("/api/composer-ingestor/runs", &all); err != nil {
		return err
	}
	if len(all.Items) != want {
		return fmt.Errorf("there were %d runs, want %d", len(all.Items), want)
	}
	return nil
}

func TestRunningKeys(t *testing.T) { keep(t, runningKeys) }

// cacheKeys say what is kept to be used again.
var cacheKeys = map[string]keyed{
	"Off": {
		reason: "Without caches none is asked.",
		keys:   []string{"composerIngestor.caching.enabled"},
		files:  many(20), composer: sections{"caching": sections{"enabled": false}},
		check: func(t *testing.T, s *service, _ string) {
			explained(t, s, 20)
			explained(t, s, 20)
			for _, cache := range []string{"resources", "transforms", "templates"} {
				if n := s.cached(cache, "hit") + s.cached(cache, "miss"); n != 0 {
					t.Errorf("the cache of %s was asked %d times", cache, n)
				}
			}
		},
	},
	"Usual": {
		reason: "What was loaded is used again, and all of it fits.",
		keys:   []string{"composerIngestor.caching.enabled", "composerIngestor.caching.ttl", "composerIngestor.caching.maxSize"},
		files:  many(20),
		check: func(t *testing.T, s *service, _ string) {
			explained(t, s, 20)
			time.Sleep(1200 * time.Millisecond)
			before := s.cached("resources", "hit")
			explained(t, s, 20)
			if n := s.cached("resources", "hit") - before; n != 20 {
				t.Errorf("%d of 20 objects were still there", n)
			}
		},
	},
	"TTL": {
		reason: "What was loaded is kept for as long as the configuration says.",
		keys:   []string{"composerIngestor.caching.ttl"},
		files:  many(20), composer: sections{"caching": sections{"ttl": 1}},
		check: func(t *testing.T, s *service, _ string) {
			explained(t, s, 20)
			time.Sleep(1200 * time.Millisecond)
			before := s.cached("resources", "hit")
			explained(t, s, 20)
			if n := s.cached("resources", "hit") - before; n != 0 {
				t.Errorf("%d of 20 objects were still there", n)
			}
		},
	},
	"MaxSize": {
		reason: "No more is kept than the configuration says.",
		keys:   []string{"composerIngestor.caching.maxSize"},
		files:  many(20), composer: sections{"caching": sections{"maxSize": 2}},
		check: func(t *testing.T, s *service, _ string) {
			explained(t, s, 20)
			before := s.cached("resources", "hit")
			explained(t, s, 20)
			if n := s.cached("resources", "hit") - before; n > 4 {
				t.Errorf("%d of 20 objects were still there, though 2 are kept", n)
			}
		},
	},
	"Shared": {
		reason: "What one service made, another with the same Redis need not make.",
		keys:   []string{"backend.cache.store", "backend.cache.connection"},
		files:  many(20),
		with: func(t *testing.T, dir string) (sections, sections) {
			shared := redis.Start(t).URL(0)
			other := start(t, setup{redis: shared, sections: composer(sections{
				"watch": false, "sources": []any{sections{"name": "files", "type": "file", "path": dir}},
			})})
			explained(t, other, 20)
			if hits := other.cached("transforms", "hit"); hits != 0 {
				t.Fatalf("%d units were known to an empty Redis", hits)
			}
			other.stop()
			return nil, sections{"redis": shared}
		},
		check: func(t *testing.T, s *service, _ string) {
			explained(t, s, 20)
			if hits := s.cached("transforms", "hit"); hits != 20 {
				t.Errorf("%d of 20 units came from Redis", hits)
			}
		},
	},
}

// many are definitions in a file each.
func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("many%ds", i)
		out[name+".yaml"] = definition(name, "one")
	}
	return out
}

// explained asks for many definitions, one after the other, once all of them are
// there.
func explained(t *testing.T, s *service, n int) {
	t.Helper()
	s.until("all definitions", func() error {
		refs, err := s.refs("kind=template")
		if err == nil && len(refs) != n {
			err = fmt.Errorf("there are %d", len(refs))
		}
		return err
	})
	for i := range n {
		var x ingest.Explanation
		if _, err := s.get(fmt.Sprintf("/api/composer-ingestor/explain/many%ds.%s", i, group), &x); err != nil {
			t.Fatal(err)
		}
		if len(x.Entities) != 3 || x.TakenBy != "composerIngestor" {
			t.Fatalf("it is explained as %+v", x)
		}
	}
}

func TestCacheKeys(t *testing.T) { keep(t, cacheKeys) }

// written is an entity in a file, as a generator writes it.
func written(name, title string) string {
	return fmt.Sprintf(`apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: %s, title: %s}
spec: {type: service, lifecycle: production, owner: team}
`, name, title)
}

// generatedKeys are those of the provider of generated files.
var generatedKeys = map[string]keyed{
	"Off": {
		reason: "Switched off, the provider reads nothing.",
		keys:   []string{"catalog.providers.xrdTemplates.enabled"},
		with:   generatedIn(sections{"enabled": false, "watchForChanges": true, "schedule": sections{"frequency": "1s"}}),
		check: func(_ *testing.T, s *service, _ string) {
			time.Sleep(1500 * time.Millisecond)
			s.wants("")
		},
	},
	"Watch": {
		reason: "Entities of the folder come, and changes of it at once.",
		keys: []string{
			"catalog.providers.xrdTemplates.enabled", "catalog.providers.xrdTemplates.sourceDirectory", "catalog.providers.xrdTemplates.watchForChanges",
		},
		with: generatedIn(sections{"watchForChanges": true, "schedule": sections{"frequency": "1h"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.wants("", "component:default/first")
			put(t, filepath.Join(dir, "out", "second.yaml"), written("second", "Second"))
			s.wants("", "component:default/first", "component:default/second")
			if err := os.Remove(filepath.Join(dir, "out", "first.yaml")); err != nil {
				t.Fatal(err)
			}
			s.wants("", "component:default/second")
		},
	},
	"NotWatched": {
		reason: "Unwatched, a change waits for the schedule.",
		keys:   []string{"catalog.providers.xrdTemplates.watchForChanges"},
		with:   generatedIn(sections{"schedule": sections{"frequency": "1h"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.wants("", "component:default/first")
			put(t, filepath.Join(dir, "out", "second.yaml"), written("second", "Second"))
			time.Sleep(time.Second)
			s.wants("", "component:default/first")
		},
	},
	"Frequency": {
		reason: "The schedule finds what nobody told of.",
		keys:   []string{"catalog.providers.xrdTemplates.schedule.frequency"},
		with:   generatedIn(sections{"schedule": sections{"frequency": "1s"}}),
		check: func(t *testing.T, s *service, dir string) {
			s.wants("", "component:default/first")
			put(t, filepath.Join(dir, "out", "first.yaml"), written("first", "Renamed"))
			s.until("another title", func() error {
				if title := s.entity("component:default/first").Metadata.Title; !strings.Contains(title, "Renamed") {
					return fmt.Errorf("it is called %q", title)
				}
				return nil
			})
		},
	},
}

// generatedIn has the provider read a folder with one entity.
func generatedIn(settings sections) func(*testing.T, string) (sections, sections) {
	return func(t *testing.T, dir string) (sections, sections) {
		put(t, filepath.Join(dir, "out", "first.yaml"), written("first", "First"))
		settings["sourceDirectory"] = filepath.Join(dir, "out")
		return nil, sections{"composerIngestor": nil, "catalog": sections{"providers": sections{"xrdTemplates": settings}}}
	}
}

func TestGeneratedKeys(t *testing.T) { keep(t, generatedKeys) }

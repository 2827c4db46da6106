package service_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// migrating returns a definition that variant B ingests until it is migrated,
// and variant A after that.
func migrating(plural string, migrated bool) string {
	text := formed(plural, "true")
	if !migrated {
		return text
	}
	return strings.Replace(text, `"true"}`, `"true", openportal.dev/ingest: "true", migrated: "yes"}`, 1)
}

// sets polls the Templates of definitions until it is stopped, and records
// definitions that have no Template, or those of both variants.
type sets struct {
	wg   sync.WaitGroup
	stop chan struct{}

	mu    sync.Mutex
	looks int
	wrong []string
}

func look(s *service, plurals []string) *sets {
	l := &sets{stop: make(chan struct{})}
	l.wg.Go(func() {
		for {
			select {
			case <-l.stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			refs, err := s.refs("kind=template")
			l.mu.Lock()
			l.looks++
			if err != nil {
				l.wrong = append(l.wrong, err.Error())
			}
			for _, p := range plurals {
				if a, b := slices.Contains(refs, template(p)), slices.Contains(refs, formedRef(p)); err == nil && a == b {
					l.wrong = append(l.wrong, fmt.Sprintf("%s has the Template of variant A: %v, of variant B: %v", p, a, b))
				}
			}
			l.mu.Unlock()
		}
	})
	return l
}

// end stops polling and fails the test if it recorded an error.
func (l *sets) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	t.Logf("catalog was polled %d times", l.looks)
	if len(l.wrong) > 0 {
		t.Errorf("catalog was wrong %d times; first: %s", len(l.wrong), l.wrong[0])
	}
	if l.looks < 10 {
		t.Errorf("catalog was polled too seldom to see an error")
	}
}

// TestMigration follows docs/migration.md from variant B to variant A, one
// definition at a time. It checks that no definition ever has two sets of
// entities, or none.
func TestMigration(t *testing.T) {
	t.Parallel()
	plurals := []string{"alphas", "betas", "gammas"}
	var text []string
	for _, p := range plurals {
		text = append(text, migrating(p, false))
	}
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: text})
	at, database := cluster("prod", c), inFile(t)
	var ofAll []string
	for _, p := range plurals {
		ofAll = append(ofAll, variantBRefs(p)...)
	}

	// Only variant B is enabled.
	s := start(t, setup{database: database, sections: both(at, sections{}, nil)})
	s.waitForRefs("", slices.Clone(ofAll)...)
	before := s.waitUntilStable()
	s.stop()

	// Variant A is enabled too, with a filter that selects nothing yet.
	filter := sections{"xrdFilters": sections{"labelSelector": "migrated=yes"}}
	s = start(t, setup{database: database, sections: both(at, sections{}, composer(filter, at))})
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
	s.waitForRefs("", slices.Clone(ofAll)...)
	s.checkUnchanged(before, ofAll...)

	l := look(s, plurals)
	for i, p := range plurals {
		c.Apply(t, migrating(p, true))
		var want []string
		for _, done := range plurals[:i+1] {
			want = append(want, entities(done)...)
		}
		for _, still := range plurals[i+1:] {
			want = append(want, variantBRefs(still)...)
		}
		s.waitForRefs("", want...)
	}
	// One definition is migrated back and then again.
	c.Apply(t, migrating("betas", false))
	s.shows(formedRef("betas"))
	c.Apply(t, migrating("betas", true))
	s.waitForRefs("", entities(plurals...)...)
	l.end(t)
	var x struct {
		TakenBy string
		LeftBy  []string
	}
	if _, err := s.get("/api/composer-ingestor/explain/betas."+group, &x); err != nil || x.TakenBy != "composerIngestor" || !slices.Equal(x.LeftBy, []string{"clusterIngestor"}) {
		t.Errorf("explanation is %+v (error %v), want it taken by composerIngestor", x, err)
	}
	before = s.waitUntilStable()
	s.stop()

	// Variant B is disabled; the filter is no longer needed.
	s = start(t, setup{database: database, sections: both(at, sections{"enabled": false}, composer(nil, at))})
	s.waitForRefs("", entities(plurals...)...)
	s.scan(prod)
	s.waitForRefs("", entities(plurals...)...)
	s.checkUnchanged(before, entities(plurals...)...)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
}

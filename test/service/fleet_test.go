package service_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/fleet"
)

// TestFleetOutage checks that an outage of several clusters, which fail one by one,
// writes each entity once: as stale, and later as fresh. Most definitions are in all
// clusters. Nothing is removed.
func TestFleetOutage(t *testing.T) {
	t.Parallel()
	f, err := fleet.Start(fleet.Options{Clusters: 4, Common: 8, Own: 2, Fields: 3, Kinds: 10, Composites: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	var clusters []sections
	for _, c := range f.Clusters {
		clusters = append(clusters, sections{"name": c.Name, "url": c.URL(), "authProvider": "token", "token": theToken, "skipTLSVerify": true})
	}
	s := start(t, setup{sections: composer(sections{"processing": sections{"retryAttempts": 0}}, clusters...)})
	s.until("all Templates", func() error {
		got, err := s.refs("kind=template")
		if err == nil && len(got) != f.Definitions() {
			err = fmt.Errorf("the catalog has %d Templates, want %d", len(got), f.Definitions())
		}
		return err
	})
	s.wantHealth("healthy", nil)
	s.composites(4)
	before := s.contents()

	// written counts the entities that were written since a time, and checks that none
	// was removed or added.
	written := func(since time.Time) int {
		t.Helper()
		var runs struct{ Items []ingest.Run }
		if _, err := s.get("/api/composer-ingestor/runs?limit=500", &runs); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range runs.Items {
			if r.Started.Before(since) {
				continue
			}
			n += r.Updated
			if r.Added+r.Removed > 0 {
				t.Errorf("a run added %d entities and removed %d", r.Added, r.Removed)
			}
		}
		return n
	}
	// turned waits until all entities, or none, are stale.
	turned := func(all bool, since time.Time) {
		t.Helper()
		s.until("stale entities", func() error {
			stale, err := s.refs("metadata.annotations.backstage.io/stale")
			if want := map[bool]int{true: len(before)}[all]; err == nil && len(stale) != want {
				err = fmt.Errorf("%d entities are stale, want %d", len(stale), want)
			}
			return err
		})
		s.until("the run", func() error {
			if n := written(since); n < len(before) {
				return fmt.Errorf("%d entities were written", n)
			}
			return nil
		})
		if n := written(since); n != len(before) {
			t.Errorf("%d entities were written, want %d, each once", n, len(before))
		}
		if diff := cmp.Diff(before, s.contents()); diff != "" {
			t.Errorf("entities changed in more than their stale marks:\n%s", diff)
		}
	}
	began := time.Now()
	for _, c := range f.Clusters {
		if err := c.Down(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
	}
	s.wantHealth("unhealthy", nil)
	turned(true, began)

	began = time.Now()
	if err := f.Up(); err != nil {
		t.Fatal(err)
	}
	// The watches have a backoff.
	if _, err := s.ask(http.MethodPost, "/api/composer-ingestor/runs", nil, nil); err != nil {
		t.Fatal(err)
	}
	s.wantHealth("healthy", nil)
	turned(false, began)
}

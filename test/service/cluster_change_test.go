package service_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/test/apiserver"
)

// TestClusterChange renames definitions and removes them from the filter. It
// checks a service that watches the cluster and one that only scans it.
func TestClusterChange(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{Apply: []string{
		definition("alphas", "one"), definition("betas", "one"), composition("alpha-one", "alphas"),
	}})
	live := start(t, setup{sections: composer(nil, cluster("prod", c))})
	slow := start(t, setup{sections: composer(sections{"watch": false}, cluster("prod", c))})
	const kept = "resource:default/alpha-one-composition"
	first := slices.Concat(entities("alphas", "betas"), []string{kept})
	live.waitForRefs("", first...)
	slow.waitForRefs("", first...)
	stamps := map[*service]map[string]string{live: live.stamps(""), slow: slow.stamps("")}
	// both waits until both services have the entities, the second one after a
	// scan, and checks that other entities are unchanged.
	both := func(t *testing.T, refs ...string) (run ingest.Run) {
		t.Helper()
		for _, s := range []*service{live, slow} {
			here := *s
			here.t = t
			if s == slow {
				run = here.scan(prod)
				if got, err := here.refs(""); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(refs))) {
					t.Errorf("catalog has %v after the scan (error %v), want %v", got, err, refs)
				}
			}
			here.waitForRefs("", refs...)
			here.checkUnchanged(stamps[s], entities("betas")...)
			here.wantHealth("healthy", nil)
		}
		return run
	}

	t.Run("Renamed", func(t *testing.T) {
		// The kind stays the same, so the Composition still applies.
		renamed := strings.NewReplacer("name: alphas.", "name: omegas.", "plural: alphas", "plural: omegas").Replace(definition("alphas", "one"))
		c.Apply(t, renamed)
		here := *live
		here.t = t
		here.waitForRefs("", append(entities("omegas"), first...)...)
		c.Delete(t, definition("alphas", "one"))
		run := both(t, slices.Concat(entities("omegas", "betas"), []string{kept})...)
		if run.Removed < 3 || run.Added < 3 || run.Error != "" {
			t.Errorf("run is %+v, want one run that removes the old entities and adds the new ones", run)
		}
		for _, s := range []*service{live, slow} {
			if f := s.entity(kept); !strings.Contains(string(f.Spec), "omegas."+group+"-xrd") {
				t.Errorf("Composition belongs to %s, want the renamed definition", f.Spec)
			}
		}
		c.Delete(t, renamed)
		c.Apply(t, definition("alphas", "one"))
		both(t, first...)
	})

	t.Run("Relabelled", func(t *testing.T) {
		before := live.stamps("")
		c.Apply(t, labelled("alphas", "one", "openportal.dev/ingest", "false"))
		both(t, entities("betas")...)
		var x inspect.Explanation
		if _, err := live.get("/api/composer-ingestor/explain/alphas."+group, &x); err != nil || len(x.Copies) != 1 || !strings.Contains(x.Copies[0].Refused, "/ingest") {
			t.Errorf("explain returned %+v (error %v), want the label named", x.Copies, err)
		}
		c.Apply(t, definition("alphas", "one"))
		both(t, first...)
		live.checkUnchanged(before, entities("betas")...)
	})

	t.Run("Storm", func(t *testing.T) { changeManyDefinitions(t, c, live) })
}

// changeManyDefinitions changes 250 definitions four times each, as fast as the API server
// accepts the changes.
func changeManyDefinitions(t *testing.T, c *apiserver.Server, s *service) {
	const many, times = 250, 4
	var text strings.Builder
	plurals := make([]string, many)
	for i := range plurals {
		plurals[i] = fmt.Sprintf("storms%03ds", i)
		text.WriteString("---\n" + definition(plurals[i], "round0"))
	}
	c.Apply(t, text.String())
	settled := func(round int) {
		t.Helper()
		s.until("final state of all definitions", func() error {
			var all []found
			if _, err := s.get("/api/catalog/entities?filter=kind=template", &all); err != nil {
				return err
			}
			n := 0
			for _, f := range all {
				if strings.Contains(string(f.Spec), fmt.Sprint("round", round)) {
					n++
				}
			}
			if n != many {
				return fmt.Errorf("%d definitions are in the final state, want %d", n, many)
			}
			return nil
		})
	}
	settled(0)
	runs := func() int {
		t.Helper()
		all, err := s.runs("")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	const events = `composer_ingestor_watch_events_total{cluster="prod"}`
	ran, told, began := runs(), s.metric(events), time.Now()
	for round := 1; round <= times; round++ {
		var group sync.WaitGroup
		next := make(chan string)
		for range 8 {
			group.Go(func() {
				for plural := range next {
					if err := changeField(t, c, plural, round); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for _, p := range plurals {
			next <- p
		}
		close(next)
		group.Wait()
	}
	took := time.Since(began)
	settled(times)
	told, ran = s.metric(events)-told, runs()-ran
	t.Logf("%.0f events in %v became %d syncs", told, took.Round(time.Millisecond), ran)
	// Events are batched for at most a quarter of a second.
	if most := int(took/(200*time.Millisecond)) + 10; told < many*times || ran == 0 || ran > most {
		t.Errorf("%.0f events in %v became %d syncs, want at least %d events and between 1 and %d syncs", told, took, ran, many*times, most)
	}
	s.wantHealth("healthy", nil)
}

// changeField replaces a field of a definition.
func changeField(t *testing.T, c *apiserver.Server, plural string, round int) error {
	body := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties","value":{"round%d":{"type":"string"}}}]`, round)
	at := c.URL + "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions/" + plural + "." + group
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, at, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json-patch+json")
	resp, err := c.Client().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot change %s: %s", plural, resp.Status)
	}
	return nil
}

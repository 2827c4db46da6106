package ingest

import (
	"strings"
	"testing"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/object"
)

// TestNeverGranted checks a service whose account may list only definitions: it
// is healthy, and logs once which list is not tracked. A list that it could read
// earlier and may not read any more stays, is stale, and makes the service
// degraded.
func TestNeverGranted(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, aComposition("one", "as"), 51)
	a.deny("compositions", true)
	b := abroad(t, a, nil)
	const composed = "Resource one-composition"
	list := object.ListCompositions + "compositions." + theGroup
	steps := []struct {
		reason    string
		do        func()
		state     string
		status    string
		untracked bool
		there     bool
	}{
		{"A list that was never allowed is not tracked.", func() {}, health.Connected, health.Healthy, true, false},
		{"The second scan behaves like the first.", func() {}, health.Connected, health.Healthy, true, false},
		{"A list that becomes allowed is read.", func() { a.deny("compositions", false) }, health.Connected, health.Healthy, false, true},
		{"A list that is denied later is stale.", func() { a.deny("compositions", true) }, health.Partial, health.Degraded, false, true},
		{"A denied list stays stale.", func() {}, health.Partial, health.Degraded, false, true},
		{"Once the list is disabled, its objects are removed.", func() { b.variants[0].NoCompositions = true }, health.Connected, health.Healthy, false, false},
	}
	for _, step := range steps {
		step.do()
		_, err := b.visit(t)
		h, s := b.healthOf(t)
		if s.State != step.state || h.Status != step.status || (err == nil) != (step.status == health.Healthy) {
			t.Errorf("%s\nservice is %s, the source %s (%v)", step.reason, h.Status, s.State, err)
		}
		if hint := s.Untracked[list]; (hint != "") != step.untracked || step.untracked && !strings.Contains(hint, "set composerIngestor.compositions.enabled: false") {
			t.Errorf("%s\nhint about the untracked list is %q", step.reason, s.Untracked)
		}
		text, there := b.catalog.entries()[composed]
		if there != step.there || strings.Contains(text, "stale-since") != (step.status == health.Degraded) {
			t.Errorf("%s\nComposition exists: %v: %s", step.reason, there, text)
		}
	}
	if n := b.logged("list not tracked: account may not read it"); n != 1 {
		t.Errorf("notice was logged %d times, want once:\n%s", n, b.log)
	}
	if strings.Contains(b.log.String(), `"level":"WARN","msg":"list not tracked`) {
		t.Errorf("notice was logged as a warning:\n%s", b.log)
	}
}

// TestNoComposites checks that composites of a folder are ignored if they are
// disabled.
func TestNoComposites(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, nil)
	b.sources["files"].set("a.yaml", definition("a", "one"))
	b.sources["files"].set("b.yaml", "apiVersion: example.org/v1\nkind: Xa\nmetadata: {name: mine, namespace: default}\n")
	for _, off := range []bool{false, true} {
		b.variants[0].NoComposites = off
		if _, err := b.read(t, "files"); err != nil {
			t.Fatal(err)
		}
		there := 0
		for _, text := range b.catalog.entries() {
			if strings.Contains(text, `"type":"crossplane-xr"`) {
				there++
			}
		}
		if (there == 0) != off {
			t.Errorf("with composites disabled: %v, mirror has %d composites", off, there)
		}
	}
}

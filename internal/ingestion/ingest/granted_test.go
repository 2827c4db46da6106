package ingest

import (
	"strings"
	"testing"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
)

// TestNeverGranted follows a service whose account may list definitions alone: it
// is healthy, and says once what is not tracked. What it could read before and may
// not any more is another thing: it stays, is stale, and the service is degraded.
func TestNeverGranted(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, aComposition("one", "as"), 51)
	a.deny("compositions", true)
	b := abroad(t, a, nil)
	const composed = "Resource one-composition"
	list := listCompositions + "compositions." + theGroup
	steps := []struct {
		reason    string
		do        func()
		state     string
		status    string
		untracked bool
		there     bool
	}{
		{"It was never allowed to.", func() {}, Connected, Healthy, true, false},
		{"Nor is it now.", func() {}, Connected, Healthy, true, false},
		{"It is allowed to.", func() { a.deny("compositions", false) }, Connected, Healthy, false, true},
		{"It is not any more.", func() { a.deny("compositions", true) }, Partial, Degraded, false, true},
		{"It still is not.", func() {}, Partial, Degraded, false, true},
		{"The list is switched off, so that what was known goes.", func() { b.parts[0].NoCompositions = true }, Connected, Healthy, false, false},
	}
	for _, step := range steps {
		step.do()
		_, err := b.visit(t)
		h, s := b.fares(t)
		if s.State != step.state || h.Status != step.status || (err == nil) != (step.status == Healthy) {
			t.Errorf("%s\nit is %s, the source %s (%v)", step.reason, h.Status, s.State, err)
		}
		if hint := s.Untracked[list]; (hint != "") != step.untracked || step.untracked && !strings.Contains(hint, "set composerIngestor.compositions.enabled: false") {
			t.Errorf("%s\nnot tracked: %q", step.reason, s.Untracked)
		}
		text, there := b.catalog.entries()[composed]
		if there != step.there || strings.Contains(text, "stale-since") != (step.status == Degraded) {
			t.Errorf("%s\nthe Composition is there: %v: %s", step.reason, there, text)
		}
	}
	if n := b.logged("list is not tracked: the account may not read it"); n != 1 {
		t.Errorf("it was said %d times, want once:\n%s", n, b.log)
	}
	if strings.Contains(b.log.String(), `"level":"WARN","msg":"list is not tracked`) {
		t.Errorf("it is no warning:\n%s", b.log)
	}
}

// TestNoComposites reads a folder of which composites are not wanted.
func TestNoComposites(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, nil)
	b.sources["files"].set("a.yaml", definition("a", "one"))
	b.sources["files"].set("b.yaml", "apiVersion: example.org/v1\nkind: Xa\nmetadata: {name: mine, namespace: default}\n")
	for _, off := range []bool{false, true} {
		b.parts[0].NoComposites = off
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
			t.Errorf("switched off: %v; %d composites are there", off, there)
		}
	}
}

// TestNoKinds has a cluster give a kind of which composites are not wanted: none
// is listed or followed.
func TestNoKinds(t *testing.T) {
	t.Parallel()
	k := cluster.Kind{Resource: cluster.Resource{Group: "example.org", Version: "v1", Plural: "as"}, Kind: "Xa"}
	objects := []mirror.Object{{List: theDefinitions, Key: "as.example.org", Note: note{Kinds: []cluster.Kind{k}}.encode()}}
	for _, off := range []bool{false, true} {
		d := &definitions{target: &target{variant: &variant{Variant: &Variant{NoComposites: off}}}}
		if kinds := d.kindsOf(objects); (len(kinds) == 0) != off {
			t.Errorf("switched off: %v; the kinds are %v", off, kinds)
		}
	}
}

package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
)

// odd returns a definition with a finding: a default of the wrong type.
func odd(plural string) string {
	return strings.Replace(definition(plural, "size"), "{size: {type: string}}", "{size: {type: integer, default: many}}", 1)
}

// looks processes all pending checks.
func (b *harness) looks(t *testing.T) {
	t.Helper()
	for {
		n, err := b.InspectBatch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// finds returns the findings of a query.
func (b *harness) finds(t *testing.T, q inspect.FindingsQuery) inspect.Findings {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	f, err := b.Findings(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFindings(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf", "other"}, nil)
	b.sources["shelf"].set("a", odd("as"))
	b.sources["shelf"].set("b", definition("bs", "size"))
	b.sources["other"].set("a", odd("as"))
	for name := range b.sources {
		if _, err := b.read(t, name); err != nil {
			t.Fatal(err)
		}
	}
	before := b.finds(t, inspect.FindingsQuery{})
	if len(before.Items) != 0 || before.Pending != 2 {
		t.Errorf("findings before the first check are %+v, want none and 2 pending", before)
	}
	b.looks(t)
	found := b.finds(t, inspect.FindingsQuery{})
	x, ok, err := b.Explain(t.Context(), "as.example.org")
	if err != nil || !ok || len(x.Findings) == 0 {
		t.Fatalf("definition has no findings: %+v (%v)", x, err)
	}
	var same []status.Finding
	for _, f := range found.Items {
		if f.Definition == "as.example.org" {
			same = append(same, f.Finding)
		}
	}
	byRule := cmp.Transformer("set", func(all []status.Finding) map[status.Finding]int {
		out := map[status.Finding]int{}
		for _, f := range all {
			out[f]++
		}
		return out
	})
	if diff := cmp.Diff(x.Findings, same, byRule); diff != "" {
		t.Errorf("stored findings differ from those of explain:\n%s", diff)
	}
	errors := finding.Error
	worst := b.finds(t, inspect.FindingsQuery{Severity: &errors})
	if len(worst.Items) != 1 || worst.TotalItems != 1 || worst.Pending != 0 {
		t.Fatalf("findings with severity error are %+v, want one", worst)
	}
	f := worst.Items[0]
	if f.Rule != worst.Rules[0].Rule || f.Severity != "error" || f.Object != "as.example.org" || !strings.HasPrefix(f.Entity, "resource:default/") {
		t.Errorf("finding is %+v, want the error of as.example.org", f)
	}
	if diff := cmp.Diff([]string{"composerIngestor/sources/other", "composerIngestor/sources/shelf"}, f.Sources); diff != "" {
		t.Error(diff)
	}
	if r := worst.Rules[0]; r.Title == "" || r.Why == "" || r.Findings != 1 || r.Definitions != 1 || r.Severity != "error" {
		t.Errorf("summary of the rule is %+v, want one finding with title and explanation", r)
	}
	if none := b.finds(t, inspect.FindingsQuery{Cluster: "prod"}); none.TotalItems != 0 {
		t.Errorf("findings of an unknown cluster are %+v, want none", none)
	}

	// A fixed definition has no finding any more, and a removed one has none at all.
	for name := range b.sources {
		b.sources[name].set("a", definition("as", "size"))
		b.sources[name].set("b", "")
		if _, err := b.read(t, name); err != nil {
			t.Fatal(err)
		}
	}
	b.looks(t)
	after := b.finds(t, inspect.FindingsQuery{})
	for _, f := range after.Items {
		if f.Severity == "error" || f.Definition == "bs.example.org" {
			t.Errorf("finding is still listed: %+v", f)
		}
	}
}

// TestFindingsBounded has a definition with more findings than are stored, and
// one that breaks the engine.
func TestFindingsBounded(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf"}, func(o *Options) {
		o.Variants[0].Extension.Transformer = func(next engine.Transformer) engine.Transformer { return brittle{next} }
	})
	b.sources["shelf"].set("many", definition("as", "size"))
	const mostFindings = 200
	for i := range mostFindings + 50 {
		b.sources["shelf"].set(fmt.Sprint("composition", i), strings.Replace(aComposition(fmt.Sprint("c", i), "as"), "mode: Pipeline", "mode: Nothing", 1))
	}
	b.sources["shelf"].set("broken", definition("bs", "breaks"))
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.looks(t)
	found := b.finds(t, inspect.FindingsQuery{})
	of := map[string]int{}
	for _, r := range found.Rules {
		of[r.Rule] = r.Findings
	}
	if found.TotalItems <= mostFindings || found.TotalItems > mostFindings+5 || of["ENG000"] != 1 || len(found.Items) != 100 {
		t.Errorf("%d findings are stored, by rule: %v", found.TotalItems, of)
	}
	for _, f := range found.Items {
		if f.Rule == "ENG000" && strings.Count(f.Message, "cannot transform") != 1 {
			t.Errorf("message of ENG000 is %q, want the prefix once", f.Message)
		}
	}
	b.sources["shelf"].set("broken", "")
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.looks(t)
	if mended := b.finds(t, inspect.FindingsQuery{Rule: "ENG000"}); mended.TotalItems != 0 {
		t.Errorf("failures of a fixed definition are still listed: %+v", mended.Items)
	}
}

// brittle fails on one definition.
type brittle struct{ engine.Transformer }

// Transform implements engine.Transformer.
func (f brittle) Transform(in engine.Input) (engine.Result, error) {
	if in.Definition.Names.Kind == "Xbs" {
		panic("it breaks")
	}
	return f.Transformer.Transform(in)
}

// TestFindingsByThemselves checks that the service computes findings without a
// request.
func TestFindingsByThemselves(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf"}, func(o *Options) { queued(t, o) })
	b.start(t)
	b.sources["shelf"].set("a", odd("as"))
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.buildSoon()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		f := b.finds(t, inspect.FindingsQuery{})
		if f.Pending == 0 && f.TotalItems > 0 {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("findings after a minute are %+v", f)
		}
	}
}

// TestChanges checks that runs store their changes.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf"}, nil)
	last := func() Run {
		t.Helper()
		if _, err := b.read(t, "shelf"); err != nil {
			t.Fatal(err)
		}
		runs, err := b.Runs(t.Context(), 1)
		if err != nil || len(runs) != 1 || runs[0].Changes != nil {
			t.Fatalf("runs are %+v (%v), want one without changes", runs, err)
		}
		run, ok, err := b.RunOf(t.Context(), runs[0].ID)
		if err != nil || !ok || run.ID != runs[0].ID || run.Changes == nil {
			t.Fatalf("run is %+v (%v), want the last with its changes", run, err)
		}
		return run
	}
	refs := func(plural string) []string {
		return []string{"API " + plural + ".example.org-api", "Resource " + plural + ".example.org-xrd", "Template " + plural + ".example.org"}
	}
	b.sources["shelf"].set("a", definition("as", "size"))
	if diff := cmp.Diff(&batch.Changes{Added: refs("as"), Updated: []string{}, Removed: []string{}, Failed: []string{}, Refused: []string{}}, last().Changes); diff != "" {
		t.Errorf("changes of the first run: %s", diff)
	}
	b.sources["shelf"].set("a", definition("as", "depth"))
	b.sources["shelf"].set("b", definition("bs", "size"))
	run := last()
	if diff := cmp.Diff(refs("bs"), run.Changes.Added); diff != "" || len(run.Changes.Updated) != run.Updated || run.Updated == 0 {
		t.Errorf("changes of the second run are %+v", run.Changes)
	}
	b.sources["shelf"].set("b", "")
	if diff := cmp.Diff(&batch.Changes{Added: []string{}, Updated: []string{}, Removed: refs("bs"), Failed: []string{}, Refused: []string{}}, last().Changes); diff != "" {
		t.Errorf("changes of the last run: %s", diff)
	}
	for i := range 50 {
		b.sources["shelf"].set(fmt.Sprint("many", i), definition(fmt.Sprintf("m%ds", i), "size"))
	}
	if run := last(); run.Added != 150 || len(run.Changes.Added) != 100 {
		t.Errorf("of %d additions %d are stored", run.Added, len(run.Changes.Added))
	}
	for _, id := range []string{"", "x", "-1", "99999999999999999999999"} {
		if _, ok, err := b.RunOf(t.Context(), id); ok || err != nil {
			t.Errorf("run %q exists (%v), want none", id, err)
		}
	}
	// A run of an older version has no changes.
	if err := b.Mirror.AddRun(t.Context(), b.Now(), mirror.Run{Body: []byte(`{"trigger":"manual","added":3}`)}); err != nil {
		t.Fatal(err)
	}
	runs, err := b.Runs(t.Context(), 1)
	if err != nil || runs[0].Added != 3 || runs[0].Changes != nil {
		t.Errorf("old run is %+v (%v), want it without changes", runs, err)
	}
}

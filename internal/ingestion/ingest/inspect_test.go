package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/xrd/lint"
)

// odd is a definition with something to be said about: a default that is not of
// its type.
func odd(plural string) string {
	return strings.Replace(definition(plural, "size"), "{size: {type: string}}", "{size: {type: integer, default: many}}", 1)
}

// looks has all that changed looked at.
func (b *harness) looks(t *testing.T) {
	t.Helper()
	for {
		n, err := b.inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// finds returns what is found.
func (b *harness) finds(t *testing.T, q FindingsQuery) Findings {
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
	before := b.finds(t, FindingsQuery{})
	if len(before.Items) != 0 || before.Pending != 2 {
		t.Errorf("before anybody looked, it is %+v", before)
	}
	b.looks(t)
	found := b.finds(t, FindingsQuery{})
	x, ok, err := b.Explain(t.Context(), "as.example.org")
	if err != nil || !ok || len(x.Findings) == 0 {
		t.Fatalf("the definition is good: %+v (%v)", x, err)
	}
	var same []Finding
	for _, f := range found.Items {
		if f.Definition == "as.example.org" {
			same = append(same, f.Finding)
		}
	}
	byRule := cmp.Transformer("set", func(all []Finding) map[Finding]int {
		out := map[Finding]int{}
		for _, f := range all {
			out[f]++
		}
		return out
	})
	if diff := cmp.Diff(x.Findings, same, byRule); diff != "" {
		t.Errorf("what is found is not what explain says:\n%s", diff)
	}
	errors := finding.Error
	worst := b.finds(t, FindingsQuery{Severity: &errors})
	if len(worst.Items) != 1 || worst.TotalItems != 1 || worst.Pending != 0 {
		t.Fatalf("with errors there is %+v", worst)
	}
	f := worst.Items[0]
	if f.Rule != worst.Rules[0].Rule || f.Severity != "error" || f.Object != "as.example.org" || !strings.HasPrefix(f.Entity, "resource:default/") {
		t.Errorf("it is %+v", f)
	}
	if diff := cmp.Diff([]string{"composerIngestor/sources/other", "composerIngestor/sources/shelf"}, f.Sources); diff != "" {
		t.Error(diff)
	}
	if r := worst.Rules[0]; r.Title == "" || r.Why == "" || r.Findings != 1 || r.Definitions != 1 || r.Severity != "error" {
		t.Errorf("of the rule it says %+v", r)
	}
	if none := b.finds(t, FindingsQuery{Cluster: "prod"}); none.TotalItems != 0 {
		t.Errorf("a cluster that is none has %+v", none)
	}

	// What is mended is found no more, and what is gone has nothing.
	for name := range b.sources {
		b.sources[name].set("a", definition("as", "size"))
		b.sources[name].set("b", "")
		if _, err := b.read(t, name); err != nil {
			t.Fatal(err)
		}
	}
	b.looks(t)
	after := b.finds(t, FindingsQuery{})
	for _, f := range after.Items {
		if f.Severity == "error" || f.Definition == "bs.example.org" {
			t.Errorf("there still is %+v", f)
		}
	}
}

// TestFindingsBounded has a definition with more to say than anybody reads, and
// one that breaks the engine.
func TestFindingsBounded(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf"}, func(o *Options) {
		o.Variants[0].Extension.Transformer = func(next engine.Transformer) engine.Transformer { return brittle{next} }
	})
	b.sources["shelf"].set("many", definition("as", "size"))
	for i := range mostFindings + 50 {
		b.sources["shelf"].set(fmt.Sprint("composition", i), strings.Replace(aComposition(fmt.Sprint("c", i), "as"), "mode: Pipeline", "mode: Nothing", 1))
	}
	b.sources["shelf"].set("broken", definition("bs", "breaks"))
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.looks(t)
	found := b.finds(t, FindingsQuery{})
	of := map[string]int{}
	for _, r := range found.Rules {
		of[r.Rule] = r.Findings
	}
	if found.TotalItems <= mostFindings || found.TotalItems > mostFindings+5 || of["ENG000"] != 1 || len(found.Items) != 100 {
		t.Errorf("found are %d: %v", found.TotalItems, of)
	}
	for _, f := range found.Items {
		if f.Rule == "ENG000" && strings.Count(f.Message, "cannot transform") != 1 {
			t.Errorf("it says %q", f.Message)
		}
	}
	b.sources["shelf"].set("broken", "")
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.looks(t)
	if mended := b.finds(t, FindingsQuery{Rule: "ENG000"}); mended.TotalItems != 0 {
		t.Errorf("what is mended is still said to fail: %+v", mended.Items)
	}
	if rule := lint.Rules[0]; ruleOf(rule.ID) != rule {
		t.Errorf("rule %s is not known", rule.ID)
	}
}

// brittle breaks on one.
type brittle struct{ engine.Transformer }

// Transform implements engine.Transformer.
func (f brittle) Transform(in engine.Input) (engine.Result, error) {
	if in.Definition.Names.Kind == "Xbs" {
		panic("it breaks")
	}
	return f.Transformer.Transform(in)
}

// TestFindingsByThemselves has the service find out what is wrong without being
// asked.
func TestFindingsByThemselves(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"shelf"}, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx)
	}()
	defer func() { stop(); <-ended }()
	b.sources["shelf"].set("a", odd("as"))
	if _, err := b.read(t, "shelf"); err != nil {
		t.Fatal(err)
	}
	b.rouse()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		f := b.finds(t, FindingsQuery{})
		if f.Pending == 0 && f.TotalItems > 0 {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("after a minute there is %+v", f)
		}
	}
}

// TestChanges has runs remember what they changed.
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
			t.Fatalf("runs are %+v (%v)", runs, err)
		}
		run, ok, err := b.RunOf(t.Context(), runs[0].ID)
		if err != nil || !ok || run.ID != runs[0].ID || run.Changes == nil {
			t.Fatalf("the run is %+v (%v)", run, err)
		}
		return run
	}
	refs := func(plural string) []string {
		return []string{"API " + plural + ".example.org-api", "Resource " + plural + ".example.org-xrd", "Template " + plural + ".example.org"}
	}
	b.sources["shelf"].set("a", definition("as", "size"))
	if diff := cmp.Diff(&Changes{refs("as"), []string{}, []string{}, []string{}, []string{}}, last().Changes); diff != "" {
		t.Errorf("at first: %s", diff)
	}
	b.sources["shelf"].set("a", definition("as", "depth"))
	b.sources["shelf"].set("b", definition("bs", "size"))
	run := last()
	if diff := cmp.Diff(refs("bs"), run.Changes.Added); diff != "" || len(run.Changes.Updated) != run.Updated || run.Updated == 0 {
		t.Errorf("then: %+v", run.Changes)
	}
	b.sources["shelf"].set("b", "")
	if diff := cmp.Diff(&Changes{[]string{}, []string{}, refs("bs"), []string{}, []string{}}, last().Changes); diff != "" {
		t.Errorf("at last: %s", diff)
	}
	for i := range 50 {
		b.sources["shelf"].set(fmt.Sprint("many", i), definition(fmt.Sprintf("m%ds", i), "size"))
	}
	if run := last(); run.Added != 150 || len(run.Changes.Added) != mostChanges {
		t.Errorf("of %d there are %d", run.Added, len(run.Changes.Added))
	}
	for _, id := range []string{"", "x", "-1", "99999999999999999999999"} {
		if _, ok, err := b.RunOf(t.Context(), id); ok || err != nil {
			t.Errorf("there is a run %q (%v)", id, err)
		}
	}
	// What an older program wrote has none.
	if err := b.Memory.AddRun(t.Context(), b.Now(), mirror.Run{Body: []byte(`{"trigger":"manual","added":3}`)}); err != nil {
		t.Fatal(err)
	}
	runs, err := b.Runs(t.Context(), 1)
	if err != nil || runs[0].Added != 3 || runs[0].Changes != nil {
		t.Errorf("an old run is %+v (%v)", runs, err)
	}
}

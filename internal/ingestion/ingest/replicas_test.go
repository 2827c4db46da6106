package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/unit"
)

// reads scans a source and fails the test on an error.
func (b *harness) reads(t *testing.T, name string) {
	t.Helper()
	if _, err := b.read(t, name); err != nil {
		t.Fatal(err)
	}
}

// TestEmptyFolder checks a folder that becomes empty, as it may only be
// unmounted.
func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, nil)
	nearly := b.targets[0].Every*9/10 - 10*time.Second
	steps := []struct {
		reason string
		after  time.Duration
		full   bool
		// pending reports whether the removal is held; want is then in the catalog.
		pending bool
		want    []string
	}{
		{"The definitions of a full folder are in the catalog.", 0, true, false, three("as")},
		{"A folder that suddenly becomes empty is held.", 0, false, true, three("as")},
		{"A folder that is empty for less than a period is held.", nearly, false, true, three("as")},
		{"A folder that is full again is not held.", 0, true, false, three("as")},
		{"The earlier empty time does not count when the folder becomes empty again.", nearly, false, true, three("as")},
		{"The period is not over yet.", nearly, false, true, three("as")},
		{"A folder that stays empty for a period is removed.", 20 * time.Second, false, false, nil},
		{"After the removal nothing is pending.", 0, false, false, nil},
	}
	for _, step := range steps {
		b.later(step.after)
		b.sources["files"].set("a", "")
		if step.full {
			b.sources["files"].set("a", definition("as", "one"))
		}
		b.reads(t, "files")
		b.has(t, step.reason, step.want)
		status, state := health.Healthy, health.Connected
		if step.pending {
			status, state = health.Degraded, health.Pending
		}
		if h, s := b.healthOf(t); h.Status != status || s.State != state || (s.PendingRemoval != nil) != step.pending || (s.StaleObjects > 0) != step.pending {
			t.Errorf("%s\nhealth is %+v", step.reason, h)
		}
	}
}

// joining creates another replica of a harness, with the same mirror, catalog
// and clock.
func (b *harness) joining(t *testing.T, names []string, change func(*Options)) *harness {
	t.Helper()
	return newHarness(t, names, func(o *Options) {
		o.Mirror, o.Catalog, o.Now = b.Mirror, b.Catalog, b.Now
		change(o)
	})
}

// TestTidy has a replica whose configuration lacks a source that another one
// reads.
func TestTidy(t *testing.T) {
	t.Parallel()
	said := func(t *testing.T, newer *harness) {
		t.Helper()
		if err := newer.drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		// before runs on the newer replica before the other starts.
		before func(t *testing.T, newer *harness)
		sole   bool
		goes   bool
	}{
		"Live": {
			"A source that another replica announced two minutes ago stays.",
			func(t *testing.T, newer *harness) { said(t, newer); newer.later(2 * time.Minute) }, false, false,
		},
		"ClockAhead": {
			"A clock that is ahead does not matter.",
			func(t *testing.T, newer *harness) { said(t, newer); newer.later(-2 * time.Minute) }, false, false,
		},
		"Vanished": {
			"A replica without an announcement for three minutes is considered gone.",
			func(t *testing.T, newer *harness) { said(t, newer); newer.later(3 * time.Minute) }, false, true,
		},
		"Stopped": {
			"A replica that has stopped is not waited for.",
			func(t *testing.T, newer *harness) {
				said(t, newer)
				over, cancel := context.WithCancel(t.Context())
				cancel()
				newer.tidy(over)
			}, false, true,
		},
		"Sole": {"A single replica waits for no other.", said, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newer := newHarness(t, []string{"files", "more"}, func(o *Options) { o.Replica = "newer" })
			newer.sources["files"].set("a", definition("as", "one"))
			newer.sources["more"].set("b", definition("bs", "one"))
			newer.reads(t, "files")
			newer.reads(t, "more")
			tc.before(t, newer)
			older := newer.joining(t, []string{"files"}, func(o *Options) { o.Replica, o.Sole = "older", tc.sole })
			if err := older.drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			older.works(t)
			want := three("as", "bs")
			if tc.goes {
				want = three("as")
			}
			newer.has(t, tc.reason, want)
		})
	}
}

// TestRestore checks that a deleted entity is restored.
func TestRestore(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, func(o *Options) { o.Caching = unit.Caching{Enabled: true, TTL: time.Minute, MaxSize: 10} })
	b.sources["files"].set("a", definition("as", "one"))
	b.reads(t, "files")
	before := b.catalog.entries()
	const ref, owner = "Template as.example.org", "definition:as.example.org"
	take := func() {
		b.catalog.mu.Lock()
		defer b.catalog.mu.Unlock()
		delete(b.catalog.documents[owner], ref)
	}
	take()
	if err := b.Restore(t.Context(), "another"); err != nil {
		t.Fatal(err)
	}
	if units, err := b.Mirror.Units(t.Context(), 10); len(units) != 0 || err != nil {
		t.Errorf("units of another provider are dirty: %v, %v", units, err)
	}
	if err := b.Restore(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	b.works(t)
	if diff := cmp.Diff(before, b.catalog.entries()); diff != "" {
		t.Error(diff)
	}
}

// stored is a store as the service writes to it.
type stored struct{ *store.Store }

// Missing implements Catalog.
func (stored) Missing(context.Context, int) ([]inspect.MissingRef, error) { return nil, nil }

// Prepare implements Catalog.
func (stored) Prepare(n *tree.Node) any { return write.Prepare(n) }

// Put implements Catalog.
func (s stored) Put(ctx context.Context, outcomes []unit.Build) ([]batch.Written, error) {
	changes := make([]write.Change, len(outcomes))
	for i, o := range outcomes {
		changes[i] = write.Change{Provider: o.Provider, Full: true, Keep: o.Keep}
		for j, e := range o.Entities {
			d := write.Document{JSON: e}
			if j < len(o.Prepared) {
				d.Prepared = o.Prepared[j].(*write.Prepared)
			}
			changes[i].Put = append(changes[i].Put, d)
		}
	}
	results, err := s.SyncAll(ctx, changes)
	out := make([]batch.Written, len(results))
	for i, r := range results {
		out[i] = batch.Written{Added: r.Added, Updated: r.Updated, Removed: r.Removed, Unchanged: r.Unchanged}
	}
	return out, err
}

// untidy makes the Template of each definition invalid.
type untidy struct{ engine.Transformer }

// Transform implements engine.Transformer.
func (u untidy) Transform(in engine.Input) (engine.Result, error) {
	r, err := u.Transformer.Transform(in)
	for _, e := range r.Entities {
		if e.Kind == "Template" && strings.Contains(fmt.Sprint(in.Definition.Annotations), "untidy") {
			e.Metadata.Labels = map[string]string{"not a label": "at all"}
		}
	}
	return r, err
}

// TestWithheld checks an entity that becomes invalid while another entity of its
// unit is removed.
func TestWithheld(t *testing.T) {
	t.Parallel()
	var catalog stored
	b := newHarness(t, []string{"files"}, func(o *Options) {
		catalog = stored{store.New(o.Mirror.DB, store.Options{})}
		o.Catalog = catalog
		o.Caching = unit.Caching{Enabled: true, TTL: time.Minute, MaxSize: 10}
		o.Variants[0].Extension.Transformer = func(e engine.Transformer) engine.Transformer { return untidy{e} }
	})
	const template, api, xrd, composition = "template:default/as.example.org", "api:default/as.example.org-api",
		"resource:default/as.example.org-xrd", "resource:default/one-composition"
	files := b.sources["files"]
	files.set("a", definition("as", "one"))
	files.set("c", aComposition("one", "as"))
	b.reads(t, "files")
	before, err := catalog.Get(t.Context(), template)
	if err != nil {
		t.Fatal(err)
	}
	files.set("a", strings.Replace(definition("as", "two"), "  labels:", "  annotations: {tests/is: untidy}\n  labels:", 1))
	files.set("c", "")
	// The second pass uses the stored build.
	for _, reason := range []string{"made", "kept"} {
		b.reads(t, "files")
		refs, err := catalog.Refs(t.Context(), "definition:as.example.org")
		if diff := cmp.Diff([]string{api, xrd, template}, refs); diff != "" || err != nil {
			t.Errorf("%s: catalog differs, want the withheld entity kept and the obsolete one removed: %s, %v", reason, diff, err)
		}
		after, err := catalog.Get(t.Context(), template)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: withheld entity changed: %s", reason, diff)
		}
		if err := b.Restore(t.Context(), "definition:as.example.org"); err != nil {
			t.Fatal(err)
		}
	}
	files.set("a", definition("as", "three"))
	b.reads(t, "files")
	if after, err := catalog.Get(t.Context(), template); err != nil || after.UID != before.UID || !strings.Contains(string(after.JSON), "three") {
		t.Errorf("fixed entity is %+v, %v; want it updated with its uid", after, err)
	}
	if _, err := catalog.Get(t.Context(), composition); err == nil {
		t.Error("removed entity is back")
	}
}

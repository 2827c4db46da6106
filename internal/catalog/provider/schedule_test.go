package provider

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/config"
)

// ownStatus returns the status of the entity of a location.
func (f *harness) ownStatus(typ, target string) string {
	f.t.Helper()
	e, err := f.store.Get(f.t.Context(), location.Ref(typ, target))
	if err != nil {
		return err.Error()
	}
	_, status, _ := strings.Cut(string(e.JSON), `"status":`)
	return status
}

func TestOutage(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x")+component("b", "x"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	target := s.URL + "/a.yaml"
	id := f.register("url", target)
	f.untilRefs("the entities", "component:default/a", "component:default/b")
	if got := f.location(id).Error; got != "" {
		t.Errorf("valid location has the error %q", got)
	}

	s.set("/a.yaml", "")
	f.until("the problem", func() bool { return f.location(id).Error != "" })
	if got, want := f.location(id).Error, "NotFoundError: Unable to read url, no matching files found for "+target; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
	if got := f.ownStatus("url", target); !strings.Contains(got, `"type":"backstage.io/catalog-processing","level":"error"`) {
		t.Errorf("status of the location's entity is %s", got)
	}
	if diff := cmp.Diff([]string{"component:default/a", "component:default/b"}, f.refs()); diff != "" {
		t.Errorf("entities after an outage (-want +got):\n%s", diff)
	}

	s.set("/a.yaml", component("b", "x"))
	f.untilRefs("the remaining entity", "component:default/b")
	f.until("the error to be cleared", func() bool { return f.location(id).Error == "" && f.ownStatus("url", target) == "" })
}

func TestBadDocument(t *testing.T) {
	cases := map[string]struct {
		reason string
		second string
		want   []string
	}{
		"Broken": {
			"A document that cannot be parsed may be any entity, so nothing is removed.",
			component("a", "x") + "---\nkind: [\n",
			[]string{"component:default/a", "component:default/b", "component:default/c"},
		},
		"Nameless": {
			"A document without a usable name may be any entity, so nothing is removed.",
			component("a", "x") + strings.Replace(component("b", "x"), "name: b", "name: '!'", 1),
			[]string{"component:default/a", "component:default/b", "component:default/c"},
		},
		"Named": {
			"An invalid entity keeps its old version; a missing one is removed.",
			component("a", "x") + strings.Replace(component("b", "x"), "name: b", "name: b, tags: ['Not a tag']", 1),
			[]string{"component:default/a", "component:default/b"},
		},
		"Nothing": {
			"A page without documents removes all entities.",
			"# nothing\n",
			nil,
		},
		"Child": {
			"An unreadable target of a Location may have any entities, so nothing is removed.",
			component("a", "x") + "---\napiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: { name: l }\nspec: { target: ./none.yaml }\n",
			[]string{"component:default/a", "component:default/b", "component:default/c", "location:default/l"},
		},
		"Location": {
			"The targets of an invalid Location are unknown, so nothing is removed.",
			component("a", "x") + "---\napiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: { name: l, tags: ['Not a tag'] }\nspec: { target: ./b.yaml }\n",
			[]string{"component:default/a", "component:default/b", "component:default/c"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.set("/a.yaml", component("a", "x")+component("b", "x")+component("c", "x"))
			f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
			id := f.register("url", s.URL+"/a.yaml")
			f.untilRefs("the entities", "component:default/a", "component:default/b", "component:default/c")
			s.set("/a.yaml", tc.second)
			before := s.times("/a.yaml")
			f.until("two more reads", func() bool { return s.times("/a.yaml") > before+2 })
			if diff := cmp.Diff(tc.want, f.refs()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := f.location(id).Error; (got == "") != (name == "Nothing") {
				t.Errorf("%s: error of the location is %q", tc.reason, got)
			}
		})
	}
}

// TestDeletedComesBack deletes an entity that a location still has.
func TestDeletedComesBack(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x")+component("b", "x"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	f.register("url", s.URL+"/a.yaml")
	f.untilRefs("both", "component:default/a", "component:default/b")
	before := s.times("/a.yaml")
	f.until("a read without changes", func() bool { return s.times("/a.yaml") > before+1 })
	e, err := f.store.Get(t.Context(), "component:default/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.store.DeleteByUID(t.Context(), e.UID); err != nil {
		t.Fatal(err)
	}
	f.untilRefs("both again", "component:default/a", "component:default/b")
}

func TestConflict(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	s.set("/b.yaml", component("a", "y")+component("b", "y"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	first := f.register("url", s.URL+"/a.yaml")
	f.untilRefs("the first", "component:default/a")
	second := f.register("url", s.URL+"/b.yaml")
	f.untilRefs("the second", "component:default/a", "component:default/b")
	want := "ConflictError: conflict: component:default/a belongs to url:" + s.URL + "/a.yaml"
	f.until("the conflict", func() bool { return f.location(second).Error == want })
	f.until("the conflict in the status of the entity", func() bool { return strings.Contains(f.ownStatus("url", s.URL+"/b.yaml"), "belongs to") })
	e, err := f.store.Get(t.Context(), "component:default/a")
	if err != nil || !strings.Contains(string(e.JSON), `"owner":"x"`) {
		t.Errorf("first owner lost its entity: %s %v", e.JSON, err)
	}

	revision, err := f.store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := s.times("/b.yaml")
	f.until("more readings", func() bool { return s.times("/b.yaml") > before+3 })
	if now, err := f.store.Revision(t.Context()); err != nil || now != revision {
		t.Errorf("unchanged conflict was written again: revision %d, then %d (%v)", revision, now, err)
	}

	if res := f.do(http.MethodDelete, "/locations/"+first, ""); res.status != http.StatusNoContent {
		t.Fatalf("DELETE returned %d, want 204", res.status)
	}
	f.untilRefs("the second location to take over", "component:default/a", "component:default/b")
	f.until("the conflict to be cleared", func() bool { return f.location(second).Error == "" })
}

func TestUnchangedWritesNothing(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	f.register("url", s.URL+"/a.yaml")
	f.untilRefs("the entity", "component:default/a")
	before, err := f.store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked := s.times("/a.yaml")
	f.until("more reads than the memo is trusted for", func() bool { return s.times("/a.yaml") > asked+trustMemo+3 })
	if after, err := f.store.Revision(t.Context()); err != nil || after != before {
		t.Errorf("revision was %d and is %d (%v), want no write", before, after, err)
	}
}

func TestRefresh(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval = time.Hour
	f := newHarness(t, "", opts)
	f.register("url", s.URL+"/a.yaml")
	f.untilRefs("the entity", "component:default/a")
	s.set("/a.yaml", component("a", "x")+component("b", "x"))
	res := f.do(http.MethodPost, "/refresh", `{"entityRef":"Component:Default/A","authorizationToken":"x"}`)
	if res.status != http.StatusOK || res.body != "" {
		t.Errorf("refresh returned %d %q", res.status, res.body)
	}
	f.untilRefs("the new entity", "component:default/a", "component:default/b")

	hold := make(chan struct{})
	s.mu.Lock()
	s.hold = hold
	s.mu.Unlock()
	asked := s.times("/a.yaml")
	f.do(http.MethodPost, "/refresh", `{"entityRef":"component:default/a"}`)
	f.until("the read to begin", func() bool { return s.times("/a.yaml") == asked+1 })
	for range 20 {
		f.do(http.MethodPost, "/refresh", `{"entityRef":"component:default/a"}`)
	}
	close(hold)
	f.until("one more read", func() bool { return s.times("/a.yaml") > asked+1 })
	f.until("rest", func() bool { return gathered(t, f, "jobs_queued") == 0 })
	// Requests are stored a moment later, perhaps while the next read runs.
	if got := s.times("/a.yaml"); got > asked+3 {
		t.Errorf("twenty requests during a read caused %d more reads, want one or two", got-asked-1)
	}
}

func TestRemovedWhileRead(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	hold := make(chan struct{})
	s.hold = hold
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval = time.Hour
	f := newHarness(t, "", opts)
	id := f.register("url", s.URL+"/a.yaml")
	f.until("the read to begin", func() bool { return s.times("/a.yaml") == 1 })
	if err := f.store.RemoveLocation(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	close(hold)
	f.until("the read to end", func() bool { return gathered(t, f, "catalog_sync_total") == 1 })
	if owners, err := f.store.Providers(t.Context()); err != nil || len(owners) != 0 {
		t.Errorf("providers are %v, error %v; want no entities of a removed location", owners, err)
	}
}

func TestStatic(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "portal.db")
	write := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	a, b := write("a.yaml", component("a", "x")), write("b.yaml", component("b", "x")+"---\n"+strings.Replace(component("c", "x"), "Component", "Resource", 1))
	opts := Options{Config: config.Catalog{Interval: 50 * time.Millisecond, Locations: []config.CatalogLocation{
		{Type: "file", Target: a}, {Type: "file", Target: a},
		{Type: "file", Target: b, Rules: []config.CatalogRule{{Allow: []string{"component"}}}},
	}}}
	f := newHarness(t, path, opts)
	f.untilRefs("both", "component:default/a", "component:default/b")
	if body := f.get("/locations").body; body != "[]" {
		t.Errorf("locations of the configuration are listed as registered: %s", body)
	}
	if res := f.get("/locations/by-entity/component/default/a"); res.status != http.StatusNotFound {
		t.Errorf("location of a static entity returned %d %s, want 404", res.status, res.body)
	}
	f.until("the problem", func() bool { return strings.Contains(f.ownStatus("file", b), "is not of an allowed kind") })
	write("a.yaml", component("a", "x")+component("a2", "x"))
	f.untilRefs("the change", "component:default/a", "component:default/a2", "component:default/b")
	if n := gathered(t, f, "catalog_location_errors"); n != 1 {
		t.Errorf("%v locations have errors, want 1", n)
	}
	if n := gathered(t, f, "catalog_entities"); n != 5 {
		t.Errorf("%v entities are counted, want 5", n)
	}
	f.stop()

	opts.Config.Locations = opts.Config.Locations[:1]
	f = newHarness(t, path, opts)
	f.untilRefs("the entities that are still configured", "component:default/a", "component:default/a2")
}

// gathered returns the sum of a metric.
func gathered(t *testing.T, f *harness, name string) float64 {
	t.Helper()
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return sum
}

func TestItself(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x")+"---\napiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: { name: l }\nspec: { target: ./a.yaml }\n")
	f := newHarness(t, "", readingOf(s.URL, t.TempDir()))
	id := f.register("url", s.URL+"/a.yaml")
	f.untilRefs("the entities", "component:default/a", "location:default/l")
	f.until("the problem", func() bool { return strings.Contains(f.location(id).Error, "the location refers to itself") })
	s.set("/a.yaml", strings.Replace(s.pages["/a.yaml"], "name: a ", "name: b ", 1))
	f.untilRefs("a rename", "component:default/b", "location:default/l")
}

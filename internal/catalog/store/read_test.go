package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// small returns a short document.
func small(tb testing.TB, kind, name, more string) write.Document {
	tb.Helper()
	return document(tb, fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata:\n  name: %s\n%s", kind, name, more))
}

func TestGet(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		child := small(t, "API", "Child", "")
		child.Parent = "location:default/top"
		put(t, s, child, small(t, "Location", "top", ""))

		got, err := s.Get(t.Context(), "api:default/child")
		if err != nil {
			t.Fatal(err)
		}
		if got.Ref != "api:default/child" || got.Provider != "test" || got.Parent != "location:default/top" {
			t.Errorf("entity is %+v", got)
		}
		for _, part := range []string{`"name":"Child"`, `"uid":"` + got.UID + `"`, `"etag":"` + got.ETag + `"`} {
			if !strings.Contains(string(got.JSON), part) {
				t.Errorf("%s is missing in %s", part, got.JSON)
			}
		}
		again, err := s.GetByUID(t.Context(), got.UID)
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
		for _, name := range []string{"api:default/none", "", "\x00", "\xff", strings.Repeat("x", 1<<20), "' OR 1=1 --", "%"} {
			if _, err := s.Get(t.Context(), name); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("Get of %.20q returned %v, want db.ErrNotFound", name, err)
			}
			if _, err := s.GetByUID(t.Context(), name); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("GetByUID of %.20q returned %v, want db.ErrNotFound", name, err)
			}
		}
	})
}

func TestGetMany(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		want := []string{"-"}
		asked := []string{"api:default/none"}
		for i := range 3 * batch {
			docs = append(docs, small(t, "API", fmt.Sprint("n", i), ""))
			asked = append(asked, fmt.Sprint("api:default/n", i))
		}
		put(t, s, docs...)
		want = append(want, asked[1:]...)
		asked, want = append(asked, "\xff", asked[7]), append(want, "-", asked[7])
		slices.Reverse(asked)
		slices.Reverse(want)
		found, err := s.GetMany(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range found {
			if e == nil {
				got = append(got, "-")
				continue
			}
			got = append(got, e.Ref)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if none, err := s.GetMany(t.Context(), nil); len(none) != 0 || err != nil {
			t.Error(none, err)
		}
	})
}

func TestProviders(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, small(t, "API", "a", ""), small(t, "API", "b", ""))
		if _, err := s.Sync(t.Context(), write.Change{Provider: "other", Put: []write.Document{small(t, "API", "c", "")}}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Providers(t.Context())
		if diff := cmp.Diff(map[string]int{"test": 2, "other": 1}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func TestAncestry(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		with := func(name, parent string) write.Document {
			d := small(t, "Location", name, "")
			d.Parent = parent
			return d
		}
		put(t, s,
			with("root", ""), with("middle", "location:default/root"), with("leaf", "location:default/middle"),
			with("orphan", "location:default/gone"),
			with("a", "location:default/b"), with("b", "location:default/a"), with("self", "location:default/self"))
		for name, tc := range map[string]struct {
			reason string
			want   []string
		}{
			"leaf":   {reason: "Parents are in order.", want: []string{"leaf", "middle", "root"}},
			"root":   {reason: "A root has no parent.", want: []string{"root"}},
			"orphan": {reason: "A missing parent ends the ancestry.", want: []string{"orphan"}},
			"a":      {reason: "A cycle ends where it began.", want: []string{"a", "b"}},
			"self":   {reason: "A self-reference ends the ancestry.", want: []string{"self"}},
		} {
			t.Run(name, func(t *testing.T) {
				line, err := s.Ancestry(t.Context(), "location:default/"+name)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range line {
					got = append(got, strings.TrimPrefix(e.Ref, "location:default/"))
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(tc.reason, diff)
				}
			})
		}
		for _, ref := range []string{"location:default/gone", "\x00"} {
			if _, err := s.Ancestry(t.Context(), ref); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("Ancestry of %q returned %v, want db.ErrNotFound", ref, err)
			}
		}
	})
}

func TestFacets(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s,
			small(t, "API", "a", "  tags: [go, Go, java]\nspec: {type: grpc, owner: Team}"),
			small(t, "API", "b", "  tags: [go]\nspec: {type: gRPC, owner: null}"),
			small(t, "Group", "c", "spec: {type: team, text: "+strings.Repeat("long", 60)+"}"))
		for name, tc := range map[string]struct {
			reason string
			facets []string
			filter filter.Filter
			text   Text
			want   map[string][]Facet
		}{
			"Case": {
				reason: "A value has its original spelling, and keys are not case-sensitive.",
				facets: []string{"Spec.Type", "kind"},
				want: map[string][]Facet{
					"Spec.Type": {{"gRPC", 1}, {"grpc", 1}, {"team", 1}}, "kind": {{"API", 2}, {"Group", 1}},
				},
			},
			"List": {
				reason: "An entity counts once for each value.",
				facets: []string{"metadata.tags"}, filter: filter.In("kind", "api"),
				want: map[string][]Facet{"metadata.tags": {{"go", 2}, {"java", 1}}},
			},
			"Filtered": {
				reason: "Only entities that match the filter count.",
				facets: []string{"kind"}, filter: filter.Not(filter.In("metadata.name", "A")),
				want: map[string][]Facet{"kind": {{"API", 1}, {"Group", 1}}},
			},
			"Words": {
				reason: "Only entities with a word of this prefix count.",
				facets: []string{"kind", "metadata.tags"}, text: Text{Term: "JAV"},
				want: map[string][]Facet{"kind": {{"API", 1}}, "metadata.tags": {{"go", 1}, {"java", 1}}},
			},
			"Inside": {
				reason: "A search in fields matches inside values, and is combined with the filter.",
				facets: []string{"kind"}, filter: filter.In("kind", "api"), text: Text{Term: "EA", Fields: []string{"spec.type", "spec.owner"}},
				want: map[string][]Facet{"kind": {{"API", 1}}},
			},
			"Nothing": {
				reason: "Missing values and keys give empty lists.",
				facets: []string{"spec.owner", "spec.text", "no.such", "no.such"}, filter: filter.Any(filter.In("metadata.name", "b"), filter.In("kind", "group")),
				want: map[string][]Facet{"spec.owner": {}, "spec.text": {}, "no.such": {}},
			},
			"Never": {
				reason: "A filter that matches nothing gives empty lists.", facets: []string{"kind"}, filter: filter.Any(),
				want: map[string][]Facet{"kind": {}},
			},
		} {
			t.Run(name, func(t *testing.T) {
				for _, few := range []int{0, 1} {
					s.maxLoaded = few
					s.cache = cache.New(s.Now)
					for range 2 {
						got, err := s.Facets(t.Context(), tc.facets, tc.filter, tc.text)
						if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
							t.Error(tc.reason, diff, err)
						}
					}
				}
			})
		}
		before, err := s.Facets(t.Context(), []string{"kind"}, filter.Filter{}, Text{})
		if err != nil {
			t.Fatal(err)
		}
		before["kind"][0].Count = 99
		// Another replica changes an entity.
		put(t, open(), small(t, "API", "a", ""))
		after, err := s.Facets(t.Context(), []string{"kind"}, filter.Filter{}, Text{})
		if diff := cmp.Diff(map[string][]Facet{"kind": {{"API", 1}}}, after); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

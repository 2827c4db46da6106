package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/write"
)

// TestRecent adds, changes and removes entities at times that it sets.
func TestRecent(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		now := start
		s.DB.Now = func() time.Time { return now }
		sync := func(at int, docs ...write.Document) {
			t.Helper()
			now = start.Add(time.Duration(at) * time.Minute)
			push(t, s, write.Change{Provider: "p", Put: docs})
		}
		check := func(reason string, f filter.Filter, since, limit int, want ...string) {
			t.Helper()
			found, err := s.Recent(t.Context(), f, start.Add(time.Duration(since)*time.Minute), limit)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range found {
				what := "changed"
				if r.Created {
					what = "created"
				}
				got = append(got, fmt.Sprintf("%s %s %d", r.Ref, what, r.At.Sub(start)/time.Minute))
				if len(r.JSON) == 0 || r.At.Location() != time.UTC {
					t.Errorf("%s: %s has %d bytes and the time %s", reason, r.Ref, len(r.JSON), r.At)
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reason, diff)
			}
		}
		all := filter.Filter{}
		check("empty", all, 0, 10)
		sync(1, component(t, "a", `"owner":"x"`), component(t, "b", `"owner":"x"`))
		sync(2, component(t, "c", `"owner":"y"`))
		check("added", all, 0, 10, "component:default/c created 2", "component:default/a created 1", "component:default/b created 1")
		sync(3, component(t, "a", `"owner":"x"`))
		check("a sync without a change", all, 0, 10, "component:default/c created 2", "component:default/a created 1", "component:default/b created 1")
		sync(4, component(t, "b", `"owner":"y"`))
		check("changed", all, 0, 10, "component:default/b changed 4", "component:default/c created 2", "component:default/a created 1")
		check("since", all, 2, 10, "component:default/b changed 4", "component:default/c created 2")
		check("limit", all, 0, 1, "component:default/b changed 4")
		check("no limit", all, 0, 0)
		check("filter", filter.In("spec.owner", "y"), 0, 10, "component:default/b changed 4", "component:default/c created 2")
		check("filters", filter.All(filter.In("kind", "component"), filter.Not(filter.In("spec.owner", "y"))), 0, 10, "component:default/a created 1")
		check("nothing passes", filter.Any(), 0, 10)
		sync(5, group(t, "x"))
		check("relations of others", filter.In("kind", "component"), 0, 10, "component:default/b changed 4", "component:default/c created 2", "component:default/a created 1")
		push(t, s, write.Change{Provider: "p", Remove: []string{"component:default/b"}})
		check("removed", filter.In("kind", "component"), 0, 10, "component:default/c created 2", "component:default/a created 1")
		sync(6, component(t, "b", `"owner":"y"`))
		check("added again", all, 6, 10, "component:default/b created 6")
		// A migration that changes what is indexed clears the hashes, and earlier versions
		// recorded no times.
		run(t, s.Write, "UPDATE entities SET hash = ''")
		run(t, s.Write, "UPDATE entities SET created_at = NULL, changed_at = NULL WHERE ref = 'component:default/a'")
		sync(7, component(t, "a", `"owner":"x"`), component(t, "b", `"owner":"y"`))
		check("written again", filter.In("kind", "component"), 0, 10, "component:default/b created 6", "component:default/c created 2")
		sync(8, component(t, "a", `"owner":"z"`))
		check("of before", all, 7, 10, "component:default/a changed 8")
	})
}

// TestRecentIsLikeModel asks for random latest changes of entities that few syncs have
// changed, whatever is read of the index.
func TestRecentIsLikeModel(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		now := start
		s.DB.Now = func() time.Time { return now }
		type change struct {
			ref, owner string
			at         int
		}
		var changes []change
		for at, n := range []int{200, 3, 150, 1} {
			now = start.Add(time.Duration(at) * time.Minute)
			var docs []write.Document
			for i := range n {
				name, owner := fmt.Sprintf("c-%d-%03d", at, i), []string{"x", "x", "x", "y", "z"}[i%5]
				if at == 2 && i%5 == 3 {
					owner = "x"
				}
				docs = append(docs, component(t, name, fmt.Sprintf(`"owner":%q`, owner)))
				changes = append(changes, change{"component:default/" + name, owner, at})
			}
			push(t, s, write.Change{Provider: "p", Put: docs})
		}
		slices.SortFunc(changes, func(a, b change) int { return cmp.Or(b.at-a.at, strings.Compare(a.ref, b.ref)) })
		s.maxLoaded = 1
		rapid.Check(t, func(t *rapid.T) {
			s.cache = cache.New(s.Now)
			owner := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "owner")
			since, limit := rapid.IntRange(0, 4).Draw(t, "since"), rapid.IntRange(1, 300).Draw(t, "limit")
			var want []string
			for _, c := range changes {
				if c.owner == owner && c.at >= since && len(want) < limit {
					want = append(want, c.ref)
				}
			}
			found, err := s.Recent(t.Context(), filter.In("spec.owner", owner), start.Add(time.Duration(since)*time.Minute), limit)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range found {
				got = append(got, r.Ref)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	})
}

// BenchmarkRecent measures the latest changes for callers who may read everything, the
// entities of one owner, and few.
func BenchmarkRecent(b *testing.B) {
	for name, f := range map[string]filter.Filter{
		"All": {}, "Owner": filter.In("relations.ownedBy", "group:default/team-3"), "Few": filter.In("metadata.name", "pay-000300", "pay-000303"),
	} {
		b.Run(name, func(b *testing.B) {
			onSizes(b, func(b *testing.B, s *Store) {
				loop(b, func(int) error {
					found, err := s.Recent(b.Context(), filter.All(f, filter.Not(filter.In("kind", "location"))), time.Now().Add(-24*time.Hour), 20)
					if err == nil && len(found) < 2 {
						err = fmt.Errorf("%d changes", len(found))
					}
					return err
				})
			})
		})
	}
}

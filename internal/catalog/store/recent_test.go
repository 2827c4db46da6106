package store

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
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

// TestRecentPlans checks that the latest changes are found by an index, in its order, or
// among the few entities that pass.
func TestRecentPlans(t *testing.T) {
	usual, rare := filter.In("spec.type", "usual"), filter.In("spec.type", "rare")
	cases := map[string]struct {
		reason string
		filter filter.Filter
		// scans reports that the index of times is scanned.
		scans bool
	}{
		"All":     {"Everything passes.", filter.Filter{}, true},
		"Kind":    {"Locations are left out.", filter.Not(filter.In("kind", "location")), true},
		"Usual":   {"Much passes.", filter.All(usual, filter.Not(filter.In("kind", "location"))), true},
		"Rare":    {"Little passes.", rare, false},
		"AnyRare": {"Little passes one of two conditions.", filter.Any(rare, filter.In("spec.lifecycle", "rare")), false},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 4000 {
			docs = append(docs, small(t, []string{"API", "Component"}[i%2], fmt.Sprint("n-", i), fmt.Sprintf("spec: {type: %s, lifecycle: %s}", pick(i%100 == 0), pick(i%200 == 1))))
		}
		put(t, s, docs...)
		explain, sorts, scans := "EXPLAIN QUERY PLAN ", regexp.MustCompile(`TEMP B-TREE`), regexp.MustCompile(`USING (COVERING )?INDEX entities_changed`)
		all := regexp.MustCompile(`SCAN (s|search|entities)\b`)
		if s.Client == db.Postgres {
			if _, err := s.Write.ExecContext(t.Context(), "ANALYZE"); err != nil {
				t.Fatal(err)
			}
			s.Read.SetMaxOpenConns(1)
			if _, err := s.Read.ExecContext(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
				t.Fatal(err)
			}
			explain, sorts, scans, all = "EXPLAIN ", regexp.MustCompile(`Sort`), regexp.MustCompile(`Index Scan using entities_changed`), regexp.MustCompile(`Seq Scan`)
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				r, err := s.resolveQuery(t.Context(), Query{Filter: tc.filter})
				if err != nil {
					t.Fatal(err)
				}
				w, text, err := s.planRecent(t.Context(), r.where, time.Now().Add(-time.Hour), 20)
				if err != nil {
					t.Fatal(err)
				}
				plan := explained(t, s, explain, text, w.args)
				if scans.MatchString(plan) != tc.scans || tc.scans && sorts.MatchString(plan) || all.MatchString(plan) {
					t.Errorf("%s\n%s\n%s", tc.reason, text, plan)
				}
			})
		}
	})
}

func pick(rare bool) string {
	if rare {
		return "rare"
	}
	return "usual"
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

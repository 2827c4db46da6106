package store

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// TestPlans reads pages, facets, changes and searches, and checks how the database finds
// the rows of each statement: through an index, in its order.
func TestPlans(t *testing.T) {
	read := func(q Query) func(context.Context, *Store, db.Asker) error {
		return func(ctx context.Context, s *Store, ask db.Asker) error {
			r, err := s.resolveQuery(ctx, q)
			if err != nil {
				return err
			}
			page, err := s.readPage(ctx, ask, r, true)
			if err == nil && len(page.Items) == 0 {
				err = fmt.Errorf("page has no items")
			}
			return err
		}
	}
	facets := func(f filter.Filter, field string) func(context.Context, *Store, db.Asker) error {
		return func(ctx context.Context, s *Store, ask db.Asker) error {
			var c cond
			var keys []facetKey
			err := s.resolveKeys(ctx, func(k *keyResolver) { c, keys = k.parseFilter(f, Text{}), k.facetKeys([]string{field}) })
			if err != nil {
				return err
			}
			_, _, err = s.countFacets(ctx, ask, keys, c, true)
			return err
		}
	}
	recent := func(f filter.Filter) func(context.Context, *Store, db.Asker) error {
		return func(ctx context.Context, s *Store, ask db.Asker) error {
			r, err := s.resolveQuery(ctx, Query{Filter: f})
			if err != nil {
				return err
			}
			_, err = s.readRecent(ctx, ask, r.where, time.Now().Add(-time.Hour).UnixMilli(), 20, true)
			return err
		}
	}
	usual, rare := filter.In("spec.type", "usual"), filter.In("spec.type", "rare")
	byName, byType := []Order{{Field: "metadata.name"}}, []Order{{Field: "spec.type", Desc: true}, {Field: "metadata.name"}}
	name := "n-2000"
	position := &Position{Values: []*string{&name}, Ref: "api:default/n-2000"}
	cases := map[string]struct {
		reason string
		read   func(context.Context, *Store, db.Asker) error
		// uses is an index that one of the statements must use.
		uses string
	}{
		"All":          {"All are read in the order of references.", read(Query{Limit: 20}), "entities"},
		"Many":         {"Many are found in the order of references.", read(Query{Filter: usual, Limit: 20}), "entities"},
		"Few":          {"Few are read by their ids.", read(Query{Filter: rare, Limit: 20}), "entities_id"},
		"ManySorted":   {"Many are found in the order of a field.", read(Query{Filter: usual, Order: byName, Limit: 20}), "postings"},
		"Backward":     {"So are the entities before a position.", read(Query{Filter: usual, Order: byName, Limit: 20, Position: position, Backward: true}), "postings"},
		"Forward":      {"And after it.", read(Query{Filter: usual, Order: byName, Limit: 20, Position: position}), "postings"},
		"FewSorted":    {"Few are sorted after they are read.", read(Query{Filter: rare, Order: byName, Limit: 20}), "entities_id"},
		"TwoFields":    {"Entities with the same value are found in the order of the next field.", read(Query{Order: byType, Limit: 20}), "postings"},
		"Words":        {"Words are found in their index.", read(Query{Text: Text{Term: "n usu"}, Limit: 20}), "postings"},
		"Facets":       {"All values of a field are in a range of an index.", facets(filter.Filter{}, "spec.type"), "postings"},
		"FacetsOfMany": {"So they are with a filter.", facets(usual, "spec.type"), "postings"},
		"FacetsOfFew":  {"Values of few entities are read with these.", facets(rare, "metadata.name"), "entities_id"},
		"FacetsFew":    {"Unless the field has fewer values.", facets(rare, "spec.type"), "postings"},
		"Recent":       {"The latest changes are found in their order.", recent(usual), "entities_changed"},
		"RecentFew":    {"Few are sorted after they are read.", recent(rare), "entities_id"},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 4000 {
			kind := "usual"
			if i%100 == 0 {
				kind = "rare"
			}
			docs = append(docs, small(t, []string{"API", "Component"}[i%2], fmt.Sprint("n-", i), "spec: {type: "+kind+"}"))
		}
		put(t, s, docs...)
		if s.Client == db.Postgres {
			if _, err := s.Write.ExecContext(t.Context(), "ANALYZE"); err != nil {
				t.Fatal(err)
			}
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				s.cache = cache.New(s.Now)
				var plans strings.Builder
				err := tc.read(t.Context(), s, func(ctx context.Context, text string, args ...any) (*db.Rows, error) {
					fmt.Fprintf(&plans, "%s\n%s\n", text, explained(t, s, text, args))
					return s.DB.Query(ctx, text, args...)
				})
				if err != nil {
					t.Fatal(err)
				}
				// The table revision has one row.
				bad := regexp.MustCompile(`TEMP B-TREE|SCAN (e|p|f|d|entities|postings|fields|documents)\b|Seq Scan on (entities|postings|fields|documents)`)
				if found := bad.FindString(plans.String()); found != "" {
					t.Errorf("%s\nplans have %q:\n%s", tc.reason, found, plans.String())
				}
				if uses := indexNames[s.Client][tc.uses]; !strings.Contains(plans.String(), cmp.Or(uses, tc.uses)) {
					t.Errorf("%s\nplans do not use %s:\n%s", tc.reason, tc.uses, plans.String())
				}
			})
		}
	})
}

// indexNames are what plans call the primary keys of tables.
var indexNames = map[string]map[string]string{
	db.SQLite:   {"entities": "SEARCH e USING PRIMARY KEY", "postings": "SEARCH p USING PRIMARY KEY"},
	db.Postgres: {"entities": "entities_pkey", "postings": "postings_pkey"},
}

// explained returns the plan of a statement.
func explained(t *testing.T, s *Store, text string, args []any) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if s.Client == db.Postgres {
		explain = "EXPLAIN "
	}
	rows, err := s.Read.QueryContext(t.Context(), explain+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	dest := make([]any, len(columns))
	for i := range dest {
		dest[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, *dest[len(dest)-1].(*any))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

package store

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// TestPlans checks that the databases scan an index: nothing is sorted, and only
// rows of the page are read.
func TestPlans(t *testing.T) {
	kind := filter.In("kind", "api")
	byName := []Order{{Field: "metadata.name"}}
	cases := map[string]Query{
		"All":         {},
		"Behind":      {Position: &Position{Ref: "api:default/n-100"}},
		"Before":      {Position: &Position{Ref: "api:default/n-100"}, Backward: true},
		"Kind":        {Filter: kind},
		"Type":        {Filter: filter.All(kind, filter.In("spec.type", "grpc"))},
		"TypeOnly":    {Filter: filter.In("spec.type", "grpc")},
		"TwoValues":   {Filter: filter.All(filter.In("spec.type", "grpc"), filter.In("spec.lifecycle", "old"))},
		"Kinds":       {Filter: filter.In("kind", "api", "component")},
		"NotType":     {Filter: filter.All(kind, filter.Not(filter.In("spec.type", "grpc")))},
		"ByName":      {Order: byName},
		"KindByName":  {Filter: kind, Order: byName},
		"TypeByName":  {Filter: filter.All(kind, filter.In("spec.type", "grpc")), Order: byName},
		"ByNameDown":  {Filter: kind, Order: []Order{{"metadata.name", true}}},
		"ByLifecycle": {Filter: kind, Order: []Order{{Field: "spec.lifecycle"}}},
		"DeepInName":  {Filter: kind, Order: byName, Position: &Position{Values: []*string{new("n-100")}, Ref: "api:default/n-100"}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 3000 {
			docs = append(docs, small(t, []string{"API", "Component"}[i%2], fmt.Sprint("n-", i),
				fmt.Sprintf("  title: Title %d\nspec: {type: %s, lifecycle: %s}", i, []string{"grpc", "rest"}[i/2%2], []string{"old", "new"}[i/4%2])))
		}
		put(t, s, docs...)
		explain, bad := "EXPLAIN QUERY PLAN ", regexp.MustCompile(`TEMP B-TREE|SCAN (search|documents|s\b|d\b|e\b)`)
		if s.Client == db.Postgres {
			if _, err := s.Write.ExecContext(t.Context(), "ANALYZE"); err != nil {
				t.Fatal(err)
			}
			// A statement that is used often gets one plan for all values.
			s.Read.SetMaxOpenConns(1)
			if _, err := s.Read.ExecContext(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
				t.Fatal(err)
			}
			explain, bad = "EXPLAIN ", regexp.MustCompile(`Sort|Seq Scan on (search|documents|entities)|Bitmap|Hash`)
		}
		for name, q := range cases {
			t.Run(name, func(t *testing.T) {
				q.Limit = 20
				r, err := s.resolveQuery(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.planPage(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				w := s.newSQL(false)
				text := w.writeEntities(p)
				plan := explained(t, s, explain, text, w.args)
				if bad.MatchString(plan) {
					t.Errorf("%s\n%s", text, plan)
				}
			})
		}
	})
}

func explained(t *testing.T, s *Store, explain, statement string, args []any) string {
	t.Helper()
	text := explain + statement
	if s.Client == db.Postgres {
		prepared := "plan_" + path.Base(t.Name())
		if _, err := s.Read.ExecContext(t.Context(), "PREPARE "+prepared+" AS "+statement); err != nil {
			t.Fatal(err)
		}
		text = explain + "EXECUTE " + prepared
		if n := len(args); n > 0 {
			// This is a text and a number.
			text += "('0'" + strings.Repeat(", '0'", n-1) + ")"
		}
		args = nil
	}
	rows, err := s.Read.QueryContext(t.Context(), text, args...)
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
	var line string
	dest[len(dest)-1] = &line
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
)

// describe returns a condition as the comments of parse_filter.go and plan_filter.go
// show it.
func describe(c cond) string {
	name := map[filter.Op]string{
		filter.OpTrue: "always", filter.OpFalse: "never", filter.OpAll: "allOf", filter.OpAny: "anyOf", filter.OpNot: "not", filter.OpHas: "has", filter.OpIn: "in",
		filter.OpPrefix: "prefix", opKind: "kind", opHasValue: "hasValue", opWord: "word", opContains: "contains",
	}[c.op]
	var parts []string
	if c.kid != 0 && c.op != opKind {
		parts = append(parts, fmt.Sprint(c.kid))
	}
	for _, v := range c.values {
		parts = append(parts, fmt.Sprintf("%q", v))
	}
	for _, sub := range c.conds {
		parts = append(parts, describe(sub))
	}
	if len(parts) == 0 {
		return name
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func describePlan(p plan) string {
	return fmt.Sprintf("bounds: %q to %q first: %s sparse: %t check: %s", p.lo, p.hi, describe(p.first), p.sparse, describe(p.check))
}

// TestComments compares the examples in the comments of the planner with its
// output. Spaces and line breaks may differ.
func TestComments(t *testing.T) {
	production := filter.All(filter.In("kind", "component"), filter.In("spec.lifecycle", "production"))
	released := filter.All(filter.In("kind", "component"), filter.In("spec.lifecycle", "production", "deprecated"))
	byName := []Order{{Field: "metadata.name"}}
	cases := map[string]struct {
		reason string
		// every one of this many components passes.
		every int
		q     Query
		file  string
		show  func(s *Store, p *pagePlan) string
	}{
		"Condition": {
			reason: "The example of a condition is current.", every: 1, q: Query{Filter: production}, file: "parse_filter.go",
			show: func(_ *Store, p *pagePlan) string { return describe(p.where) },
		},
		"DensePlan": {
			reason: "One value is scanned.", every: 1, q: Query{Filter: production}, file: "plan_filter.go",
			show: func(_ *Store, p *pagePlan) string { return describePlan(p.filter) },
		},
		"SparsePlan": {
			reason: "A few rows of several values are a set.", every: 20, q: Query{Filter: released}, file: "plan_filter.go",
			show: func(_ *Store, p *pagePlan) string { return describePlan(p.filter) },
		},
		"ScanPlan": {
			reason: "If many rows match, the index of the name is scanned.", every: 1, q: Query{Filter: production, Order: byName}, file: "plan_page.go",
			show: func(_ *Store, p *pagePlan) string { return describePlan(p.filter) },
		},
		"DenseStatement": {
			reason: "The example statement of a scan is current.", every: 1, q: Query{Filter: production, Order: byName}, file: "write_sql.go",
			show: func(s *Store, p *pagePlan) string { return s.newSQL(false).writeEntities(p) },
		},
		"SparseStatement": {
			reason: "The example statement of a sorted set is current.", every: 20, q: Query{Filter: released, Order: byName}, file: "write_sql.go",
			show: func(s *Store, p *pagePlan) string { return s.newSQL(false).writeEntities(p) },
		},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				var docs []write.Document
				for i := range 40 {
					lifecycle := "experimental"
					if i%tc.every == 0 {
						lifecycle = "production"
					}
					docs = append(docs, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"lifecycle":%q`, lifecycle)))
				}
				put(t, s, docs...)
				s.cache = &cache.Cache{}
				tc.q.Limit = 21
				q, err := s.resolveQuery(t.Context(), tc.q)
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.planPage(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				source, err := os.ReadFile(tc.file)
				if err != nil {
					t.Fatal(err)
				}
				comment := strings.ReplaceAll(string(source), "\n//", "\n")
				// The engines have different names for one function.
				want := strings.NewReplacer("strpos(", "instr(", index.NoValue, `\U0010ffff`).Replace(tc.show(s, p))
				if !strings.Contains(flat(comment), flat(want)) {
					t.Errorf("%s: comment of %s lacks\n%s", tc.reason, tc.file, want)
				}
			})
		}
	})
}

// flat returns a text with single spaces, and without those inside parentheses.
func flat(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("( ", "(", " )", ")").Replace(text)
}

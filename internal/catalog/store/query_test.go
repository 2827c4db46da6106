package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/db"
)

// named returns the names of entities in the default namespace.
func named(items []Entity) []string {
	names := []string{}
	for _, e := range items {
		names = append(names, e.Ref[strings.Index(e.Ref, "/")+1:])
	}
	return names
}

func TestQuery(t *testing.T) {
	up := func(fields ...string) (order []Order) {
		for _, f := range fields {
			order = append(order, Order{Field: f})
		}
		return order
	}
	cases := map[string]struct {
		reason string
		q      Query
		want   []string
	}{
		"All":       {reason: "the order is that of references", want: []string{"a", "b", "d", "c"}},
		"In":        {reason: "neither key nor value has a case", q: Query{Filter: In("SPEC.Type", "GRPC")}, want: []string{"a", "b"}},
		"InSeveral": {reason: "one of them is enough", q: Query{Filter: In("spec.type", "team", "grpc")}, want: []string{"a", "b", "c"}},
		"InNothing": {reason: "no value is none of them", q: Query{Filter: In("spec.type")}, want: []string{}},
		"InEmpty":   {reason: "empty text is a value", q: Query{Filter: In("metadata.title", "")}, want: []string{"b"}},
		"InNull":    {reason: "nothing has no value", q: Query{Filter: In("spec.owner", "null")}, want: []string{}},
		"List":      {reason: "each item is a value", q: Query{Filter: In("metadata.tags", "java")}, want: []string{"a"}},
		"Item":      {reason: "and a key", q: Query{Filter: In("metadata.tags.go", "true")}, want: []string{"a", "b"}},
		"Has":       {reason: "also what has no value is there", q: Query{Filter: Has("spec.owner")}, want: []string{"a", "b"}},
		"HasNo":     {reason: "no entity has it", q: Query{Filter: Has("no.such.key")}, want: []string{}},
		"Prefix":    {reason: "a beginning will do", q: Query{Filter: Prefix("spec.type", "TE")}, want: []string{"c"}},
		"Prefixed":  {reason: "nothing has no beginning", q: Query{Filter: Prefix("spec.owner", "")}, want: []string{"a"}},
		"Not":       {reason: "those without the field too", q: Query{Filter: Not(In("spec.type", "grpc"))}, want: []string{"d", "c"}},
		"Relation":  {reason: "relations are fields", q: Query{Filter: In("relations.ownedBy", "group:default/c")}, want: []string{"a"}},
		"Backwards": {reason: "in both directions", q: Query{Filter: In("relations.ownerof", "API:default/A")}, want: []string{"c"}},
		"Kinds":     {reason: "kinds are not words within others", q: Query{Filter: In("kind", "ap", "group", "api:")}, want: []string{"c"}},
		"Both": {
			reason: "conditions of three ways to look them up",
			q:      Query{Filter: All(In("kind", "api"), In("metadata.namespace", "default"), Has("metadata.tags"), In("spec.type", "grpc"))},
			want:   []string{"a", "b"},
		},
		"AnyNone":    {reason: "none passes nothing", q: Query{Filter: Any()}, want: []string{}},
		"AllNone":    {reason: "none passes everything", q: Query{Filter: All()}, want: []string{"a", "b", "d", "c"}},
		"Up":         {reason: "without the field is last", q: Query{Order: up("spec.type")}, want: []string{"a", "b", "c", "d"}},
		"Down":       {reason: "in both directions", q: Query{Order: []Order{{"spec.type", true}}}, want: []string{"c", "b", "a", "d"}},
		"NullLast":   {reason: "as is what has no value", q: Query{Order: up("spec.owner")}, want: []string{"a", "b", "d", "c"}},
		"Unknown":    {reason: "all are without", q: Query{Order: up("no.such.key")}, want: []string{"a", "b", "d", "c"}},
		"Two":        {reason: "the second decides", q: Query{Order: []Order{{"spec.type", false}, {"metadata.name", true}}}, want: []string{"b", "a", "c", "d"}},
		"SeveralUp":  {reason: "the least of several values counts", q: Query{Order: up("metadata.tags")}, want: []string{"b", "a", "d", "c"}},
		"Word":       {reason: "beginnings of words, all of them", q: Query{Text: Text{Term: " PAY, mon"}}, want: []string{"a"}},
		"Hump":       {reason: "words within words", q: Query{Text: Text{Term: "invoice"}}, want: []string{"a"}},
		"NotInside":  {reason: "but not what is inside of one", q: Query{Text: Text{Term: "oney"}}, want: []string{}},
		"NoWord":     {reason: "there is nothing to look for", q: Query{Text: Text{Term: "-%-"}}, want: []string{}},
		"Blank":      {reason: "that is no search", q: Query{Text: Text{Term: " \t"}}, want: []string{"a", "b", "d", "c"}},
		"Inside":     {reason: "in fields anywhere", q: Query{Text: Text{Term: "ONEY f", Fields: []string{"metadata.description"}}}, want: []string{"a"}},
		"Wild":       {reason: "without a meaning of their own", q: Query{Text: Text{Term: "%", Fields: []string{"metadata.description"}}}, want: []string{"b"}},
		"Under":      {reason: "without a meaning of their own", q: Query{Text: Text{Term: "_!", Fields: []string{"metadata.description"}}}, want: []string{"b"}},
		"NoField":    {reason: "no entity has it", q: Query{Text: Text{Term: "a", Fields: []string{"no.such"}}}, want: []string{}},
		"Long":       {reason: "values are not that long", q: Query{Text: Text{Term: strings.Repeat("x", 201), Fields: []string{"kind"}}}, want: []string{}},
		"NotText":    {reason: "what is not text is no mistake", q: Query{Filter: In("\xffkind\x00", "\xff\x00")}, want: []string{}},
		"Injection":  {reason: "values are values", q: Query{Filter: In("kind", "' OR 1=1; --")}, want: []string{}},
		"OnlyOffset": {reason: "an offset without a limit", q: Query{Offset: 3}, want: []string{"c"}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s,
			small(t, "API", "a", "  tags: [java, go]\n  description: payInvoice money for all\nspec: {type: gRPC, owner: c}"),
			small(t, "API", "b", "  tags: [go, ada]\n  title: ''\n  description: 90 % of a_!\nspec: {type: grpc, owner: null}"),
			small(t, "Group", "c", "spec: {type: team}"),
			small(t, "Component", "d", "  description: pay nothing"))
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				tc.q.Limit, tc.q.Total = NoLimit, tc.q.Offset == 0
				page, err := s.Query(t.Context(), tc.q)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, named(page.Items)); diff != "" {
					t.Error(tc.reason, diff)
				}
				if tc.q.Total && page.Total != len(tc.want) {
					t.Errorf("the total is %d", page.Total)
				}
			})
		}
	})
}

// TestSetsOfConditions asks for entities that pass one of two sets of conditions. The rows
// of an index for one condition have more than what passes its set.
func TestSetsOfConditions(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []Document
		for i := range 40 {
			docs = append(docs, small(t, "API", fmt.Sprint("n", i), fmt.Sprintf("spec: {type: %s, lifecycle: %s}", []string{"grpc", "rest"}[i%2], []string{"old", "new"}[i/2%2])))
		}
		put(t, s, docs...)
		set := func(typ, lifecycle string) Filter { return All(In("spec.type", typ), In("spec.lifecycle", lifecycle)) }
		page, err := s.Query(t.Context(), Query{Filter: Any(set("grpc", "old"), set("rest", "new")), Limit: NoLimit, Total: true})
		if err != nil || page.Total != 20 || len(page.Items) != 20 {
			t.Errorf("%d entities in all and %d on the page (%v), want 20", page.Total, len(page.Items), err)
		}
	})
}

func TestTotalFollowsChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		for n := 3; n >= 0; n-- {
			var docs []Document
			for i := range n {
				docs = append(docs, small(t, "API", fmt.Sprint("n", i), "spec: {type: grpc}"))
			}
			put(t, replica, docs...)
			for _, limit := range []int{0, 1, 9} {
				page, err := s.Query(t.Context(), Query{Filter: In("spec.type", "grpc"), Limit: limit, Total: true})
				if err != nil || page.Total != n || page.More != (limit == 1 && n > 1) {
					t.Errorf("limit %d of %d: %+v, %v", limit, n, page, err)
				}
			}
		}
	})
}

func TestDigest(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, small(t, "API", "a", ""), small(t, "API", "b", ""))
		all := Query{Limit: NoLimit}
		first, byName := digest(t, s, all), digest(t, s, Query{Limit: NoLimit, Order: []Order{{"metadata.name", true}}})
		if !bytes.Equal(first, byName) || !bytes.Equal(first, digest(t, s, all)) {
			t.Error("the same entities have different digests")
		}
		for reason, q := range map[string]Query{
			"a part": {Limit: 1}, "another part": {Limit: 1, Offset: 1}, "none": {Limit: 0},
			"behind": {Limit: 1, After: &Position{Ref: "api:default/a"}}, "never": {Limit: NoLimit, Filter: Any()},
		} {
			if bytes.Equal(first, digest(t, s, q)) {
				t.Errorf("%s has the digest of all", reason)
			}
		}
		put(t, open(), small(t, "API", "a", "  title: new"), small(t, "API", "b", ""))
		if bytes.Equal(first, digest(t, s, all)) {
			t.Error("the digest stays the same after a change")
		}
	})
}

func digest(t *testing.T, s *Store, q Query) []byte {
	t.Helper()
	sum, err := s.Digest(t.Context(), q)
	if err != nil || len(sum) == 0 {
		t.Fatal(sum, err)
	}
	return sum
}

func TestEach(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []Document
		for i := range batch + 3 {
			docs = append(docs, small(t, "API", fmt.Sprintf("n%03d", i), ""))
		}
		put(t, s, docs...)
		var seen []Entity
		err := s.Each(t.Context(), Query{Limit: NoLimit}, func(e *Entity) error {
			if len(seen) == 0 {
				// A change meanwhile is not seen.
				put(t, s, docs[:1]...)
			}
			seen = append(seen, *e)
			return nil
		})
		if err != nil || len(seen) != len(docs) {
			t.Errorf("%d of %d: %v", len(seen), len(docs), err)
		}
		for i, e := range seen {
			if want := fmt.Sprintf("api:default/n%03d", i); e.Ref != want || !bytes.Contains(e.JSON, []byte(e.UID)) {
				t.Errorf("%s stands where %s should", e.Ref, want)
			}
		}
		stop := errors.New("enough")
		if err := s.Each(t.Context(), Query{Limit: NoLimit}, func(*Entity) error { return stop }); !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

// TestEachLeavesRoom has lists that nobody goes on reading. Everything else is
// answered meanwhile, and a further list waits no longer than its context.
func TestEachLeavesRoom(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, small(t, "API", "a", ""))
		stuck := make(chan struct{})
		var lists sync.WaitGroup
		defer lists.Wait()
		defer close(stuck)
		all := s.Read.Stats().MaxOpenConnections
		begun := make(chan struct{}, all)
		for range all {
			lists.Go(func() {
				if err := s.Each(context.Background(), Query{Limit: NoLimit}, func(*Entity) error {
					begun <- struct{}{}
					<-stuck
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		for range all / 2 {
			<-begun
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.Get(ctx, "api:default/a"); err != nil {
			t.Error(err)
		}
		if _, err := s.Query(ctx, Query{Limit: 1, Total: true}); err != nil {
			t.Error(err)
		}
		if err := s.Snapshot(ctx, func(ask db.Asker) error {
			return s.many(ctx, ask, []string{"api:default/a"}, func(*Entity) {})
		}); err != nil {
			t.Errorf("a page of one moment: %v", err)
		}
		impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err := s.Each(impatient, Query{Limit: NoLimit}, func(*Entity) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one list too many: %v", err)
		}
	})
}

func TestTooComplex(t *testing.T) {
	deep := Has("kind")
	for range maxDepth {
		deep = Not(deep)
	}
	wide := All()
	for range maxLeaves + 1 {
		wide.Filters = append(wide.Filters, Has("kind"))
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		labels := make([]string, maxLeaves)
		for i := range labels {
			labels[i] = fmt.Sprintf("l%d: v", i)
		}
		put(t, s, small(t, "API", "a", "  labels: { "+strings.Join(labels, ", ")+" }"))
		for name, q := range map[string]Query{
			"Deep":   {Filter: deep},
			"Wide":   {Filter: wide},
			"Values": {Filter: In("kind", make([]string, maxLeaves+1)...)},
			"Words":  {Text: Text{Term: strings.Repeat("a ", maxLeaves+1)}},
			"Fields": {Text: Text{Term: "a", Fields: make([]string, maxLeaves+1)}},
			"Order":  {Order: make([]Order, maxOrder+1)},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := s.Query(t.Context(), q); !errors.Is(err, ErrTooComplex) {
					t.Error(err)
				}
			})
		}
		if _, err := s.Facets(t.Context(), make([]string, maxLeaves+1), Filter{}, Text{}); !errors.Is(err, ErrTooComplex) {
			t.Error(err)
		}
		// As much as is allowed works.
		var has, hasNot, pairs []Filter
		values := make([]string, maxLeaves)
		for i := range values {
			values[i] = fmt.Sprint("v", i)
			label := fmt.Sprint("metadata.labels.l", i)
			has, hasNot = append(has, Has(label)), append(hasNot, Not(Has(label)))
			if i%4 == 0 {
				pairs = append(pairs, All(In(label, "v", "w"), In("metadata.name", fmt.Sprint("x", i), "a")))
			}
		}
		values[7] = "api"
		for name, c := range map[string]struct {
			filter Filter
			found  int
		}{
			"Deep":    {deep.Filters[0], 0},
			"Values":  {In("metadata.name", values...), 0},
			"Kinds":   {In("kind", values...), 1},
			"All":     {All(has...), 1},
			"Any":     {Any(has...), 1},
			"None":    {All(hasNot...), 0},
			"NotAny":  {Not(Any(has...)), 0},
			"Lacking": {Any(hasNot...), 0},
			"Pairs":   {Any(pairs...), 1},
		} {
			q := Query{Filter: c.filter}
			t.Run("Allowed"+name, func(t *testing.T) {
				q.Limit = 1
				q.Total = true
				q.Order = []Order{{Field: "metadata.title"}}
				page, err := s.Query(t.Context(), q)
				if err != nil || len(page.Items) != c.found || page.Total != c.found {
					t.Errorf("found %d of %d, want %d: %v", len(page.Items), page.Total, c.found, err)
				}
			})
		}
	})
}

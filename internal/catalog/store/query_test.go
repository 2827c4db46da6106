package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
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
		"All":       {reason: "Entities are sorted by reference by default.", want: []string{"a", "b", "d", "c"}},
		"In":        {reason: "Keys and values are not case-sensitive.", q: Query{Filter: filter.In("SPEC.Type", "GRPC")}, want: []string{"a", "b"}},
		"InSeveral": {reason: "One of several values is enough.", q: Query{Filter: filter.In("spec.type", "team", "grpc")}, want: []string{"a", "b", "c"}},
		"InNothing": {reason: "An empty list of values matches nothing.", q: Query{Filter: filter.In("spec.type")}, want: []string{}},
		"InEmpty":   {reason: "Empty text is a value.", q: Query{Filter: filter.In("metadata.title", "")}, want: []string{"b"}},
		"InNull":    {reason: "Null has no value.", q: Query{Filter: filter.In("spec.owner", "null")}, want: []string{}},
		"List":      {reason: "Each item of a list is a value.", q: Query{Filter: filter.In("metadata.tags", "java")}, want: []string{"a"}},
		"Item":      {reason: "Each item of a list is a key.", q: Query{Filter: filter.In("metadata.tags.go", "true")}, want: []string{"a", "b"}},
		"Has":       {reason: "A field without a value exists.", q: Query{Filter: filter.Has("spec.owner")}, want: []string{"a", "b"}},
		"HasNo":     {reason: "A key that no entity has matches nothing.", q: Query{Filter: filter.Has("no.such.key")}, want: []string{}},
		"Prefix":    {reason: "A prefix of a value matches.", q: Query{Filter: filter.Prefix("spec.type", "TE")}, want: []string{"c"}},
		"Prefixed":  {reason: "A missing value has no prefix.", q: Query{Filter: filter.Prefix("spec.owner", "")}, want: []string{"a"}},
		"Not":       {reason: "A negation matches entities without the field.", q: Query{Filter: filter.Not(filter.In("spec.type", "grpc"))}, want: []string{"d", "c"}},
		"Relation":  {reason: "Relations are fields.", q: Query{Filter: filter.In("relations.ownedBy", "group:default/c")}, want: []string{"a"}},
		"Backwards": {reason: "Relations can be queried in both directions.", q: Query{Filter: filter.In("relations.ownerof", "API:default/A")}, want: []string{"c"}},
		"Kinds":     {reason: "A kind must match completely.", q: Query{Filter: filter.In("kind", "ap", "group", "api:")}, want: []string{"c"}},
		"Both": {
			reason: "Conditions of different lookups can be combined.",
			q:      Query{Filter: filter.All(filter.In("kind", "api"), filter.In("metadata.namespace", "default"), filter.Has("metadata.tags"), filter.In("spec.type", "grpc"))},
			want:   []string{"a", "b"},
		},
		"AnyNone":    {reason: "Any without conditions matches nothing.", q: Query{Filter: filter.Any()}, want: []string{}},
		"AllNone":    {reason: "All without conditions matches everything.", q: Query{Filter: filter.All()}, want: []string{"a", "b", "d", "c"}},
		"Up":         {reason: "Entities without the sort field are last.", q: Query{Order: up("spec.type")}, want: []string{"a", "b", "c", "d"}},
		"Down":       {reason: "Entities without the sort field are last in both directions.", q: Query{Order: []Order{{"spec.type", true}}}, want: []string{"c", "b", "a", "d"}},
		"NullLast":   {reason: "Entities without a value of the sort field are last.", q: Query{Order: up("spec.owner")}, want: []string{"a", "b", "d", "c"}},
		"Unknown":    {reason: "An unknown sort field changes nothing.", q: Query{Order: up("no.such.key")}, want: []string{"a", "b", "d", "c"}},
		"Two":        {reason: "The second sort field decides ties.", q: Query{Order: []Order{{"spec.type", false}, {"metadata.name", true}}}, want: []string{"b", "a", "c", "d"}},
		"SeveralUp":  {reason: "The least of several values is the sort key.", q: Query{Order: up("metadata.tags")}, want: []string{"b", "a", "d", "c"}},
		"Word":       {reason: "All words of a search must match the start of a word.", q: Query{Text: Text{Term: " PAY, mon"}}, want: []string{"a"}},
		"Hump":       {reason: "The parts of a compound word match.", q: Query{Text: Text{Term: "invoice"}}, want: []string{"a"}},
		"NotInside":  {reason: "The inside of a word does not match.", q: Query{Text: Text{Term: "oney"}}, want: []string{}},
		"NoWord":     {reason: "A search without letters matches nothing.", q: Query{Text: Text{Term: "-%-"}}, want: []string{}},
		"Blank":      {reason: "A blank search matches everything.", q: Query{Text: Text{Term: " \t"}}, want: []string{"a", "b", "d", "c"}},
		"Inside":     {reason: "A search in fields matches anywhere in the value.", q: Query{Text: Text{Term: "ONEY f", Fields: []string{"metadata.description"}}}, want: []string{"a"}},
		"Wild":       {reason: "A percent sign is literal.", q: Query{Text: Text{Term: "%", Fields: []string{"metadata.description"}}}, want: []string{"b"}},
		"Under":      {reason: "An underscore and an exclamation mark are literal.", q: Query{Text: Text{Term: "_!", Fields: []string{"metadata.description"}}}, want: []string{"b"}},
		"NoField":    {reason: "A search in an unknown field matches nothing.", q: Query{Text: Text{Term: "a", Fields: []string{"no.such"}}}, want: []string{}},
		"Long":       {reason: "A term longer than any indexed value matches nothing.", q: Query{Text: Text{Term: strings.Repeat("x", 201), Fields: []string{"kind"}}}, want: []string{}},
		"NotText":    {reason: "A value that is not valid text matches nothing.", q: Query{Filter: filter.In("\xffkind\x00", "\xff\x00")}, want: []string{}},
		"Injection":  {reason: "A value with SQL is literal.", q: Query{Filter: filter.In("kind", "' OR 1=1; --")}, want: []string{}},
		"OnlyOffset": {reason: "An offset does not need a limit.", q: Query{Offset: 3}, want: []string{"c"}},
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
					t.Errorf("total is %d, want all matches", page.Total)
				}
			})
		}
	})
}

// TestSetsOfConditions queries for entities that match one of two sets of
// conditions. The index range of one condition has more rows than its set.
func TestSetsOfConditions(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 40 {
			docs = append(docs, small(t, "API", fmt.Sprint("n", i), fmt.Sprintf("spec: {type: %s, lifecycle: %s}", []string{"grpc", "rest"}[i%2], []string{"old", "new"}[i/2%2])))
		}
		put(t, s, docs...)
		set := func(typ, lifecycle string) filter.Filter {
			return filter.All(filter.In("spec.type", typ), filter.In("spec.lifecycle", lifecycle))
		}
		page, err := s.Query(t.Context(), Query{Filter: filter.Any(set("grpc", "old"), set("rest", "new")), Limit: NoLimit, Total: true})
		if err != nil || page.Total != 20 || len(page.Items) != 20 {
			t.Errorf("total is %d with %d entities on the page (%v), want 20", page.Total, len(page.Items), err)
		}
	})
}

func TestTotalFollowsChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		for n := 3; n >= 0; n-- {
			var docs []write.Document
			for i := range n {
				docs = append(docs, small(t, "API", fmt.Sprint("n", i), "spec: {type: grpc}"))
			}
			put(t, replica, docs...)
			for _, limit := range []int{0, 1, 9} {
				page, err := s.Query(t.Context(), Query{Filter: filter.In("spec.type", "grpc"), Limit: limit, Total: true})
				if err != nil || page.Total != n || page.More != (limit == 1 && n > 1) {
					t.Errorf("page with limit %d of %d is %+v, %v", limit, n, page, err)
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
			t.Error("digests of the same entities differ")
		}
		for reason, q := range map[string]Query{
			"a part": {Limit: 1}, "another part": {Limit: 1, Offset: 1}, "none": {Limit: 0},
			"behind": {Limit: 1, Position: &Position{Ref: "api:default/a"}}, "never": {Limit: NoLimit, Filter: filter.Any()},
		} {
			if bytes.Equal(first, digest(t, s, q)) {
				t.Errorf("%s has the digest of all entities", reason)
			}
		}
		put(t, open(), small(t, "API", "a", "  title: new"), small(t, "API", "b", ""))
		if bytes.Equal(first, digest(t, s, all)) {
			t.Error("digest is unchanged after a change")
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
		var docs []write.Document
		for i := range batch + 3 {
			docs = append(docs, small(t, "API", fmt.Sprintf("n%03d", i), ""))
		}
		put(t, s, docs...)
		var seen []Entity
		err := s.Each(t.Context(), Query{Limit: NoLimit}, func(e *Entity) error {
			if len(seen) == 0 {
				// A change meanwhile is not visible.
				put(t, s, docs[:1]...)
			}
			seen = append(seen, *e)
			return nil
		})
		if err != nil || len(seen) != len(docs) {
			t.Errorf("list has %d of %d entities: %v", len(seen), len(docs), err)
		}
		for i, e := range seen {
			if want := fmt.Sprintf("api:default/n%03d", i); e.Ref != want || !bytes.Contains(e.JSON, []byte(e.UID)) {
				t.Errorf("entity is %s, want %s", e.Ref, want)
			}
		}
		stop := errors.New("enough")
		if err := s.Each(t.Context(), Query{Limit: NoLimit}, func(*Entity) error { return stop }); !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

// TestEachLeavesRoom keeps lists open without reading them. All other calls
// succeed meanwhile, and a further list waits only until its context ends.
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
			return s.readMany(ctx, ask, []string{"api:default/a"}, func(*Entity) {})
		}); err != nil {
			t.Errorf("read in a snapshot returned %v", err)
		}
		impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err := s.Each(impatient, Query{Limit: NoLimit}, func(*Entity) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("list above the limit returned %v, want context.DeadlineExceeded", err)
		}
	})
}

func TestTooComplex(t *testing.T) {
	deep := filter.Has("kind")
	for range maxDepth {
		deep = filter.Not(deep)
	}
	wide := filter.All()
	for range maxConditions + 1 {
		wide.Filters = append(wide.Filters, filter.Has("kind"))
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		labels := make([]string, maxConditions)
		for i := range labels {
			labels[i] = fmt.Sprintf("l%d: v", i)
		}
		put(t, s, small(t, "API", "a", "  labels: { "+strings.Join(labels, ", ")+" }"))
		for name, q := range map[string]Query{
			"Deep":   {Filter: deep},
			"Wide":   {Filter: wide},
			"Values": {Filter: filter.In("kind", make([]string, maxConditions+1)...)},
			"Words":  {Text: Text{Term: strings.Repeat("a ", maxConditions+1)}},
			"Fields": {Text: Text{Term: "a", Fields: make([]string, maxConditions+1)}},
			"Order":  {Order: make([]Order, maxOrder+1)},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := s.Query(t.Context(), q); !errors.Is(err, ErrTooComplex) {
					t.Error(err)
				}
			})
		}
		if _, err := s.Facets(t.Context(), make([]string, maxConditions+1), filter.Filter{}, Text{}); !errors.Is(err, ErrTooComplex) {
			t.Error(err)
		}
		// Queries of the maximum size succeed.
		var has, hasNot, pairs []filter.Filter
		values := make([]string, maxConditions)
		for i := range values {
			values[i] = fmt.Sprint("v", i)
			label := fmt.Sprint("metadata.labels.l", i)
			has, hasNot = append(has, filter.Has(label)), append(hasNot, filter.Not(filter.Has(label)))
			if i%4 == 0 {
				pairs = append(pairs, filter.All(filter.In(label, "v", "w"), filter.In("metadata.name", fmt.Sprint("x", i), "a")))
			}
		}
		values[7] = "api"
		for name, c := range map[string]struct {
			filter filter.Filter
			found  int
		}{
			"Deep":    {deep.Filters[0], 0},
			"Values":  {filter.In("metadata.name", values...), 0},
			"Kinds":   {filter.In("kind", values...), 1},
			"All":     {filter.All(has...), 1},
			"Any":     {filter.Any(has...), 1},
			"None":    {filter.All(hasNot...), 0},
			"NotAny":  {filter.Not(filter.Any(has...)), 0},
			"Lacking": {filter.Any(hasNot...), 0},
			"Pairs":   {filter.Any(pairs...), 1},
		} {
			q := Query{Filter: c.filter}
			t.Run("Allowed"+name, func(t *testing.T) {
				q.Limit = 1
				q.Total = true
				q.Order = []Order{{Field: "metadata.title"}}
				page, err := s.Query(t.Context(), q)
				if err != nil || len(page.Items) != c.found || page.Total != c.found {
					t.Errorf("page has %d of %d entities, want %d: %v", len(page.Items), page.Total, c.found, err)
				}
			})
		}
	})
}

// TestSureOrder sorts by fields of which every entity has one value. No entity
// is repeated because of its spelling, or missing because its value is too long.
func TestSureOrder(t *testing.T) {
	long := strings.Repeat(strings.Repeat("g", 60)+".", 4) + "io/v1"
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, component(t, "b"),
			document(t, `{"apiVersion":"v1","kind":"Component","metadata":{"name":"a","Name":"z","name`+index.NoValue+`":"y"},"spec":{}}`),
			document(t, `{"apiVersion":"`+long+`","kind":"Component","metadata":{"name":"c"},"spec":{}}`))
		for field, want := range map[string][]string{
			"metadata.name": {"a", "b", "c"},
			"apiVersion":    {"b", "a", "c"},
		} {
			page, err := s.Query(t.Context(), Query{Order: []Order{{Field: field}}, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, named(page.Items)); diff != "" {
				t.Errorf("order by %s differs: %s", field, diff)
			}
		}
	})
}

// TestSpellings reads entities in the order of values that have more spellings than rows are
// read at a time.
func TestSpellings(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		var want []string
		for i := range mostScanned + 10 {
			title := []byte("abcdefghijklm")
			for bit := range title {
				if i>>bit&1 == 1 {
					title[bit] -= 'a' - 'A'
				}
			}
			if i < 5 {
				title = []byte("zzz")
			}
			name := fmt.Sprintf("n%05d", i)
			docs = append(docs, small(t, "API", name, "  title: "+string(title)))
			want = append(want, "api:default/"+name)
		}
		put(t, s, docs...)
		want = append(want[5:], want[:5]...)
		for _, few := range []int{0, 1} {
			s.maxLoaded, s.cache = few, cache.New(s.Now)
			page, err := s.Query(t.Context(), Query{Order: []Order{{Field: "metadata.title"}}, Limit: NoLimit})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, refsOf(page.Items)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// TestCachedPages checks that pages, which are cached, follow changes, and that callers and
// queries do not affect each other.
func TestCachedPages(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		titled := func(name, title string) write.Document { return small(t, "API", name, "  title: "+title) }
		put(t, s, titled("a", "t1"), titled("b", "t2"), titled("c", "t3"))
		read := func(q Query) Page {
			t.Helper()
			page, err := s.Query(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		byTitle := Query{Order: []Order{{Field: "metadata.title"}}, Limit: 2, Total: true}
		steps := map[string]struct {
			reason string
			before func()
			want   []string
			total  int
		}{
			"1 first":   {"The page is read.", func() {}, []string{"api:default/a", "api:default/b"}, 3},
			"2 again":   {"It is the same from the cache.", func() {}, []string{"api:default/a", "api:default/b"}, 3},
			"3 scribe":  {"A caller may change its page.", func() { read(byTitle).Items[0] = Entity{} }, []string{"api:default/a", "api:default/b"}, 3},
			"4 changed": {"A changed entity is at its new place.", func() { put(t, s, titled("a", "t9"), titled("b", "t2"), titled("c", "t3")) }, []string{"api:default/b", "api:default/c"}, 3},
			"5 removed": {"A removed entity is gone.", func() { put(t, s, titled("a", "t9"), titled("b", "t2")) }, []string{"api:default/b", "api:default/a"}, 2},
		}
		for _, name := range slices.Sorted(maps.Keys(steps)) {
			step := steps[name]
			step.before()
			page := read(byTitle)
			if diff := cmp.Diff(step.want, refsOf(page.Items)); diff != "" || page.Total != step.total {
				t.Errorf("%s: %s\n%d entities, want %d (-want +got):\n%s", name, step.reason, page.Total, step.total, diff)
			}
			for _, e := range page.Items {
				if got := decodeBody(t, e.JSON).Get("metadata", "etag").Str(); got != e.ETag {
					t.Errorf("%s: body has etag %q instead of %q", name, got, e.ETag)
				}
			}
		}
		// No entity has a position for an unknown field, but a cursor has a place for it.
		for _, order := range [][]Order{nil, {{Field: "nosuch"}}, {{Field: "nosuch"}, {Field: "metadata.title"}}, {{Field: "metadata.title", Desc: true}}} {
			for range 2 {
				page := read(Query{Order: order, Limit: 1})
				if n := len(page.Last.Values); n != len(order) {
					t.Errorf("order %v: cursor has %d values, want %d", order, n, len(order))
				}
			}
		}
		for _, limit := range []int{1, 2} {
			if page := read(Query{Limit: limit}); len(page.Items) != limit || page.More != (limit == 1) {
				t.Errorf("limit %d: %d entities, more: %v", limit, len(page.Items), page.More)
			}
		}
	})
}

package store

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/texts"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// document reads a document from YAML or JSON.
func document(tb testing.TB, text string) write.Document {
	tb.Helper()
	nodes, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 {
		tb.Fatal(errs[0])
	}
	return write.Document{Node: nodes[0]}
}

// put stores documents.
func put(tb testing.TB, s *Store, docs ...write.Document) {
	tb.Helper()
	r, err := s.Sync(tb.Context(), write.Change{Provider: "test", Full: true, Put: docs})
	if err != nil {
		tb.Fatal(err)
	}
	if len(r.Refused) > 0 {
		tb.Fatal(r.Refused)
	}
}

// model is an entity in memory: the values of its keys, the keys of its list
// items, and its words.
type model struct {
	ref    string
	values map[string][]string
	items  map[string]bool
	words  []string
}

// modelOf indexes a document in memory.
func modelOf(d write.Document) model {
	m := model{ref: entity.RefOf(d.Node).String(), values: map[string][]string{}, items: map[string]bool{}, words: index.Words(d.Node)}
	index.Walk(d.Node, func(key []byte, value, _ string) {
		m.values[string(key)] = append(m.values[string(key)], value)
	}, func(key []byte) {
		for _, v := range m.values[string(key)] {
			m.items[string(key)+"."+v] = true
		}
	})
	m.values[index.UIDKey] = []string{"uid"}
	return m
}

// valued returns the values that can be compared, sorted.
func (m model) valued(key string) []string {
	all := slices.Sorted(slices.Values(m.values[strings.ToLower(key)]))
	return slices.DeleteFunc(all, func(v string) bool { return v == index.NoValue })
}

func (m model) passes(f filter.Filter) bool {
	anyValue := func(passes func(v, wanted string) bool) bool {
		values := m.valued(f.Key)
		if m.items[strings.ToLower(f.Key)] {
			values = append(values, "true")
		}
		return slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(f.Values, func(w string) bool { return passes(v, strings.ToLower(w)) })
		})
	}
	switch f.Op {
	case filter.OpTrue:
		return true
	case filter.OpAll:
		return !slices.ContainsFunc(f.Filters, func(f filter.Filter) bool { return !m.passes(f) })
	case filter.OpAny:
		return slices.ContainsFunc(f.Filters, m.passes)
	case filter.OpNot:
		return !m.passes(f.Filters[0])
	case filter.OpHas:
		return len(m.values[strings.ToLower(f.Key)]) > 0 || m.items[strings.ToLower(f.Key)]
	case filter.OpIn:
		return anyValue(func(v, w string) bool { return v == w })
	case filter.OpPrefix:
		return anyValue(strings.HasPrefix)
	}
	return false
}

func (m model) found(t Text) bool {
	term := strings.ToLower(strings.TrimSpace(t.Term))
	if term == "" {
		return true
	}
	if len(t.Fields) > 0 {
		return slices.ContainsFunc(t.Fields, func(key string) bool {
			return slices.ContainsFunc(m.valued(key), func(v string) bool { return strings.Contains(v, term) })
		})
	}
	for _, w := range strings.FieldsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !slices.ContainsFunc(m.words, func(word string) bool { return strings.HasPrefix(word, w) }) {
			return false
		}
	}
	return true
}

// place returns the sort key of an entity.
func (m model) place(order []Order) *Position {
	p := &Position{Values: make([]*string, len(order)), Ref: m.ref}
	for i, o := range order {
		vs := m.valued(o.Field)
		if o.Desc {
			slices.Reverse(vs)
		}
		if len(vs) > 0 {
			p.Values[i] = &vs[0]
		}
	}
	return p
}

// choose returns the result of a query as a list of references.
func choose(all []model, q Query) []string {
	var chosen []model
	for _, m := range all {
		if m.passes(q.Filter) && m.found(q.Text) {
			chosen = append(chosen, m)
		}
	}
	desc := len(q.Order) > 0 && q.Order[len(q.Order)-1].Desc
	slices.SortFunc(chosen, func(a, b model) int {
		p, o := a.place(q.Order), b.place(q.Order)
		for i, order := range q.Order {
			v, w := p.Values[i], o.Values[i]
			switch {
			case v == nil && w == nil:
			case v == nil:
				return 1
			case w == nil:
				return -1
			case *v != *w:
				return signed(cmp.Compare(*v, *w), order.Desc)
			}
		}
		return signed(cmp.Compare(a.ref, b.ref), desc)
	})
	refs := []string{}
	for _, m := range chosen {
		refs = append(refs, m.ref)
	}
	return refs
}

// randomDocuments returns documents with few different values, so that there are
// many ties.
func randomDocuments(tb testing.TB, n int) []write.Document {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	docs := make([]write.Document, n)
	for i := range docs {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s-%d\n",
			pick("backstage.io/v1alpha1", "v1"), pick("Component", "API", "Group"), pick("pay", "Pay", "müll", "zoo"), i)
		if random.IntN(3) > 0 {
			fmt.Fprintf(&b, "  namespace: %s\n", pick("default", "other", "a"))
		}
		if random.IntN(2) > 0 {
			fmt.Fprintf(&b, "  title: %q\n", pick("One Two", "one", "Zwei%", "z_i", "", "ÄRGER", strings.Repeat("long", 60)))
		}
		if random.IntN(2) > 0 {
			fmt.Fprintf(&b, "  tags: [%s, %s]\n", pick("go", "a", "b"), pick("go", "java", "c"))
		}
		fmt.Fprintf(&b, "spec:\n  rank: %s\n", pick("1", "2", "null", "true"))
		if random.IntN(2) > 0 {
			fmt.Fprintf(&b, "  type: %s\n", pick("service", "Service", "library"))
		}
		docs[i] = document(tb, b.String())
	}
	return docs
}

var (
	modelKeys = []string{
		"kind", "apiVersion", "metadata.name", "metadata.Namespace", "metadata.title", "metadata.tags", "metadata.tags.go",
		"spec.rank", "spec.type", "no.such.key",
	}
	modelValues = []string{
		"component", "API", "group", "kind", "default", "other", "a", "b", "go", "GO", "one two", "zwei%", "", "ärger",
		"1", "null", "true", "service", "pay-1", "v1", "\x00", "\xff", index.NoValue, strings.Repeat("long", 60), "component:x",
	}
)

// drawFilter draws a filter. Most conditions hold for a witness, one of the
// existing entities, so that filters, and conjunctions too, match something. The
// generator favours the first choice, so the usual case is first in each list.
func drawFilter(t *rapid.T, all []model, depth int) filter.Filter {
	return drawFilterFor(t, rapid.SampledFrom(all).Draw(t, "witness"), all, depth)
}

func drawFilterFor(t *rapid.T, witness model, all []model, depth int) filter.Filter {
	ops := []filter.Op{filter.OpIn, filter.OpIn, filter.OpIn, filter.OpPrefix, filter.OpHas, filter.OpTrue, filter.OpFalse}
	if depth > 0 {
		ops = append([]filter.Op{filter.OpAny, filter.OpAll, filter.OpAll, filter.OpAny, filter.OpNot}, ops...)
	}
	f := filter.Filter{Op: rapid.SampledFrom(ops).Draw(t, "op")}
	few := rapid.SampledFrom([]int{2, 3, 1, 0})
	switch f.Op {
	case filter.OpHas, filter.OpIn, filter.OpPrefix:
		return drawLeaf(t, witness, f.Op)
	case filter.OpAll:
		for range few.Draw(t, "filters") {
			f.Filters = append(f.Filters, drawFilterFor(t, witness, all, depth-1))
		}
	case filter.OpAny:
		for range few.Draw(t, "filters") {
			f.Filters = append(f.Filters, drawFilter(t, all, depth-1))
		}
	case filter.OpNot:
		f.Filters = []filter.Filter{drawFilter(t, all, depth-1)}
	}
	return f
}

// drawLeaf draws a condition on a field.
func drawLeaf(t *rapid.T, witness model, op filter.Op) filter.Filter {
	f := filter.Filter{Op: op, Key: rapid.SampledFrom(modelKeys).Draw(t, "key")}
	if op == filter.OpHas {
		return f
	}
	f.Values = rapid.SliceOfN(rapid.SampledFrom(modelValues), 1, 3).Draw(t, "values")
	if values := witness.valued(f.Key); len(values) > 0 && !rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "foreign") {
		f.Values[0] = rapid.SampledFrom(values).Draw(t, "value")
		if op == filter.OpPrefix {
			letters := []rune(f.Values[0])
			f.Values[0] = string(letters[:rapid.IntRange(0, len(letters)).Draw(t, "length")])
		}
	}
	if op == filter.OpPrefix || rapid.Bool().Draw(t, "one value") {
		f.Values = f.Values[:1]
	}
	return f
}

// drawRequest draws a filter as in requests: one of several sets of conditions
// holds.
func drawRequest(t *rapid.T, all []model) filter.Filter {
	var sets []filter.Filter
	for range rapid.SampledFrom([]int{2, 1, 3}).Draw(t, "sets") {
		witness := rapid.SampledFrom(all).Draw(t, "witness")
		var set []filter.Filter
		for range rapid.SampledFrom([]int{2, 1, 3}).Draw(t, "conditions") {
			set = append(set, drawLeaf(t, witness, filter.OpIn))
		}
		sets = append(sets, filter.All(set...))
	}
	return filter.Any(sets...)
}

// cleaned returns a filter without characters that are not valid text.
func cleaned(f filter.Filter) filter.Filter {
	f.Values = slices.Clone(f.Values)
	for i, v := range f.Values {
		f.Values[i] = db.Storable(v)
	}
	f.Filters = slices.Clone(f.Filters)
	for i, sub := range f.Filters {
		f.Filters[i] = cleaned(sub)
	}
	return f
}

func drawQuery(t *rapid.T, all []model) Query {
	q := Query{Filter: drawFilter(t, all, 3), Total: true}
	if rapid.Bool().Draw(t, "request") {
		q.Filter = drawRequest(t, all)
	}
	if rapid.IntRange(0, 5).Draw(t, "one kind") == 5 {
		q.Filter = filter.All(q.Filter, filter.In("kind", "Component"), filter.In("metadata.namespace", "Other"))
	}
	if rapid.IntRange(0, 5).Draw(t, "by name") == 5 {
		// The order of references, unless that is opposite.
		if rapid.Bool().Draw(t, "all of a kind") {
			q.Filter = filter.In("kind", "Component")
		}
		if rapid.Bool().Draw(t, "all of a namespace") {
			q.Filter = filter.All(filter.In("kind", "Component"), filter.In("metadata.namespace", "Other"))
		}
		q.Order = []Order{
			{Field: "metadata.name", Desc: rapid.Bool().Draw(t, "names desc")},
			{Field: "no.such.key", Desc: rapid.Bool().Draw(t, "references desc")},
		}
	}
	for range rapid.IntRange(0, 3-len(q.Order)).Draw(t, "fields") {
		q.Order = append(q.Order, Order{
			Field: rapid.SampledFrom(modelKeys).Draw(t, "field"), Desc: rapid.Bool().Draw(t, "desc"),
		})
	}
	if rapid.IntRange(0, 5).Draw(t, "text") == 5 {
		q.Text.Term = rapid.SampledFrom([]string{"pay", "go j", "Zwei", "%", "_", "i", "one tw", "ä", " "}).Draw(t, "term")
		q.Text.Fields = rapid.SliceOfN(rapid.SampledFrom(modelKeys), 0, 2).Draw(t, "inside")
		if len(q.Text.Fields) == 0 && len(index.SplitWords(q.Text.Term)) == 0 {
			q.Text.Term = ""
		}
	}
	return q
}

// TestQueryIsLikeModel reads random queries page by page, in both directions,
// and compares them with results computed in memory.
func TestQueryIsLikeModel(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		docs := randomDocuments(t, 150)
		all := make([]model, len(docs))
		for i, d := range docs {
			all[i] = modelOf(d)
		}
		s := open()
		put(t, s, docs...)
		asked, some, memory := 0, 0, texts.MaxBytes
		rapid.Check(t, func(t *rapid.T) {
			// The limits decide what is read as a whole, and what is searched in memory.
			if size := rapid.SampledFrom([]int{texts.MaxBytes, texts.MaxBytes, 0}).Draw(t, "memory of texts"); size != memory {
				memory, s.texts = size, texts.New(s.DB, size)
			}
			s.maxLoaded = rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "few")
			s.leastAsked = rapid.SampledFrom([]int{1, 1, 1 << 30}).Draw(t, "rows before values are read")
			s.cache = cache.New(s.Now)
			q := drawQuery(t, all)
			model := q
			model.Filter = cleaned(q.Filter)
			want := choose(all, model)
			if asked++; len(want) > 0 && len(want) < len(all) {
				some++
			}
			if diff := gocmp.Diff(want, walk(t, s, q, want, false)); diff != "" {
				t.Fatal(diff)
			}
			if diff := gocmp.Diff(want, walk(t, s, q, want, true)); diff != "" {
				t.Fatal("backwards", diff)
			}
			q.Limit = NoLimit
			each := []string{}
			if err := s.Each(t.Context(), q, func(e *Entity) error {
				each = append(each, e.Ref)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, each); diff != "" {
				t.Fatal("each", diff)
			}
			offset := rapid.IntRange(0, len(want)+2).Draw(t, "offset")
			limit := rapid.IntRange(0, 9).Draw(t, "limit")
			q.Offset, q.Limit = offset, limit
			page := ask1(t, s, q)
			part := want[min(offset, len(want)):min(offset+limit, len(want))]
			if diff := gocmp.Diff(part, refsOf(page.Items)); diff != "" {
				t.Fatal("offset", diff)
			}
			if limit > 0 && page.More != (offset+limit < len(want)) {
				t.Fatalf("page of %d at offset %d of %d: more is %v", limit, offset, len(want), page.More)
			}
		})
		if some*4 < asked {
			t.Errorf("only %d of %d filters match some entities but not all", some, asked)
		}
	})
}

// TestLate reads pages of entities that are all at the end of an index.
func TestLate(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		var all []model
		for i := range 800 {
			kind, typ := "API", "early"
			if i >= 700 {
				typ = "late"
			}
			if i >= 780 {
				kind = "Resource"
			}
			docs = append(docs, small(t, kind, fmt.Sprintf("n%03d", i), fmt.Sprintf("  title: t%03d\n  tags: [x%03d, a]\nspec: {type: %s}", i, i, typ)))
			all = append(all, modelOf(docs[i]))
		}
		put(t, s, docs...)
		s.maxLoaded = 1
		rapid.Check(t, func(t *rapid.T) {
			s.cache = cache.New(s.Now)
			q := Query{Filter: filter.In("spec.type", "late"), Limit: NoLimit, Total: true}
			if rapid.Bool().Draw(t, "few") {
				q.Filter = filter.Any(filter.In("metadata.name", "n797", "n798"), filter.In("metadata.title", "t799", "t700"))
			}
			if field := rapid.SampledFrom([]string{"", "metadata.title", "metadata.name", "metadata.tags"}).Draw(t, "field"); field != "" {
				q.Order = []Order{{Field: field, Desc: rapid.Bool().Draw(t, "desc")}}
			}
			want := choose(all, q)
			for _, back := range []bool{false, true} {
				if diff := gocmp.Diff(want, walk(t, s, q, want, back)); diff != "" {
					t.Fatal(back, diff)
				}
			}
			q.Offset, q.Limit = rapid.IntRange(0, 20).Draw(t, "offset"), rapid.IntRange(1, 9).Draw(t, "limit")
			part := want[min(q.Offset, len(want)):min(q.Offset+q.Limit, len(want))]
			if diff := gocmp.Diff(part, refsOf(ask1(t, s, q).Items)); diff != "" {
				t.Fatal("offset", diff)
			}
		})
	})
}

func ask1(t *rapid.T, s *Store, q Query) Page {
	page, err := s.Query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func refsOf(items []Entity) []string {
	refs := []string{}
	for _, e := range items {
		refs = append(refs, e.Ref)
	}
	return refs
}

// walk returns all references of a query, read in pages of random sizes.
func walk(t *rapid.T, s *Store, q Query, want []string, back bool) []string {
	got := []string{}
	if back {
		// An empty page after the end, and pages back from there.
		page := ask1(t, s, Query{Filter: q.Filter, Text: q.Text, Order: q.Order, Limit: NoLimit})
		if page.Last == nil {
			return got
		}
		q.Position, q.Backward = page.Last, true
		got = []string{page.Last.Ref}
	}
	for {
		q.Limit = rapid.IntRange(1, 40).Draw(t, "size")
		page := ask1(t, s, q)
		if page.Total != len(want) {
			t.Fatalf("total is %d, want %d", page.Total, len(want))
		}
		refs := refsOf(page.Items)
		if back {
			got = append(refs, got...)
			q.Position = page.First
		} else {
			got = append(got, refs...)
			q.Position = page.Last
		}
		if len(page.Items) == 0 || page.More != (len(got) < len(want)) {
			if len(got) != len(want) {
				t.Fatalf("walk read %d of %d entities, and more is %v", len(got), len(want), page.More)
			}
		}
		if !page.More {
			return got
		}
	}
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
)

// facetsNow returns facets, and fails the test on an error.
func facetsNow(tb interface {
	rapid.TB
	Context() context.Context
}, s *Store, facets []string, f filter.Filter, text Text) map[string][]Facet {
	tb.Helper()
	got, err := s.Facets(tb.Context(), facets, f, text)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// TestFacetsAtOnce sends the same request many times concurrently after
// each change.
func TestFacetsAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		s.maxLoaded = 1
		for name, text := range map[string]Text{"Fields": {}, "Words": {Term: "n"}, "Substring": {Term: "n", Fields: []string{"metadata.name"}}} {
			t.Run(name, func(t *testing.T) {
				for round := range 5 {
					put(t, s, small(t, "API", "n", fmt.Sprintf("spec: {type: t%d}", round)))
					var wg sync.WaitGroup
					for range 32 {
						wg.Go(func() {
							got, err := s.Facets(t.Context(), []string{"spec.type"}, filter.In("kind", "api"), text)
							want := map[string][]Facet{"spec.type": {{fmt.Sprint("t", round), 1}}}
							if diff := gocmp.Diff(want, got); diff != "" || err != nil {
								t.Error(diff, err)
							}
						})
					}
					wg.Wait()
				}
			})
		}
	})
}

// TestFacetsOfCallersAreApart reads the facets of two callers, who may read
// different entities, concurrently with writes. No caller gets facets of the
// other, however they are computed.
func TestFacetsOfCallersAreApart(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		s.maxLoaded = 1
		docs := func(round int) (all []write.Document) {
			for i := range 20 {
				team := []string{"red", "blue"}[i%2]
				all = append(all, small(t, "API", fmt.Sprint("n", i), fmt.Sprintf("spec: {owner: %s, type: %s-%d}", team, team, (round+i)%3)))
			}
			return all
		}
		put(t, s, docs(0)...)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		asked := make(chan struct{}, 1000)
		for _, text := range []Text{{}, {Term: "api"}} {
			for i := range 6 {
				mine := []string{"red", "blue"}[i%2]
				wg.Go(func() {
					for ctx.Err() == nil {
						got, err := s.Facets(t.Context(), []string{"spec.type", "spec.owner"}, filter.In("spec.owner", mine), text)
						if err != nil {
							t.Error(err)
							return
						}
						if diff := gocmp.Diff([]Facet{{mine, 10}}, got["spec.owner"]); diff != "" {
							t.Error(diff)
						}
						for _, f := range got["spec.type"] {
							if !strings.HasPrefix(f.Value, mine) {
								t.Errorf("caller of %s got the value %s", mine, f.Value)
							}
						}
						select {
						case asked <- struct{}{}:
						default:
						}
					}
				})
			}
		}
		for round := range 20 {
			put(t, s, docs(round+1)...)
			<-asked
		}
		stop()
		wg.Wait()
	})
}

// drawEntity draws one of a dozen entities, which have few different values.
func drawEntity(t *rapid.T) write.Document {
	i := rapid.IntRange(0, 11).Draw(t, "entity")
	metadata := tree.Obj(
		tree.F("name", tree.Str(fmt.Sprint("n", i))), tree.F("namespace", tree.Str([]string{"default", "Other"}[i%2])))
	text := rapid.SampledFrom([]string{"x", "X", "Mixed Case", "mixed case", "", "true", strings.Repeat("long", 60)})
	if rapid.Bool().Draw(t, "titled") {
		metadata.Set("title", tree.Str(text.Draw(t, "title")))
	}
	if n := rapid.IntRange(0, 3).Draw(t, "tags"); n > 0 {
		metadata.Set("tags", tree.Strs(rapid.SliceOfN(rapid.SampledFrom([]string{"go", "Go", "java", "c"}), n, n).Draw(t, "tags")))
	}
	spec := tree.Obj()
	if rapid.Bool().Draw(t, "typed") {
		spec.Set("type", tree.Str(text.Draw(t, "type")))
	}
	if rapid.Bool().Draw(t, "ranked") {
		spec.Set("rank", &tree.Node{Kind: tree.Null})
	}
	return write.Document{Node: tree.Obj(tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str([]string{"API", "Component", "Group"}[i%3])),
		tree.F("metadata", metadata), tree.F("spec", spec))}
}

// writtenOf returns the values of an entity as they are written; of several
// spellings the first.
func writtenOf(d write.Document) map[string]map[string]string {
	all := map[string]map[string]string{}
	index.Walk(d.Node, func(key []byte, value, original string) {
		of := all[string(key)]
		if of == nil {
			of = map[string]string{}
			all[string(key)] = of
		}
		if _, ok := of[value]; !ok && value != index.NoValue {
			of[value] = cmp.Or(original, value)
		}
	}, func([]byte) {})
	return all
}

// modelFacet counts the values of a field in memory.
func modelFacet(docs map[string]write.Document, facet string, f filter.Filter, text Text) []Facet {
	counts := map[string]int{}
	for _, d := range docs {
		m := modelOf(d)
		if !m.passes(f) || !m.found(text) {
			continue
		}
		written := writtenOf(d)[strings.ToLower(facet)]
		if m.items[strings.ToLower(facet)] {
			written = maps.Clone(written)
			if written == nil {
				written = map[string]string{}
			}
			written[index.Item] = index.Item
		}
		for _, value := range written {
			counts[value]++
		}
	}
	facets := []Facet{}
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		facets = append(facets, Facet{value, counts[value]})
	}
	return facets
}

// drawHit draws a filter that matches an existing entity, its key and value
// drawn from one, or the negation of it, alone or with others.
func drawHit(t *rapid.T, docs map[string]write.Document, depth int) filter.Filter {
	ops := []filter.Op{filter.OpIn, filter.OpIn, filter.OpIn, filter.OpPrefix, filter.OpHas, filter.OpNot}
	if depth > 0 {
		ops = append(ops, filter.OpAll, filter.OpAny)
	}
	f := filter.Filter{Op: rapid.SampledFrom(ops).Draw(t, "op")}
	switch f.Op {
	case filter.OpAll, filter.OpAny:
		for range rapid.IntRange(1, 3).Draw(t, "filters") {
			f.Filters = append(f.Filters, drawHit(t, docs, depth-1))
		}
		return f
	case filter.OpNot:
		f.Filters = []filter.Filter{drawHit(t, docs, depth)}
		return f
	}
	ref := rapid.SampledFrom(slices.Sorted(maps.Keys(docs))).Draw(t, "of")
	fields := writtenOf(docs[ref])
	for _, tag := range fields["metadata.tags"] {
		fields["metadata.tags."+tag] = map[string]string{index.Item: index.Item}
	}
	f.Key = rapid.SampledFrom(slices.Sorted(maps.Keys(fields))).Draw(t, "key")
	if f.Op == filter.OpHas {
		return f
	}
	values := slices.Sorted(maps.Values(fields[f.Key]))
	if len(values) == 0 {
		f.Op = filter.OpHas
		return f
	}
	value := rapid.SampledFrom(values).Draw(t, "value")
	if f.Op == filter.OpPrefix {
		value = value[:rapid.IntRange(0, len(value)).Draw(t, "beginning")]
	}
	f.Values = []string{value}
	if f.Op == filter.OpIn && rapid.Bool().Draw(t, "another") {
		f.Values = append(f.Values, "x")
	}
	return f
}

// TestFacetsAreLikeModel compares facets and totals, after random changes by two
// replicas, with values computed in memory.
func TestFacetsAreLikeModel(t *testing.T) {
	keys := []string{"kind", "metadata.namespace", "metadata.title", "metadata.tags", "metadata.tags.Go", "spec.Type", "spec.rank", "no.such"}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		hits, asked := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			s.maxLoaded = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "few")
			s.cache = cache.New(s.Now)
			docs := map[string]write.Document{}
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				c := write.Change{Provider: "test", Full: rapid.IntRange(0, 3).Draw(t, "full") == 0}
				if len(docs) == 0 {
					c.Full = true
				}
				if c.Full {
					clear(docs)
				}
				c.Put = rapid.SliceOfNDistinct(rapid.Custom(drawEntity), 0, 6, func(d write.Document) string {
					return entity.RefOf(d.Node).String()
				}).Draw(t, "put")
				for _, ref := range slices.Sorted(maps.Keys(docs)) {
					if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
						c.Remove = append(c.Remove, ref)
						delete(docs, ref)
					}
				}
				for _, d := range c.Put {
					docs[entity.RefOf(d.Node).String()] = d
				}
				writer := rapid.SampledFrom([]*Store{s, replica}).Draw(t, "writer")
				if _, err := writer.Sync(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				for range rapid.IntRange(0, 3).Draw(t, "asked") {
					f, text := filter.Filter{}, Text{}
					if len(docs) > 0 {
						f = drawHit(t, docs, 2)
					}
					if rapid.IntRange(0, 4).Draw(t, "search") == 0 {
						text.Term = rapid.SampledFrom([]string{"n1", "mix", "go"}).Draw(t, "term")
					}
					facets := rapid.SliceOfN(rapid.SampledFrom(keys), 1, 3).Draw(t, "facets")
					want := map[string][]Facet{}
					for _, facet := range facets {
						want[facet] = modelFacet(docs, facet, f, text)
					}
					if diff := gocmp.Diff(want, facetsNow(t, s, facets, f, text)); diff != "" {
						t.Fatal(diff)
					}
					total := 0
					for _, d := range docs {
						if m := modelOf(d); m.passes(f) && m.found(text) {
							total++
						}
					}
					if page := ask1(t, s, Query{Filter: f, Text: text, Limit: 1, Total: true}); page.Total != total {
						t.Fatalf("total is %d, want %d", page.Total, total)
					}
					if asked++; total > 0 {
						hits++
					}
				}
			}
		})
		if hits*2 < asked {
			t.Errorf("of %d filters %d match something", asked, hits)
		}
	})
}

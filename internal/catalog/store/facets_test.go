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
)

// facetsNow counts, and fails the test if it cannot.
func facetsNow(tb interface {
	rapid.TB
	Context() context.Context
}, s *Store, facets []string, f Filter, text Text) map[string][]Facet {
	tb.Helper()
	got, err := s.Facets(tb.Context(), facets, f, text)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// TestFacetsAreCountedOnce asks the same many times at once after each change.
func TestFacetsAreCountedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		s.cached.sparseLimit = 1
		for name, text := range map[string]Text{"Columns": {}, "Words": {Term: "n"}} {
			t.Run(name, func(t *testing.T) {
				for round := range 5 {
					put(t, s, small(t, "API", "n", fmt.Sprintf("spec: {type: t%d}", round)))
					before := s.flights.computed.Load()
					var wg sync.WaitGroup
					for range 32 {
						wg.Go(func() {
							got, err := s.Facets(t.Context(), []string{"spec.type"}, In("kind", "api"), text)
							want := map[string][]Facet{"spec.type": {{fmt.Sprint("t", round), 1}}}
							if diff := gocmp.Diff(want, got); diff != "" || err != nil {
								t.Error(diff, err)
							}
						})
					}
					wg.Wait()
					if n := s.flights.computed.Load() - before; n != 1 {
						t.Errorf("it was computed %d times", n)
					}
				}
			})
		}
	})
}

// TestFacetsOfCallersAreApart asks for two callers, who may see different entities,
// at the same time and while somebody writes. Neither ever gets what the other may
// see, whichever way it is counted.
func TestFacetsOfCallersAreApart(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		s.cached.sparseLimit = 1
		docs := func(round int) (all []Document) {
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
						got, err := s.Facets(t.Context(), []string{"spec.type", "spec.owner"}, In("spec.owner", mine), text)
						if err != nil {
							t.Error(err)
							return
						}
						if diff := gocmp.Diff([]Facet{{mine, 10}}, got["spec.owner"]); diff != "" {
							t.Error(diff)
						}
						for _, f := range got["spec.type"] {
							if !strings.HasPrefix(f.Value, mine) {
								t.Errorf("%s sees %s", mine, f.Value)
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
func drawEntity(t *rapid.T) Document {
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
	return Document{Node: tree.Obj(tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str([]string{"API", "Component", "Group"}[i%3])),
		tree.F("metadata", metadata), tree.F("spec", spec))}
}

// writtenOf returns the values of an entity as they are written: of several ways the
// first.
func writtenOf(d Document) map[string]map[string]string {
	all := map[string]map[string]string{}
	x := indexer{add: func(key []byte, value, original string) {
		of := all[string(key)]
		if of == nil {
			of = map[string]string{}
			all[string(key)] = of
		}
		if _, ok := of[value]; !ok && value != noValue {
			of[value] = cmp.Or(original, value)
		}
	}}
	x.document(d.Node)
	return all
}

// modelFacet counts the values of a field in memory.
func modelFacet(docs map[string]Document, facet string, f Filter, text Text) []Facet {
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
			written[item] = item
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

// drawHit draws a filter that some entity there is passes, its key and value drawn
// from one, or the reverse of it, alone or with others.
func drawHit(t *rapid.T, docs map[string]Document, depth int) Filter {
	ops := []Op{OpIn, OpIn, OpIn, OpPrefix, OpHas, OpNot}
	if depth > 0 {
		ops = append(ops, OpAll, OpAny)
	}
	f := Filter{Op: rapid.SampledFrom(ops).Draw(t, "op")}
	switch f.Op {
	case OpAll, OpAny:
		for range rapid.IntRange(1, 3).Draw(t, "filters") {
			f.Filters = append(f.Filters, drawHit(t, docs, depth-1))
		}
		return f
	case OpNot:
		f.Filters = []Filter{drawHit(t, docs, depth)}
		return f
	}
	ref := rapid.SampledFrom(slices.Sorted(maps.Keys(docs))).Draw(t, "of")
	fields := writtenOf(docs[ref])
	for _, tag := range fields["metadata.tags"] {
		fields["metadata.tags."+tag] = map[string]string{item: item}
	}
	f.Key = rapid.SampledFrom(slices.Sorted(maps.Keys(fields))).Draw(t, "key")
	if f.Op == OpHas {
		return f
	}
	values := slices.Sorted(maps.Values(fields[f.Key]))
	if len(values) == 0 {
		f.Op = OpHas
		return f
	}
	value := rapid.SampledFrom(values).Draw(t, "value")
	if f.Op == OpPrefix {
		value = value[:rapid.IntRange(0, len(value)).Draw(t, "beginning")]
	}
	f.Values = []string{value}
	if f.Op == OpIn && rapid.Bool().Draw(t, "another") {
		f.Values = append(f.Values, "x")
	}
	return f
}

// TestFacetsAreLikeModel compares facets and totals, after any changes by one replica
// or another, with what is counted in memory.
func TestFacetsAreLikeModel(t *testing.T) {
	keys := []string{"kind", "metadata.namespace", "metadata.title", "metadata.tags", "metadata.tags.Go", "spec.Type", "spec.rank", "no.such"}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		hits, columns, asked := 0, 0, 0
		rapid.Check(t, func(t *rapid.T) {
			s.cached.sparseLimit = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "few")
			s.cached.numbered = rapid.SampledFrom([]int{0, 0, 0, 4}).Draw(t, "numbered")
			s.cached.forget()
			if s.columns.full {
				s.columns.forget()
			}
			docs := map[string]Document{}
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				c := Change{Provider: "test", Full: rapid.IntRange(0, 3).Draw(t, "full") == 0}
				if len(docs) == 0 {
					c.Full = true
				}
				if c.Full {
					clear(docs)
				}
				c.Put = rapid.SliceOfNDistinct(rapid.Custom(drawEntity), 0, 6, func(d Document) string {
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
					f, text := Filter{}, Text{}
					if len(docs) > 0 {
						f = drawHit(t, docs, 2)
					}
					if rapid.IntRange(0, 4).Draw(t, "search") == 0 {
						text.Term = rapid.SampledFrom([]string{"n1", "mix", "go"}).Draw(t, "term")
					}
					before := s.columns.clock.Load()
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
						t.Fatalf("the total is %d, not %d", page.Total, total)
					}
					if asked++; total > 0 {
						hits++
					}
					if s.columns.clock.Load() > before {
						columns++
					}
				}
			}
		})
		if hits*2 < asked || columns*2 < asked || columns == asked {
			t.Errorf("of %d filters %d hit something, %d in columns", asked, hits, columns)
		}
	})
}

// TestFacetsFollowChanges holds that a change costs no more than itself, and that
// what the log of changes does not tell is noticed.
func TestFacetsFollowChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		s.cached.sparseLimit = 1
		types := func(want ...Facet) {
			t.Helper()
			got := facetsNow(t, s, []string{"spec.type"}, In("kind", "api"), Text{})
			if diff := gocmp.Diff(map[string][]Facet{"spec.type": want}, got); diff != "" {
				t.Error(diff)
			}
		}
		exec := func(text string) {
			t.Helper()
			if _, err := s.Write.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		set := func(by *Store, typ string) {
			t.Helper()
			put(t, by, small(t, "API", "a", "spec: {type: "+typ+"}"), small(t, "API", "b", "spec: {type: fixed}"))
		}
		set(s, "one")
		types(Facet{"fixed", 1}, Facet{"one", 1})
		for _, step := range []struct {
			reason string
			reads  bool
			do     func()
		}{
			{"a change is applied", false, func() { set(s, "two") }},
			{"one of a replica too", false, func() { set(replica, "three") }},
			{"several at once", false, func() { set(s, "four"); set(replica, "five"); set(s, "six") }},
			{"a change without a log is noticed", true, func() { set(s, "seven"); exec("DELETE FROM changes") }},
			{"as is one in between", true, func() {
				set(s, "eight")
				exec("DELETE FROM changes")
				put(t, s, small(t, "API", "a", "spec: {type: eight}"), small(t, "API", "b", "spec: {type: fixed}"), small(t, "Group", "c", ""))
			}},
			{"more changes than are logged are read anew", true, func() {
				set(s, "nine")
				err := s.change(t.Context(), func(w *writer) error {
					for i := range loggedRefs + 1 {
						w.changed = append(w.changed, fmt.Sprint("api:default/x", i))
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}},
			{"more revisions than are logged too", true, func() {
				for i := range loggedRevisions + 1 {
					set(s, fmt.Sprint("t", i))
				}
			}},
			{"a database that was restored is noticed", true, func() {
				set(s, "ten")
				exec("UPDATE revision SET n = n - 3")
				exec("DELETE FROM changes")
			}},
		} {
			before := s.columns.reads.Load()
			step.do()
			var typ string
			if err := s.Read.QueryRowContext(t.Context(),
				"SELECT value FROM search WHERE ref = 'api:default/a' AND kid = (SELECT id FROM keys WHERE key = 'spec.type')").Scan(&typ); err != nil {
				t.Fatal(err)
			}
			want := []Facet{{typ, 1}, {"fixed", 1}}
			slices.SortFunc(want, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
			types(want...)
			if read := s.columns.reads.Load() > before; read != step.reads {
				t.Errorf("%s: all was read: %v", step.reason, read)
			}
		}
		var logged int
		if err := s.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM changes").Scan(&logged); err != nil || logged > 2*loggedRevisions {
			t.Errorf("%d rows are logged, %v", logged, err)
		}
	})
}

// This file finds entities for a search term, ranked. The ranks are conditions, each of
// which includes the one before, so that entities are read rank by rank until there are
// enough for the page. For the term "paymnts api", if the catalog has the words payments
// and api, they are
//
//	in(name, "paymnts api") or in(title, "paymnts api")
//	prefix(name, "paymnts api") or prefix(title, "paymnts api")
//	word("paymnts") and word("api")
//	(word("paymnts") or anyWord("payments")) and word("api")
//
// A search may move some entities to the end of their rank: then each rank is two
// conditions.

package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

const (
	// MaxResults is how many results of a search can be paged through.
	MaxResults = 1000
	// maxTitles is up to how many entities of a rank, or of a rank and kind, are sorted by
	// title. More are in the order of references, which needs no sorting.
	maxTitles = 500
)

// Search selects entities by a term. Each word of the term must be a prefix of a word of
// the entity, or similar to one.
type Search struct {
	Filter filter.Filter
	Term   string
	// Last selects entities that come after the others of their rank. The zero value, which
	// passes all, changes nothing.
	Last filter.Filter
	// Offset results are skipped, and at most Limit are returned.
	Offset, Limit int
}

// Results are a part of what a search finds.
type Results struct {
	Items []Entity
	// Total is the number of all results, at most MaxResults.
	Total int
}

// searchKinds are the kinds of results in the order of equal ranks. Other kinds follow.
var searchKinds = []string{"template", "component", "resource", "api", "system", "domain", "group", "user"}

// Search returns the results of a search: those whose name or title is the term first,
// then those whose name or title begins with it, then those that have its words, then
// those that have similar words. Results of a rank are sorted by kind and title, those
// that Last selects after all others.
func (s *Store) Search(ctx context.Context, q Search) (Results, error) {
	const doing = "search entities"
	words := index.SplitWords(q.Term)
	if len(words) == 0 || q.Limit <= 0 || q.Offset >= MaxResults {
		return Results{}, nil
	}
	if err := checkLimits(q.Filter, Text{Term: q.Term}); err != nil {
		return Results{}, db.Fail(doing, err)
	}
	near, err := s.vocabulary.Near(ctx, words)
	if err != nil {
		return Results{}, db.Fail(doing, err)
	}
	f := &finder{s: s, need: min(q.Offset+q.Limit, MaxResults)}
	if err := s.resolveKeys(ctx, func(k *keyResolver) { f.resolve(k, q, words, near) }); err != nil {
		return Results{}, db.Fail(doing, err)
	}
	end, err := s.turn(ctx)
	if err != nil {
		return Results{}, db.Fail(doing, err)
	}
	defer end()
	var out Results
	err = s.consistently(ctx, func(ask db.Asker, snapshot bool) error {
		out, err = f.find(ctx, ask, q.Offset, snapshot)
		return err
	})
	return out, db.Fail(doing, err)
}

// finder finds the results of a search.
type finder struct {
	s *Store
	// need is how many results are needed.
	need int
	// ranks are the conditions of the ranks, and all is that of all results. title and kind
	// are the numbers of the keys that results are sorted by.
	ranks       []cond
	all         cond
	title, kind int64

	ask      db.Asker
	revision int64
	items    []item
	// seen are the entities among the results.
	seen *idset.Set
}

// resolve computes the conditions. near are the words that are similar to each word.
func (f *finder) resolve(k *keyResolver, q Search, words []string, near [][]string) {
	f.title, _ = k.id("metadata.title")
	f.kind, _ = k.id(index.KindKey)
	base := k.resolve(q.Filter)
	term := strings.ToLower(db.Storable(strings.TrimSpace(q.Term)))
	name, title := "metadata.name", "metadata.title"
	exact := k.resolve(filter.Any(filter.In(name, term), filter.In(title, term)))
	prefix := k.resolve(filter.Any(filter.Prefix(name, term), filter.Prefix(title, term)))
	var spelled, similar []cond
	typos := false
	for i, w := range words {
		word := cond{op: opWord, values: []string{w}}
		spelled = append(spelled, word)
		if len(near[i]) > 0 {
			typos = true
			word = anyOf(word, cond{op: opAnyWord, values: near[i]})
		}
		similar = append(similar, word)
	}
	ranks := []cond{allOf(base, exact), allOf(base, prefix), allOf(append(spelled, base)...)}
	if typos {
		ranks = append(ranks, allOf(append(similar, base)...))
	}
	f.ranks, f.all = ranks, ranks[len(ranks)-1]
	if last := k.resolve(q.Last); last.op != filter.OpFalse && last.op != filter.OpTrue {
		f.ranks = nil
		for _, rank := range ranks {
			f.ranks = append(f.ranks, allOf(rank, not(last)), allOf(rank, last))
		}
	}
}

// find reads the results from an offset on. Without a snapshot it returns errChanged if the
// catalog changed meanwhile.
func (f *finder) find(ctx context.Context, ask db.Asker, offset int, snapshot bool) (Results, error) {
	f.ask, f.items, f.seen = ask, nil, roaring.New()
	all, err := f.s.selectFor(ctx, ask, f.all, snapshot)
	if err != nil {
		return Results{}, err
	}
	f.revision = all.revision
	for _, rank := range f.ranks {
		if err := f.addRank(ctx, rank); err != nil {
			return Results{}, err
		}
	}
	out := Results{Total: len(f.items)}
	if len(f.items) >= f.need {
		out.Total = min(all.count(), MaxResults)
	}
	for _, it := range f.items[min(offset, len(f.items)):min(f.need, len(f.items))] {
		out.Items = append(out.Items, it.Entity)
	}
	same, err := f.s.fill(ctx, ask, out.Items)
	if err != nil {
		return Results{}, err
	}
	now, err := changelog.Revision(ctx, ask)
	if err == nil && !snapshot && (!same || now != all.revision) {
		err = errChanged
	}
	return out, err
}

// addRank adds the results of a rank, in their order.
func (f *finder) addRank(ctx context.Context, rank cond) error {
	if len(f.items) >= f.need || rank.op == filter.OpFalse {
		return nil
	}
	sel, err := f.s.selectAt(ctx, f.ask, rank, f.revision)
	if err != nil {
		return err
	}
	set := roaring.AndNot(sel.set, f.seen)
	if int(set.GetCardinality()) <= maxTitles {
		return f.add(ctx, set, true)
	}
	for _, kind := range searchKinds {
		of, err := f.s.selectAt(ctx, f.ask, cond{op: opKind, kid: f.kind, values: []string{kind}}, f.revision)
		if err != nil {
			return err
		}
		part := roaring.And(set, of.set)
		if err := f.add(ctx, part, int(part.GetCardinality()) <= maxTitles); err != nil {
			return err
		}
		set.AndNot(part)
	}
	return f.add(ctx, set, int(set.GetCardinality()) <= maxTitles)
}

// add adds entities, sorted by kind and title if all are read, else by reference and as many
// as are needed.
func (f *finder) add(ctx context.Context, set *idset.Set, whole bool) error {
	if len(f.items) >= f.need || set.IsEmpty() {
		return nil
	}
	q := &pageQuery{Query: Query{Limit: f.need}}
	if whole {
		q.Limit = everything - 1
		if f.title != 0 {
			q.Order, q.columns = []Order{{Field: "metadata.title"}}, []sortColumn{{kid: f.title}}
		}
	}
	items, err := f.s.collect(ctx, f.ask, q, selection{set, f.revision})
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(searchKind(a.Ref)-searchKind(b.Ref), compareValues(q.Order, a.values, b.values), strings.Compare(a.Ref, b.Ref))
	})
	for i := range items {
		f.seen.Add(items[i].id)
	}
	f.items = append(f.items, items...)
	return nil
}

// searchKind returns the place of the kind of a reference in the order of results.
func searchKind(ref string) int {
	kind, _, _ := strings.Cut(ref, ":")
	if i := slices.Index(searchKinds, kind); i >= 0 {
		return i
	}
	return len(searchKinds)
}

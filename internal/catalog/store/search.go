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
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
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
	out, same, err := f.find(ctx, s.DB.Query, q.Offset)
	if err == nil && !same {
		// Another writer committed in between: read again in a snapshot.
		err = s.Snapshot(ctx, func(ask db.Asker) error {
			out, _, err = f.find(ctx, ask, q.Offset)
			return err
		})
	}
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

	ask   db.Asker
	items []Entity
	seen  map[string]bool
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

// find reads the results from an offset on. It returns false if an entity has changed
// since it was found.
func (f *finder) find(ctx context.Context, ask db.Asker, offset int) (Results, bool, error) {
	f.ask, f.items, f.seen = ask, nil, map[string]bool{}
	for _, rank := range f.ranks {
		if err := f.addRank(ctx, rank); err != nil {
			return Results{}, false, err
		}
	}
	out := Results{Total: len(f.items)}
	if len(f.items) >= f.need {
		var err error
		if out.Total, err = f.count(ctx, f.all); err != nil {
			return Results{}, false, err
		}
	}
	out.Items = f.items[min(offset, len(f.items)):min(f.need, len(f.items))]
	same, err := f.s.fill(ctx, ask, out.Items)
	return out, same, err
}

// addRank adds the results of a rank, in their order.
func (f *finder) addRank(ctx context.Context, rank cond) error {
	if done, err := f.addSorted(ctx, rank); done || err != nil {
		return err
	}
	kinds := make([]cond, len(searchKinds))
	for i, kind := range searchKinds {
		kinds[i] = cond{op: opKind, kid: f.kind, values: []string{kind}}
	}
	for _, kind := range append(kinds, not(anyOf(kinds...))) {
		of := allOf(rank, kind)
		done, err := f.addSorted(ctx, of)
		if err == nil && !done {
			err = f.add(ctx, pageQuery{Query: Query{Limit: f.need}, where: of})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addSorted adds the entities that pass a condition, sorted by kind and title. It returns
// false if there are too many.
func (f *finder) addSorted(ctx context.Context, c cond) (bool, error) {
	if c.op == filter.OpFalse || len(f.items) >= f.need {
		return true, nil
	}
	bounds := plan{first: always}
	conds := []cond{c}
	if c.op == filter.OpAll {
		conds = bounds.narrow(c.conds, f.s.keys)
	}
	if _, rows, err := f.s.estimateCover(ctx, allOf(conds...), &bounds); err != nil || rows > maxTitles {
		return false, err
	}
	q := pageQuery{Query: Query{Limit: everything - 1}, where: c}
	if f.title != 0 {
		q.Order, q.columns = []Order{{Field: "metadata.title"}}, []sortColumn{{kid: f.title}}
	}
	return true, f.add(ctx, q)
}

// add adds the entities of a page that are not among the results yet.
func (f *finder) add(ctx context.Context, q pageQuery) error {
	p, err := f.s.planSort(ctx, &q)
	if err != nil {
		return err
	}
	var rows found
	if err := f.s.readRows(ctx, f.ask, p, &rows); err != nil {
		return err
	}
	order := make([]int, 0, len(rows.items))
	for i := range rows.items {
		if !f.seen[rows.items[i].Ref] {
			order = append(order, i)
			f.seen[rows.items[i].Ref] = true
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := rows.items[i].Ref, rows.items[j].Ref
		return cmp.Or(searchKind(a)-searchKind(b), compareValues(q.Order, rows.values[i], rows.values[j]), strings.Compare(a, b))
	})
	for _, i := range order {
		f.items = append(f.items, rows.items[i])
	}
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

// count returns how many entities pass a condition, at most MaxResults.
func (f *finder) count(ctx context.Context, c cond) (n int, err error) {
	p, err := f.s.planFilter(ctx, c)
	if err != nil {
		return 0, err
	}
	w := f.s.newSQL(false)
	text := fmt.Sprintf("SELECT count(*) FROM (SELECT x.ref %s LIMIT %d) g", w.writeFrom(&p), MaxResults)
	err = db.Each(ctx, f.ask, text, w.args, func(rows *db.Rows) error { return rows.Scan(&n) })
	return n, err
}

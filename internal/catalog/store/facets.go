package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/column"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// facetKey is a field whose values are counted: the number of its key, if it has one,
// and the condition for entities with the list item that the key denotes.
type facetKey struct {
	name  string
	kid   int64
	known bool
	items cond
}

// Facets returns, for each of the fields, the values of the entities that pass f and t,
// sorted, and how many entities have each value. Two spellings of a value are two
// values. All are counted in one snapshot, and concurrent callers with the same
// question share one count.
func (s *Store) Facets(ctx context.Context, facets []string, f filter.Filter, t Text) (map[string][]Facet, error) {
	const doing = "count values"
	if len(facets) > maxConditions {
		return nil, db.Fail(doing, tooManyConditions())
	}
	if err := checkLimits(f, t); err != nil {
		return nil, db.Fail(doing, err)
	}
	var c cond
	var keys []facetKey
	err := s.resolveKeys(ctx, func(k *keyResolver) { c, keys = k.parseFilter(f, t), k.facetKeys(facets) })
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	if c.op == filter.OpFalse {
		all := make(map[string][]Facet, len(keys))
		for i := range keys {
			all[keys[i].name] = []Facet{}
		}
		return all, nil
	}
	all, err := s.facetsOf(ctx, keys, c)
	return all, db.Fail(doing, err)
}

// facetKeys resolves fields, each once.
func (k *keyResolver) facetKeys(facets []string) []facetKey {
	var keys []facetKey
	seen := make(map[string]bool, len(facets))
	for _, facet := range facets {
		if seen[facet] {
			continue
		}
		seen[facet] = true
		key := facetKey{name: facet, items: never}
		key.kid, key.known = k.id(index.LowerKey(facet))
		if in := k.listItem(index.LowerKey(facet)); in.op != filter.OpFalse {
			key.items = anyOf(in, k.resolveField(filter.In(facet, index.Item)))
		}
		keys = append(keys, key)
	}
	return keys
}

// facetsOf counts at the current revision. The question includes the whole condition
// and the meaning of the field names.
func (s *Store) facetsOf(ctx context.Context, keys []facetKey, c cond) (map[string][]Facet, error) {
	revision, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil {
		return nil, err
	}
	what := []byte("facets")
	for i := range keys {
		what = keys[i].items.appendKey(fmt.Appendf(what, " %q %d ", keys[i].name, keys[i].kid))
	}
	key := cacheKeyOf(string(what), c)
	answer, err := s.cache.Compute(ctx, revision, key, func(ctx context.Context) (any, int, int64, error) {
		all, at, err := s.countFacets(ctx, keys, c, revision)
		weight := 1
		for _, values := range all {
			weight += 1 + len(values)
		}
		return all, weight, at, err
	})
	if err != nil {
		return nil, err
	}
	all := make(map[string][]Facet, len(keys))
	for name, values := range answer.(map[string][]Facet) {
		all[name] = slices.Clone(values)
	}
	return all, nil
}

// countFacets counts at a revision or a later one, which it returns: in columns, or in
// the database if columns cannot answer.
func (s *Store) countFacets(ctx context.Context, keys []facetKey, c cond, revision int64) (map[string][]Facet, int64, error) {
	all, at := map[string][]Facet{}, revision
	kids, ok := columnKeys(nil, c)
	for i := range keys {
		if keys[i].known {
			kids = append(kids, keys[i].kid)
		}
		if ok {
			kids, ok = columnKeys(kids, keys[i].items)
		}
	}
	if ok {
		var err error
		if ok, err = s.inColumns(ctx, c, kids); err != nil {
			return nil, 0, err
		}
	}
	if ok {
		done, err := s.columns.With(ctx, revision, kids, func(v column.View) {
			at = v.Revision()
			set := passing(v, c)
			for i := range keys {
				all[keys[i].name] = keys[i].count(v, set)
			}
		})
		if done || err != nil {
			return all, at, err
		}
	}
	all, err := s.queryFacets(ctx, keys, c)
	return all, revision, err
}

// count counts the values of the field among the entities of a set.
func (key *facetKey) count(v column.View, set column.Set) []Facet {
	values := []Facet{}
	if key.known {
		v.Count(set, key.kid, func(value string, n int) { values = append(values, Facet{value, n}) })
		sortFacets(values)
	}
	if key.items.op == filter.OpFalse {
		return values
	}
	having := passing(v, key.items)
	having.And(set)
	return withItem(values, having.Count())
}

func sortFacets(values []Facet) {
	slices.SortFunc(values, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
}

// queryFacets counts in the database.
func (s *Store) queryFacets(ctx context.Context, keys []facetKey, c cond) (map[string][]Facet, error) {
	all := make(map[string][]Facet, len(keys))
	count := func(ask db.Asker) (same bool, err error) {
		revision, err := changelog.Revision(ctx, ask)
		if err != nil {
			return false, err
		}
		for i := range keys {
			if all[keys[i].name], err = s.queryFacet(ctx, ask, &keys[i], c); err != nil {
				return false, err
			}
		}
		after, err := changelog.Revision(ctx, ask)
		return after == revision, err
	}
	same, err := count(s.DB.Query)
	if err == nil && !same {
		// Another writer committed in between: count again in a snapshot.
		err = s.Snapshot(ctx, func(ask db.Asker) error {
			_, err := count(ask)
			return err
		})
	}
	return all, err
}

// queryFacet counts the values of one field in the database.
func (s *Store) queryFacet(ctx context.Context, ask db.Asker, key *facetKey, c cond) ([]Facet, error) {
	values := []Facet{}
	if key.known {
		var err error
		if values, err = s.countValues(ctx, ask, key.kid, c); err != nil {
			return nil, err
		}
		sortFacets(values)
	}
	if key.items.op == filter.OpFalse {
		return values, nil
	}
	p, err := s.planFilter(ctx, allOf(c, key.items))
	if err != nil {
		return nil, err
	}
	w := s.newSQL(!p.sparse)
	text := "SELECT count(*) " + w.writeFrom(&p)
	n := 0
	err = db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error { return rows.Scan(&n) })
	return withItem(values, n), err
}

// withItem adds the count of entities with a list item to the values of the key that
// denotes the item.
func withItem(values []Facet, n int) []Facet {
	if n == 0 {
		return values
	}
	values = slices.DeleteFunc(values, func(f Facet) bool { return f.Value == index.Item })
	values = append(values, Facet{index.Item, n})
	sortFacets(values)
	return values
}

// countValues scans all rows of the field or, if few entities pass, reads the fields of
// each of them.
func (s *Store) countValues(ctx context.Context, ask db.Asker, kid int64, c cond) ([]Facet, error) {
	p, err := s.planFilter(ctx, c)
	if err != nil {
		return nil, err
	}
	passing := s.sparseLimit()
	if c.op != filter.OpTrue {
		if passing, _, err = s.estimateMatches(ctx, c, &p); err != nil {
			return nil, err
		}
	}
	values := []Facet{}
	if passing < s.sparseLimit() {
		w := s.newSQL(!p.sparse)
		text := "SELECT v.packed FROM (SELECT x.ref AS ref " + w.writeFrom(&p) + ") p CROSS JOIN fields v WHERE v.ref = p.ref"
		counts := map[string]int{}
		err := db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error {
			var packed string
			err := rows.Scan(&packed)
			for value := range index.Values(packed, kid) {
				counts[value]++
			}
			return err
		})
		for value, n := range counts {
			values = append(values, Facet{value, n})
		}
		return values, err
	}
	w := s.newSQL(true)
	text := "SELECT coalesce(v.original, v.value), count(*) FROM search v WHERE " +
		w.writeRows(cond{op: opHasValue, kid: kid}, "v") + w.writeAnd(c, "v.ref") + " GROUP BY v.value, v.original"
	err = db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error {
		var f Facet
		err := rows.Scan(&f.Value, &f.Count)
		values = append(values, f)
		return err
	})
	return values, err
}

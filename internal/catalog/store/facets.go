package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
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
	end, err := s.turn(ctx)
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	defer end()
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
		var all map[string][]Facet
		at := revision
		err := s.consistently(ctx, func(ask db.Asker, snapshot bool) (err error) {
			all, at, err = s.countFacets(ctx, ask, keys, c, snapshot)
			return err
		})
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

// countFacets counts at a revision, which it returns. Without a snapshot it returns
// errChanged if the catalog changed meanwhile.
func (s *Store) countFacets(ctx context.Context, ask db.Asker, keys []facetKey, c cond, snapshot bool) (map[string][]Facet, int64, error) {
	sel, err := s.selectFor(ctx, ask, c, snapshot)
	if err != nil {
		return nil, 0, err
	}
	all := make(map[string][]Facet, len(keys))
	for i := range keys {
		if all[keys[i].name], err = s.countFacet(ctx, ask, &keys[i], c, sel); err != nil {
			return nil, 0, err
		}
	}
	now, err := changelog.Revision(ctx, ask)
	if err == nil && now != sel.revision {
		err = errChanged
	}
	return all, sel.revision, err
}

// countFacet counts the values of one field.
func (s *Store) countFacet(ctx context.Context, ask db.Asker, key *facetKey, c cond, sel selection) ([]Facet, error) {
	counts := map[string]int{}
	if key.known {
		count := s.countMany
		if c.op == filter.OpTrue {
			count = s.countAll
		} else if few, err := s.prefersFew(ctx, ask, key.kid, sel.count()); err != nil {
			return nil, err
		} else if few {
			count = s.countFew
		}
		if err := count(ctx, ask, key.kid, sel.set, counts); err != nil {
			return nil, err
		}
	}
	values := make([]Facet, 0, len(counts))
	for value, n := range counts {
		values = append(values, Facet{value, n})
	}
	sortFacets(values)
	if key.items.op == filter.OpFalse {
		return values, nil
	}
	having, err := s.selectIn(ctx, ask, key.items)
	if err != nil {
		return nil, err
	}
	return withItem(values, int(having.set.AndCardinality(sel.set))), nil
}

// prefersFew reports whether reading n entities costs less than reading all values of a key.
func (s *Store) prefersFew(ctx context.Context, ask db.Asker, kid int64, n int) (bool, error) {
	if n > mostLoaded || s.maxLoaded > 0 {
		return n <= s.maxLoaded, nil
	}
	var b db.Statement
	b.Add("SELECT count(*) FROM (SELECT 1 FROM postings p WHERE p.kid = %s AND p.value < %s ORDER BY p.value"+fmt.Sprintf(" LIMIT %d) values_of_key", n*rowsPerEntity), kid, index.NoValue)
	rows := 0
	err := b.Each(ctx, ask, func(found *db.Rows) error { return found.Scan(&rows) })
	return rows >= n*rowsPerEntity, err
}

// countFew counts values of a few entities, whose fields it reads.
func (s *Store) countFew(ctx context.Context, ask db.Asker, kid int64, set *idset.Set, counts map[string]int) error {
	r := s.reader(ask)
	var packed string
	return r.eachID(ctx, "SELECT (SELECT f.packed FROM fields f WHERE f.ref = e.ref) FROM entities e WHERE e.id IN ", set.ToArray(), func(rows *db.Rows) error {
		err := rows.Scan(&packed)
		for _, original := range index.Values(packed, kid) {
			counts[original]++
		}
		return err
	})
}

// countAll counts the values of all entities.
func (s *Store) countAll(ctx context.Context, ask db.Asker, kid int64, _ *idset.Set, counts map[string]int) error {
	var b db.Statement
	b.Add("SELECT p.value, p.original, p.n FROM postings p WHERE p.kid = %s AND p.value < %s", kid, index.NoValue)
	var value, original sql.RawBytes
	var n int
	return b.Each(ctx, ask, func(rows *db.Rows) error {
		err := rows.Scan(&value, &original, &n)
		counts[spelling(value, original)] += n
		return err
	})
}

// countMany counts the values of many entities, by intersecting their set with that of
// each value.
func (s *Store) countMany(ctx context.Context, ask db.Asker, kid int64, set *idset.Set, counts map[string]int) error {
	var b db.Statement
	b.Add("SELECT p.value, p.original, p.block, p.ids FROM postings p WHERE p.kid = %s AND p.value < %s", kid, index.NoValue)
	var value, original, ids sql.RawBytes
	var block int64
	counter := idset.NewCounter(set)
	return b.Each(ctx, ask, func(rows *db.Rows) error {
		if err := rows.Scan(&value, &original, &block, &ids); err != nil {
			return err
		}
		n, err := counter.Count(block, ids)
		if n > 0 {
			counts[spelling(value, original)] += n
		}
		return err
	})
}

// spelling returns the original spelling of a value.
func spelling(value, original []byte) string {
	if len(original) > 0 {
		return string(original)
	}
	return string(value)
}

func sortFacets(values []Facet) {
	slices.SortFunc(values, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
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

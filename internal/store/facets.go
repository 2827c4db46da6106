package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Facets returns the values that the entities which pass f and t have for each
// of the fields, sorted, and how many entities have each of them. Two ways to
// write a value are two values. All are counted at one moment.
func (s *Store) Facets(ctx context.Context, facets []string, f Filter, t Text) (map[string][]Facet, error) {
	const doing = "count values"
	if len(facets) > maxLeaves {
		return nil, fail(doing, tooMany())
	}
	c, err := s.where(ctx, f, t)
	if err != nil {
		return nil, fail(doing, err)
	}
	var keys []string
	for _, key := range lowerKeys(facets) {
		keys = appendKeys(keys, key)
	}
	known, err := s.numbersOf(ctx, keys)
	if err != nil {
		return nil, fail(doing, err)
	}
	all := make(map[string][]Facet, len(facets))
	count := func(ask asker) (same bool, err error) {
		clear(all)
		revision, err := revisionOf(ctx, ask)
		if err != nil {
			return false, err
		}
		for _, facet := range facets {
			if _, done := all[facet]; done {
				continue
			}
			all[facet] = []Facet{}
			if c.op == OpFalse {
				continue
			}
			key := lowerKey(facet)
			if kid, ok := known[key]; ok {
				if all[facet], err = s.facet(ctx, ask, kid, c, revision); err != nil {
					return false, err
				}
			}
			if in := items(key, known); in.op != OpFalse {
				if all[facet], err = s.withItems(ctx, all[facet], both(c, either(in, translate(In(facet, item), known))), revision); err != nil {
					return false, err
				}
			}
		}
		if len(all) < 2 {
			return true, nil
		}
		after, err := revisionOf(ctx, ask)
		return after == revision, err
	}
	same, err := count(s.rows)
	if err == nil && !same {
		// Somebody wrote in between: now of one moment.
		err = s.page(ctx, func(ask asker) error {
			_, err := count(ask)
			return err
		})
	}
	if err != nil {
		return nil, fail(doing, err)
	}
	return all, nil
}

// withItems counts what has an item among the values of the key that stands for
// it.
func (s *Store) withItems(ctx context.Context, values []Facet, c cond, revision int64) ([]Facet, error) {
	n, err := s.countAt(ctx, c, revision)
	if err != nil || n == 0 {
		return values, err
	}
	values = slices.DeleteFunc(values, func(f Facet) bool { return f.Value == item })
	values = append(values, Facet{item, n})
	slices.SortFunc(values, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
	return values, nil
}

// revisionOf returns the revision that an asker sees.
func revisionOf(ctx context.Context, ask asker) (n int64, err error) {
	var b statement
	b.add("SELECT n FROM revision")
	err = each(ctx, ask, &b, func(rows *rows) error { return rows.Scan(&n) })
	return n, err
}

// facet counts the values of one field.
func (s *Store) facet(ctx context.Context, asking asker, kid int64, c cond, revision int64) ([]Facet, error) {
	q := ask(fmt.Sprint("facet ", kid), c)
	if values, ok := s.cached.get(revision, q); ok {
		return slices.Clone(values.([]Facet)), nil
	}
	values, err := s.countValues(ctx, asking, kid, c)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(values, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
	s.cached.put(revision, q, values, len(values)+1)
	return slices.Clone(values), nil
}

// countValues walks along all rows of the field or, if fewer entities pass, goes
// through the fields of each of them.
func (s *Store) countValues(ctx context.Context, asking asker, kid int64, c cond) ([]Facet, error) {
	p, err := s.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	passing := s.few()
	if c.op != OpTrue {
		if passing, _, err = s.guessMatches(ctx, c, &p); err != nil {
			return nil, err
		}
	}
	b := statement{whole: true, find: s.finder()}
	values := []Facet{}
	if passing < s.few() {
		b.add("SELECT v.packed FROM (SELECT x.ref AS ref ")
		p.appendFrom(&b)
		b.add(") p CROSS JOIN fields v WHERE v.ref = p.ref")
		counts := map[string]int{}
		err := each(ctx, asking, &b, func(rows *rows) error {
			var packed string
			err := rows.Scan(&packed)
			for value := range valuesOf(packed, kid) {
				counts[value]++
			}
			return err
		})
		for value, n := range counts {
			values = append(values, Facet{value, n})
		}
		return values, err
	}
	b.add("SELECT coalesce(v.original, v.value), count(*) FROM search v WHERE ")
	b.rows(cond{op: opValued, kid: kid}, "v")
	if c.op != OpTrue {
		b.add(" AND ")
		b.where(c, "v.ref")
	}
	b.add(" GROUP BY v.value, v.original")
	err = each(ctx, asking, &b, func(rows *rows) error {
		var f Facet
		err := rows.Scan(&f.Value, &f.Count)
		values = append(values, f)
		return err
	})
	return values, err
}

package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Facets returns the values that the entities which pass f have for each of
// the fields, sorted, and how many entities have each of them. Two ways to
// write a value are two values. All are counted at one moment.
func (s *Store) Facets(ctx context.Context, facets []string, f Filter) (map[string][]Facet, error) {
	const doing = "count values"
	if len(facets) > maxLeaves {
		return nil, fail(doing, tooMany())
	}
	c, err := s.where(ctx, f, Text{})
	if err != nil {
		return nil, fail(doing, err)
	}
	known, err := s.numbersOf(ctx, lowerKeys(facets))
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
			kid, ok := known[lowerKey(facet)]
			if !ok || c.op == OpFalse {
				all[facet] = []Facet{}
				continue
			}
			if all[facet], err = s.facet(ctx, ask, kid, c, revision); err != nil {
				return false, err
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
	b := statement{whole: true}
	if err := s.facetStatement(ctx, kid, c, &b); err != nil {
		return nil, err
	}
	values := []Facet{}
	err := each(ctx, asking, &b, func(rows *rows) error {
		var f Facet
		err := rows.Scan(&f.Value, &f.Count)
		values = append(values, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(values, func(a, b Facet) int { return strings.Compare(a.Value, b.Value) })
	s.cached.put(revision, q, values, len(values)+1)
	return slices.Clone(values), nil
}

// facetStatement makes a statement that walks along all rows of the field or,
// if fewer entities pass, looks the field up for each of them.
func (s *Store) facetStatement(ctx context.Context, kid int64, c cond, b *statement) error {
	p, err := s.plan(ctx, c)
	if err != nil {
		return err
	}
	passing := s.few()
	if c.op != OpTrue {
		if passing, _, err = s.guessMatches(ctx, c, &p); err != nil {
			return err
		}
	}
	field := cond{op: opValued, kid: kid}
	b.add("SELECT coalesce(v.original, v.value), count(*) FROM ")
	if passing < s.few() {
		b.add("(SELECT x.ref AS ref ")
		p.appendFrom(b)
		b.add(") p CROSS JOIN search v WHERE v.ref = p.ref AND ")
		b.rows(field, "v")
	} else {
		b.add("search v WHERE ")
		b.rows(field, "v")
		if c.op != OpTrue {
			b.add(" AND ")
			b.where(c, "v.ref")
		}
	}
	b.add(" GROUP BY v.value, v.original")
	return nil
}

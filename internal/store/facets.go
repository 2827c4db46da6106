package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Facets returns the values that the entities which pass f have for each of
// the fields, sorted, and how many entities have each of them. Two ways to
// write a value are two values.
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
	revision, err := s.revision(ctx)
	if err != nil {
		return nil, fail(doing, err)
	}
	all := make(map[string][]Facet, len(facets))
	for _, facet := range facets {
		if _, done := all[facet]; done {
			continue
		}
		kid, ok := known[lowerKey(facet)]
		if !ok || c.op == OpFalse {
			all[facet] = []Facet{}
			continue
		}
		if all[facet], err = s.facet(ctx, kid, c, revision); err != nil {
			return nil, fail(doing, err)
		}
	}
	return all, nil
}

// facet counts the values of one field.
func (s *Store) facet(ctx context.Context, kid int64, c cond, revision int64) ([]Facet, error) {
	q := ask(fmt.Sprint("facet ", kid), c)
	if values, ok := s.cached.get(revision, q); ok {
		return slices.Clone(values.([]Facet)), nil
	}
	b := statement{whole: true}
	if err := s.facetStatement(ctx, kid, c, &b); err != nil {
		return nil, err
	}
	values := []Facet{}
	err := each(ctx, s.rows, &b, func(rows *rows) error {
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

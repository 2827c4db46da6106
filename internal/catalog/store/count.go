package store

import (
	"context"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/column"
	"example.dev/ingestor/internal/db"
)

// count returns how many entities pass the condition.
func (s *Store) count(ctx context.Context, c cond) (int, error) {
	if c.op == filter.OpFalse {
		return 0, nil
	}
	revision, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil {
		return 0, err
	}
	return s.countAt(ctx, c, revision)
}

// countAt counts at a known revision or a later one.
func (s *Store) countAt(ctx context.Context, c cond, revision int64) (int, error) {
	key := cacheKeyOf("count", c)
	n, err := s.cache.Compute(ctx, revision, key, func(ctx context.Context) (any, int, int64, error) {
		n, at, err := s.countNow(ctx, c, revision)
		if err == nil {
			s.cache.PutEstimate(key, cache.Estimate{N: n, Revision: at, At: s.Now()})
		}
		return n, 1, at, err
	})
	if err != nil {
		return 0, err
	}
	return n.(int), nil
}

// countNow counts at a revision or a later one, which it returns. It uses columns if
// they are loaded or if there is much to count.
func (s *Store) countNow(ctx context.Context, c cond, revision int64) (n int, at int64, err error) {
	kids, ok := columnKeys(nil, c)
	if ok {
		if ok, err = s.inColumns(ctx, c, kids); err != nil {
			return 0, 0, err
		}
	}
	if ok {
		ok, err = s.columns.With(ctx, revision, kids, func(v column.View) { n, at = passing(v, c).Count(), v.Revision() })
		if ok || err != nil {
			return n, at, err
		}
	}
	p, err := s.planFilter(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	w := s.newSQL(!p.sparse)
	text := "SELECT (SELECT n FROM revision), count(*) " + w.writeFrom(&p)
	err = db.Each(ctx, s.DB.Query, text, w.args, func(rows *db.Rows) error { return rows.Scan(&at, &n) })
	return n, at, err
}

// columnKeys reports whether columns can evaluate the condition, and returns the keys that
// this takes. Words are not in columns.
func columnKeys(kids []int64, c cond) ([]int64, bool) {
	switch c.op {
	case opWord, opAnyWord:
		return nil, false
	case filter.OpTrue, filter.OpFalse:
		return kids, true
	case opContains:
		return append(kids, c.kids...), true
	case filter.OpAll, filter.OpAny, filter.OpNot:
		for _, sub := range c.conds {
			var ok bool
			if kids, ok = columnKeys(kids, sub); !ok {
				return nil, false
			}
		}
		return kids, true
	}
	return append(kids, c.kid), c.kid != 0
}

// inColumns reports whether to use columns to count what passes a condition: if they
// are loaded, or if many entities pass. Reading a column takes longer than reading a
// few entities from the database.
func (s *Store) inColumns(ctx context.Context, c cond, kids []int64) (bool, error) {
	if c.op == filter.OpTrue || s.columns.Has(kids) {
		return true, nil
	}
	p, err := s.planFilter(ctx, c)
	if err != nil {
		return false, err
	}
	n, _, err := s.estimateMatches(ctx, c, &p)
	return n >= s.sparseLimit(), err
}

// passing returns the entities that pass a condition whose columns are loaded.
func passing(v column.View, c cond) column.Set {
	switch c.op {
	case filter.OpTrue:
		return v.All()
	case filter.OpAll:
		set := v.All()
		for _, sub := range c.conds {
			set.And(passing(v, sub))
		}
		return set
	case filter.OpNot:
		set := v.All()
		set.Without(passing(v, c.conds[0]))
		return set
	}
	set := v.None()
	switch c.op {
	case filter.OpAny:
		for _, sub := range c.conds {
			set.Or(passing(v, sub))
		}
	case opContains:
		for _, kid := range c.kids {
			v.Select(set, kid, c.accepts)
		}
	case filter.OpHas, filter.OpIn, filter.OpPrefix, opHasValue, opKind:
		v.Select(set, c.kid, c.accepts)
	}
	return set
}

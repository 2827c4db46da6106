package store

import (
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/column"
	"example.dev/ingestor/internal/catalog/store/index"
)

// columnKeys reports whether columns can evaluate the condition, and returns the keys that
// this takes. Words are not in columns.
func columnKeys(kids []int64, c cond) ([]int64, bool) {
	switch c.op {
	case opWord:
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

// accepts reports whether a condition on a key passes an entity with the value, which
// is as it is indexed.
func (c *cond) accepts(value string) bool {
	if c.op == filter.OpHas {
		return true
	}
	if value == index.NoValue {
		return false
	}
	switch c.op {
	case opHasValue:
		return true
	case filter.OpIn:
		_, ok := slices.BinarySearch(c.values, value)
		return ok
	case filter.OpPrefix:
		return strings.HasPrefix(value, c.values[0])
	case opKind:
		return value == c.values[0]
	case opContains:
		return strings.Contains(value, c.values[0])
	}
	return false
}

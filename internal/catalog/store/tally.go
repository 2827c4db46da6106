package store

import (
	"context"
	"slices"
	"strings"
)

// tallies reports whether columns can evaluate the condition, and returns the keys that
// this takes. Words are not in columns.
func tallies(kids []int64, c cond) ([]int64, bool) {
	switch c.op {
	case opWord:
		return nil, false
	case OpTrue, OpFalse:
		return kids, true
	case opInside:
		return append(kids, c.kids...), true
	case OpAll, OpAny, OpNot:
		for _, sub := range c.conds {
			var ok bool
			if kids, ok = tallies(kids, sub); !ok {
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
	if c.op == OpTrue || s.columns.has(kids) {
		return true, nil
	}
	p, err := s.plan(ctx, c)
	if err != nil {
		return false, err
	}
	n, _, err := s.guessMatches(ctx, c, &p)
	return n >= s.sparseLimit(), err
}

// passing returns the entities that pass a condition whose columns are loaded.
func (k *columns) passing(c cond) bitset {
	set := newBitset(len(k.refs))
	switch c.op {
	case OpTrue:
		set.or(k.live)
	case OpAll:
		set.or(k.live)
		for _, sub := range c.conds {
			set.and(k.passing(sub))
		}
	case OpAny:
		for _, sub := range c.conds {
			set.or(k.passing(sub))
		}
	case OpNot:
		set.or(k.live)
		set.without(k.passing(c.conds[0]))
	case opInside:
		for _, kid := range c.kids {
			k.byKid[kid].having(set, c.accepts)
		}
	case OpHas, OpIn, OpPrefix, opValued, opRange:
		k.byKid[c.kid].having(set, c.accepts)
	}
	return set
}

// accepts reports whether a condition on a key passes an entity with the value, which
// is as it is indexed.
func (c *cond) accepts(value string) bool {
	if c.op == OpHas {
		return true
	}
	if value == noValue {
		return false
	}
	switch c.op {
	case opValued:
		return true
	case OpIn:
		_, ok := slices.BinarySearch(c.values, value)
		return ok
	case OpPrefix:
		return strings.HasPrefix(value, c.values[0])
	case opRange:
		// The key is the kind, with which references begin.
		return c.lo == value+":"
	case opInside:
		return strings.Contains(value, c.values[0])
	}
	return false
}

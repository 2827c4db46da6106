package store

import (
	"context"
	"fmt"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
)

// pageQuery is a Query whose keys are resolved.
type pageQuery struct {
	Query
	where cond
	// columns are the fields of Order that some entity has.
	columns []sortColumn
	// desc is the direction of references: that of the last field.
	desc bool
	// current reports that the page is read as of now, not in a snapshot.
	current bool
}

// sortColumn is a field to sort by. Entities that have several values for it are sorted
// by the one that comes first in its direction.
type sortColumn struct {
	kid  int64
	desc bool
	// index is that of the field in Order.
	index int
	// alwaysPresent reports that every entity has the field, with one value.
	alwaysPresent bool
}

// alwaysPresent are fields that every entity has, with one value that is never too long
// to be indexed, as that of apiVersion may be.
var alwaysPresent = map[string]bool{
	index.KindKey: true, "metadata.name": true, index.NamespaceKey: true, "metadata.uid": true,
}

// resolveQuery resolves the keys of q.
func (s *Store) resolveQuery(ctx context.Context, q Query) (*pageQuery, error) {
	if len(q.Order) > maxOrder {
		return nil, fmt.Errorf("%w: it may be sorted by %d fields", ErrTooComplex, maxOrder)
	}
	if err := checkLimits(q.Filter, q.Text); err != nil {
		return nil, err
	}
	if q.Limit < 0 || q.Limit >= everything {
		q.Limit = everything - 1
	}
	r := &pageQuery{Query: q}
	return r, s.resolveKeys(ctx, func(k *keyResolver) {
		r.where, r.columns = k.parseFilter(q.Filter, q.Text), nil
		for i, o := range q.Order {
			r.desc = o.Desc
			key := index.LowerKey(o.Field)
			if kid, ok := k.id(key); ok {
				r.columns = append(r.columns, sortColumn{kid, o.Desc, i, alwaysPresent[key]})
			}
		}
	})
}

// kind returns the condition on one kind that all entities pass, if there is one.
func (c *cond) kind() cond {
	if c.op == opKind {
		return *c
	}
	if c.op == filter.OpAll {
		for _, sub := range c.conds {
			if sub.op == opKind {
				return sub
			}
		}
	}
	return always
}

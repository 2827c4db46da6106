// This file decides how to find a page in its order. For orderField=metadata.name,asc and
// the filter kind=component,spec.lifecycle=production, if many entities pass, it scans the
// index of metadata.name (key 5), and checks the filter for each row:
//
//	bounds: "" to ""
//	first:  hasValue(5)
//	sparse: false
//	check:  allOf(kind("component"), in(6, "production"))
//
// If few pass, it finds them as plan_filter.go does, and sorts them.

package store

import (
	"context"
	"fmt"
	"math"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
)

// everything is a limit that is never reached.
const everything = math.MaxInt32

// pageQuery is a Query whose keys are resolved.
type pageQuery struct {
	Query
	where cond
	// columns are the fields of Order that some entity has.
	columns []sortColumn
	// desc is the direction of references: that of the last field, because an index has
	// that order too.
	desc bool
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

// pagePlan is how a statement finds a page of references in their order.
type pagePlan struct {
	pageQuery
	filter plan
	// scanColumn reports that filter scans the index of the first column in the order of
	// its values, which does not find entities without that column. Otherwise all entities
	// that pass are sorted.
	scanColumn bool
	// onlyWithout reports that the plan finds only entities without the leading columns of
	// the query.
	onlyWithout bool
}

// planPage returns the plan that is likely to cost the least.
func (s *Store) planPage(ctx context.Context, q *pageQuery) (*pagePlan, error) {
	// After an entity without a value there are only others without.
	part := *q
	for q.Position != nil && len(part.columns) > 0 && q.Position.Values[part.columns[0].index] == nil {
		part.where = allOf(part.where, not(cond{op: opHasValue, kid: part.columns[0].kid}))
		part.columns = part.columns[1:]
	}
	p, err := s.planSort(ctx, &part)
	if err != nil {
		return nil, err
	}
	p.onlyWithout = len(part.columns) < len(q.columns)
	if len(p.columns) > 0 {
		p.scanColumn, err = s.prefersScan(ctx, p)
	}
	if p.scanColumn {
		p.filter = plan{first: cond{op: opHasValue, kid: p.columns[0].kid}, check: p.where}
	}
	return p, err
}

// planSort returns a plan that sorts all entities that pass, if q is sorted at all.
func (s *Store) planSort(ctx context.Context, q *pageQuery) (*pagePlan, error) {
	p, err := s.planFilter(ctx, q.where)
	return &pagePlan{pageQuery: *q, filter: p}, err
}

// prefersScan reports whether scanning the first column until enough entities pass
// costs less than sorting all that pass.
func (s *Store) prefersScan(ctx context.Context, p *pagePlan) (bool, error) {
	wanted := p.Limit + p.Offset
	if p.where.op == filter.OpTrue && wanted <= s.sparseLimit() {
		return true, nil
	}
	passing, err := s.countAbout(ctx, p.where, &p.filter)
	if err != nil {
		return false, err
	}
	all, err := s.countAbout(ctx, always, &plan{first: always})
	return float64(wanted)*float64(all) < 2*float64(passing)*float64(passing), err
}

// mayMiss reports whether the plan, with which n entities were found, may lack entities
// of the page.
func (p *pagePlan) mayMiss(n int) bool {
	if p.Backward {
		return n < p.Limit && p.onlyWithout
	}
	return n < p.Limit && p.scanColumn && !p.columns[0].alwaysPresent
}

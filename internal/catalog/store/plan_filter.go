// This file decides how to find the entities that pass a condition. For kind=component and
// spec.lifecycle=production it reads the index of spec.lifecycle (key 6), whose rows for
// one value are in the order of references. References begin with the kind.
//
//	bounds: "component:" to "component;"
//	first:  in(6, "production")
//	sparse: false
//	check:  always
//
// If the lifecycle may also be deprecated and few entities have one of the two, their
// references are read as a set:
//
//	bounds: "component:" to "component;"
//	first:  in(6, "deprecated", "production")
//	sparse: true
//	check:  always

package store

import (
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// maxIndexes is among how many conditions the best one to begin with is searched.
const maxIndexes = 16

// plan is how a statement finds the references of entities that pass a condition: it
// reads rows of one table, or of a UNION, and checks the other conditions for each.
type plan struct {
	// lo and hi bound the references; both are empty if there is no bound.
	lo, hi string
	// first selects the rows to read: of entities if it is always, else of an index.
	first cond
	// sparse reports that first has few rows, which are read as a set. Otherwise they are
	// scanned in the order of references, until there are enough for the page.
	sparse bool
	// rows is about how many rows first has, or 0 if that was not estimated.
	rows int
	// check is the condition that each of the references must pass besides.
	check cond
}

// planFilter returns how to find the references that pass c.
func (s *Store) planFilter(ctx context.Context, c cond) (plan, error) {
	p := plan{first: always}
	conds := []cond{c}
	if c.op == filter.OpAll {
		conds = c.conds
	}
	conds = p.narrow(conds, s.keys)
	var indexed []int
	for i := range conds {
		if conds[i].isIndexed() && len(indexed) < maxIndexes {
			indexed = append(indexed, i)
		}
	}
	best, at := p, -1
	for _, i := range indexed {
		next := p
		next.first, next.sparse = conds[i], !conds[i].isValue()
		// A scan needs no estimate if there is no other index.
		if next.sparse || len(indexed) > 1 {
			var err error
			if next.first, next.rows, err = s.estimateCover(ctx, conds[i], &p); err != nil {
				return p, err
			}
		}
		usable := !next.sparse || next.rows < s.sparseLimit()
		if usable && (at < 0 || next.cost() < best.cost()) {
			best, at = next, i
		}
	}
	// The rows for alternatives may have further references, which are checked.
	if at >= 0 && conds[at].op != filter.OpAny {
		conds = without(conds, at)
	}
	best.check = allOf(conds...)
	return best, nil
}

// cost compares plans by the rows they read. A set has to be sorted besides, and is read
// as a whole.
func (p *plan) cost() int {
	if p.sparse {
		return 4 * (p.rows + 1)
	}
	return p.rows
}

func without(conds []cond, i int) []cond { return slices.Concat(conds[:i], conds[i+1:]) }

// narrow turns a condition on one kind, or on one kind and namespace, into bounds of
// references, and returns the other conditions.
func (p *plan) narrow(conds []cond, ids *index.Keys) []cond {
	at := slices.IndexFunc(conds, func(c cond) bool { return c.op == opKind })
	if at < 0 {
		return conds
	}
	p.lo, p.hi = conds[at].refRange()
	conds = without(conds, at)
	namespace, _ := ids.Get(index.NamespaceKey)
	at = slices.IndexFunc(conds, func(c cond) bool {
		return c.kid == namespace && c.isValue() && !strings.ContainsAny(c.values[0], "/:")
	})
	if at < 0 {
		return conds
	}
	p.lo += conds[at].values[0] + "/"
	p.hi = db.After(p.lo)
	return without(conds, at)
}

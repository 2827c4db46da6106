package store

import (
	"context"
	"fmt"
	"strings"
)

// column is a field to sort by. Entities that have several values for it are sorted by
// the one that comes first in its direction.
type column struct {
	kid  int64
	desc bool
	// sure reports that every entity has the field, with one value.
	sure bool
}

// sureKeys are fields that every entity has, with one value that is never too long to
// be indexed, as that of apiVersion may be.
var sureKeys = map[string]bool{
	kindKey: true, "metadata.name": true, namespaceKey: true, "metadata.uid": true,
}

// selection is a statement that finds references in an order, and the values they are
// sorted by.
type selection struct {
	// find is that of a statement.
	find string
	c    cond
	plan plan
	// cols are the columns of the request without the first lead ones, for which no entity
	// of the selection has a value.
	cols []column
	lead int
	// desc is the direction of references.
	desc bool
	// walk selects a scan along the rows of the first column, which does not find entities
	// without that column.
	walk bool
	// reverse finds entities before the position, nearest first.
	reverse       bool
	position      *Position
	limit, offset int
}

// collect returns a selection that sorts all entities that pass, if r is sorted at all.
func (s *Store) collect(ctx context.Context, r *request) (*selection, error) {
	p, err := s.plan(ctx, r.c)
	return &selection{
		find: s.finder(), c: r.c, plan: p, cols: r.cols, desc: r.desc, reverse: r.reverse, position: r.position,
		limit: r.limit + 1, offset: r.offset,
	}, err
}

// choose returns the selection that is likely to cost the least.
func (s *Store) choose(ctx context.Context, r *request) (*selection, error) {
	// After an entity without a value there are only others without.
	part := *r
	for part.position != nil && len(part.cols) > 0 && part.position.Values[0] == nil {
		part.c = both(part.c, negate(cond{op: opValued, kid: part.cols[0].kid}))
		part.cols = part.cols[1:]
		part.position = &Position{Values: part.position.Values[1:], Ref: part.position.Ref}
	}
	sel, err := s.collect(ctx, &part)
	if err != nil {
		return nil, err
	}
	sel.lead = len(r.cols) - len(part.cols)
	if len(sel.cols) > 0 {
		sel.walk, err = s.walks(ctx, sel)
	}
	return sel, err
}

// walks reports whether scanning along the first column until enough entities pass
// costs less than sorting all that pass.
func (s *Store) walks(ctx context.Context, sel *selection) (bool, error) {
	wanted := sel.limit + sel.offset
	if sel.c.op == OpTrue && wanted <= s.sparseLimit() {
		return true, nil
	}
	passing, exact, err := s.guessMatches(ctx, sel.c, &sel.plan)
	if err == nil && !exact && passing >= s.sparseLimit() {
		passing, err = s.count(ctx, sel.c)
	}
	if err != nil {
		return false, err
	}
	all, err := s.guessAll(ctx)
	return float64(wanted)*float64(all) < 2*float64(passing)*float64(passing), err
}

// misses reports whether a selection that found n entities may lack entities of the
// request.
func (s *selection) misses(n int) bool {
	if n >= s.limit {
		return false
	}
	if s.reverse {
		return s.lead > 0
	}
	return s.walk && !s.cols[0].sure
}

// direction returns the SQL keyword for a direction.
func (s *selection) direction(desc bool) string {
	if desc != s.reverse {
		return " DESC"
	}
	return ""
}

// sign returns the comparison operator for values that come later in the direction.
func (s *selection) sign(desc bool) string {
	if desc != s.reverse {
		return "<"
	}
	return ">"
}

// name returns the name of the i-th value.
func name(i int) string { return fmt.Sprintf("v%d", i+1) }

// direct reports whether the statement reads from entities without other tables.
func (s *selection) direct() bool {
	return len(s.cols) == 0 && s.plan.set == nil && s.plan.value == nil
}

// append appends the statement. It selects ref and v1, v2 and so on. If wide is set,
// which only a direct selection allows, it selects all columns of entities.
func (s *selection) append(b *statement, wide bool) {
	switch {
	case wide:
		b.Add("SELECT x.ref, x.uid, x.etag, x.provider, x.parent ")
		s.unsorted(b)
	case len(s.cols) == 0:
		b.Add("SELECT x.ref AS ref ")
		s.unsorted(b)
	case s.walk && len(s.cols) == 1 && s.cols[0].desc == s.desc:
		b.Add("SELECT x.ref AS ref, x.value AS v1 ")
		s.along(b)
		if s.position != nil {
			b.Add(" AND (x.value, x.ref) "+s.sign(s.cols[0].desc)+" (%s, %s)", *s.position.Values[0], s.position.Ref)
		}
		d := s.direction(s.cols[0].desc)
		fmt.Fprintf(b, " ORDER BY x.value%s, x.ref%s", d, d)
	default:
		s.sorted(b)
	}
	fmt.Fprintf(b, " LIMIT %d", s.limit)
	if s.offset > 0 {
		fmt.Fprintf(b, " OFFSET %d", s.offset)
	}
}

// unsorted appends a scan in the order of references.
func (s *selection) unsorted(b *statement) {
	s.plan.appendFrom(b)
	if s.position != nil {
		b.Add(" AND x.ref "+s.sign(s.desc)+" %s", s.position.Ref)
	}
	fmt.Fprintf(b, " ORDER BY x.ref%s", s.direction(s.desc))
}

// along appends a scan along the rows of the first column. Of several rows of an
// entity, only the best counts.
func (s *selection) along(b *statement) {
	b.Add("FROM search x WHERE ")
	b.rows(cond{op: opValued, kid: s.cols[0].kid}, "x")
	if !s.cols[0].sure {
		// Written like this, PostgreSQL does not estimate that almost nothing passes.
		b.Add(" AND NOT EXISTS (SELECT 1 FROM fields p WHERE p.ref = x.ref AND x.value <> ")
		b.best(s.cols[0])
		b.Add(" LIMIT 1 OFFSET 0)")
	}
	if s.c.op != OpTrue {
		b.Add(" AND ")
		b.where(s.c, "x.ref")
	}
}

// sorted appends a statement in which values are looked up. When walking, the engine
// sorts only among equal first values; when collecting, it sorts everything, and OFFSET
// keeps it from looking up values more than once.
func (s *selection) sorted(b *statement) {
	b.Add("SELECT q.ref AS ref")
	for i := range s.cols {
		b.Add(", q." + name(i) + " AS " + name(i))
	}
	b.Add(" FROM (SELECT x.ref AS ref")
	for i, col := range s.cols {
		b.Add(", ")
		if s.walk && i == 0 {
			b.Add("x.value")
		} else {
			b.Add("(SELECT ")
			b.best(col)
			b.Add(" FROM fields p WHERE p.ref = x.ref)")
		}
		b.Add(" AS " + name(i))
	}
	b.Add(" ")
	if s.walk {
		s.along(b)
		if s.position != nil {
			b.Add(" AND x.value "+s.sign(s.cols[0].desc)+"= %s", *s.position.Values[0])
		}
	} else {
		s.plan.appendFrom(b)
		fmt.Fprintf(b, " LIMIT %d OFFSET 0", everything)
	}
	b.Add(") q")
	s.behind(b)
	b.Add(" ORDER BY ")
	for i, col := range s.cols {
		v := "q." + name(i)
		if !s.walk || i > 0 {
			fmt.Fprintf(b, "(CASE WHEN %s IS NULL THEN 1 ELSE 0 END)%s, ", v, s.direction(false))
		}
		fmt.Fprintf(b, "%s%s, ", v, s.direction(col.desc))
	}
	fmt.Fprintf(b, "q.ref%s", s.direction(s.desc))
}

// behind appends the condition for entities after the position: the first value comes
// later, or the first is equal and the second comes later, and so on.
func (s *selection) behind(b *statement) {
	if s.position == nil {
		return
	}
	b.Add(" WHERE (")
	same := func(n int) {
		for i := range n {
			b.Add("q." + name(i))
			if v := s.position.Values[i]; v != nil {
				b.Add(" = %s AND ", *v)
			} else {
				b.Add(" IS NULL AND ")
			}
		}
	}
	for i, col := range s.cols {
		v, at := "q."+name(i), s.position.Values[i]
		if at == nil && !s.reverse {
			// Nothing comes after a missing value.
			continue
		}
		same(i)
		switch {
		case at == nil:
			b.Add(v + " IS NOT NULL")
		case s.reverse:
			b.Add(v+" "+s.sign(col.desc)+" %s", *at)
		default:
			b.Add("("+v+" "+s.sign(col.desc)+" %s OR "+v+" IS NULL)", *at)
		}
		b.Add(" OR ")
	}
	same(len(s.cols))
	b.Add("q.ref "+s.sign(s.desc)+" %s)", s.position.Ref)
}

// compare compares the sort values of two entities.
func compare(cols []column, a, b []*string) int {
	for i, col := range cols[:min(len(cols), len(a), len(b))] {
		switch {
		case a[i] == nil && b[i] == nil:
			continue
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		}
		if c := strings.Compare(*a[i], *b[i]); c != 0 {
			return turn(c, col.desc)
		}
	}
	return 0
}

func turn(c int, turned bool) int {
	if turned {
		return -c
	}
	return c
}

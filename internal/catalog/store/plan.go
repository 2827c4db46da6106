package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/internal/db"
)

// sparseLimit is up to how many rows of a condition are counted. A condition with more
// rows is dense: scanning in order until enough rows match is cheaper than collecting
// and sorting them.
const sparseLimit = 2048

// maxGuesses is among how many conditions the best is searched, and maxUnion is the
// maximum number of alternatives that a query can begin with.
const (
	maxGuesses = 16
	maxUnion   = 100
)

func (s *Store) sparseLimit() int { return cmp.Or(s.cached.sparseLimit, sparseLimit) }

// plan is how a query begins: with entities or rows that are scanned in the order of
// their references, or with a set of references to be sorted.
type plan struct {
	// lo and hi bound the references; both are empty if there is no bound.
	lo, hi string
	// value, if not nil, selects the rows of search to scan.
	value *cond
	// set, if not nil, selects the references, and perhaps some more.
	set *cond
	// rest are the conditions that are checked for each reference.
	rest []cond
}

// plan returns how to find the references that pass c.
func (s *Store) plan(ctx context.Context, c cond) (plan, error) {
	p := plan{rest: []cond{c}}
	switch c.op {
	case OpAll:
		p.rest = byRank(c.conds)
	case OpTrue:
		p.rest = nil
	}
	p.narrow(s.keys.get(namespaceKey))
	choices := p.choices(s.sparseLimit())
	var single, set choice
	for _, ch := range choices {
		// A single index to scan needs no guess.
		if len(choices) > 1 || ch.set {
			var err error
			if ch.cond, ch.rows, err = s.guessSet(ctx, ch.cond, &p); err != nil {
				return p, err
			}
		}
		best := &single
		if ch.set {
			best = &set
		}
		if !best.valid || ch.rows < best.rows {
			*best = ch
		}
	}
	switch {
	case set.valid && set.rows < s.sparseLimit() && (!single.valid || set.rows < single.rows/4):
		p.set = &set.cond
		if exact(p.rest[set.at]) {
			p.drop(set.at)
		}
	case single.valid:
		p.value = &single.cond
		p.drop(single.at)
	}
	return p, nil
}

// choice is a condition that a plan may begin with.
type choice struct {
	valid bool
	cond  cond
	// at is the index of the condition in rest.
	at   int
	set  bool
	rows int
}

// choices returns the conditions that the plan can begin with.
func (p *plan) choices(few int) []choice {
	var all []choice
	for i, c := range p.rest {
		if len(all) == maxGuesses {
			break
		}
		switch {
		case c.op == OpIn && len(c.values) == 1:
			all = append(all, choice{valid: true, cond: c, at: i, rows: few})
		case isSet(c):
			all = append(all, choice{valid: true, cond: c, at: i, set: true})
		}
	}
	return all
}

// drop removes a condition from rest, since the beginning of the plan covers it.
func (p *plan) drop(at int) {
	p.rest = slices.Concat(p.rest[:at], p.rest[at+1:])
}

// narrow turns a condition on one kind, or on one kind and namespace, into a range of
// references.
func (p *plan) narrow(namespace int64, known bool) {
	for i, c := range p.rest {
		if c.op == opRange {
			p.lo, p.hi = c.lo, c.hi
			p.drop(i)
			break
		}
	}
	if p.lo == "" || !known {
		return
	}
	for i, c := range p.rest {
		if c.op == OpIn && c.kid == namespace && len(c.values) == 1 && !strings.ContainsAny(c.values[0], "/:") {
			p.lo += c.values[0] + "/"
			p.hi = db.After(p.lo)
			p.drop(i)
			return
		}
	}
}

// isSet reports whether rows of indexes give the references that pass c.
func isSet(c cond) bool {
	switch c.op {
	case OpIn, OpHas, OpPrefix, opWord, opRange:
		return true
	case OpAny:
		// SQLite allows 500 statements in a UNION; so many lookups gain nothing.
		return len(c.conds) <= maxUnion && !slices.ContainsFunc(c.conds, func(sub cond) bool { return !isSet(sub) })
	case OpAll:
		for _, sub := range c.conds {
			if isSet(sub) {
				return true
			}
		}
	}
	return false
}

// exact reports whether the set of c has no more references than those that pass c.
func exact(c cond) bool { return c.op != OpAny && c.op != OpAll }

// guessSet returns conditions whose rows cover what passes c, and perhaps more, and the
// number of rows, at most about sparseLimit. Of conditions that must all pass it takes
// the one with the fewest rows.
func (s *Store) guessSet(ctx context.Context, c cond, p *plan) (cond, int, error) {
	switch c.op {
	case OpAny:
		if len(c.conds) > maxGuesses {
			return c, s.sparseLimit(), nil
		}
		sum, parts := 0, make([]cond, len(c.conds))
		for i, sub := range c.conds {
			part, n, err := s.guessSet(ctx, sub, p)
			if sum += n; err != nil || sum >= s.sparseLimit() {
				return c, s.sparseLimit(), err
			}
			parts[i] = part
		}
		return cond{op: OpAny, conds: parts}, sum, nil
	case OpAll:
		best, least := c, s.sparseLimit()+1
		for _, sub := range c.conds {
			if !isSet(sub) || least == 0 {
				continue
			}
			part, n, err := s.guessSet(ctx, sub, p)
			if err != nil {
				return c, 0, err
			}
			if n < least {
				best, least = part, n
			}
		}
		return best, least, nil
	}
	n, err := s.guessRows(ctx, c, p)
	return c, n, err
}

// guessRows returns how many rows there are for c, at most sparseLimit.
func (s *Store) guessRows(ctx context.Context, c cond, p *plan) (int, error) {
	var b statement
	b.Add("SELECT (SELECT n FROM revision), (SELECT count(*) FROM (")
	b.refs(c, p)
	fmt.Fprintf(&b, " LIMIT %d) g)", s.sparseLimit())
	return s.guess(ctx, ask("rows "+p.lo, c), &b)
}

// guessMatches returns how many entities pass c, for which p is the plan. If exact is
// false, there may be fewer, and also more if n has reached sparseLimit.
func (s *Store) guessMatches(ctx context.Context, c cond, p *plan) (n int, exact bool, err error) {
	if n, ok := s.cached.last(s.Now(), ask("count", c)); ok {
		return n, true, nil
	}
	switch {
	case p.set != nil:
		_, n, err = s.guessSet(ctx, *p.set, p)
	case p.value != nil:
		n, err = s.guessRows(ctx, *p.value, p)
	case p.lo != "":
		n, err = s.guessRows(ctx, cond{op: opRange, lo: p.lo, hi: p.hi}, p)
	default:
		n = s.sparseLimit()
	}
	return n, false, err
}

// refs appends a statement that selects the references of rows for c.
func (b *statement) refs(c cond, p *plan) {
	column := "s.ref"
	switch c.op {
	case opRange:
		b.Add("SELECT s.ref FROM entities s WHERE s.ref >= %s AND s.ref < %s", c.lo, c.hi)
	case opWord:
		b.Add("SELECT s.ref FROM terms s WHERE ")
		b.rows(c, "s")
	default:
		b.Add("SELECT s.ref FROM search s WHERE ")
		b.rows(c, "s")
	}
	if p.lo != "" {
		b.Add(" AND "+column+" >= %s AND "+column+" < %s", p.lo, p.hi)
	}
}

// union appends the statements for all parts of a set.
func (b *statement) union(c cond, p *plan) {
	if c.op != OpAny {
		b.refs(c, p)
		return
	}
	for i, sub := range c.conds {
		if i > 0 {
			b.Add(" UNION ")
		}
		b.union(sub, p)
	}
}

// counting returns a statement that will read all that the plan finds. If the plan
// begins with a set, which is small, search words are looked up per entity.
func (p *plan) counting(find string) *statement { return &statement{whole: p.set == nil, find: find} }

// appendFrom appends FROM and WHERE: the references are x.ref, each once.
func (p *plan) appendFrom(b *statement) {
	word := " WHERE "
	and := func() {
		b.Add(word)
		word = " AND "
	}
	bound := func() {
		if p.lo != "" {
			and()
			b.Add("x.ref >= %s AND x.ref < %s", p.lo, p.hi)
		}
	}
	switch {
	case p.set != nil:
		b.Add("FROM (SELECT DISTINCT u.ref FROM (")
		b.union(*p.set, p)
		b.Add(") u) x")
	case p.value != nil:
		b.Add("FROM search x")
		and()
		b.rows(*p.value, "x")
		bound()
	default:
		b.Add("FROM entities x")
		bound()
	}
	if len(p.rest) > 0 {
		and()
		b.where(cond{op: OpAll, conds: p.rest}, "x.ref")
	}
	if word == " WHERE " {
		b.Add(" WHERE 1 = 1")
	}
}

package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// explanation is a class of answers that differ for a good reason.
type explanation struct {
	reason string
	// rewrite returns the request that the real catalog answers like we answer the given
	// one. It returns false if the class does not concern the request.
	rewrite func(*comparison, *request) (*request, bool)
	// both reports that we must answer the rewritten request like the real catalog.
	both bool
	// adapt changes the real catalog's answer to what ours must be.
	adapt func(*comparison, *answer)
	// refused reports that we refuse a request that the real catalog answers, accepted that
	// we answer one that it refuses.
	refused, accepted func(*comparison) bool
	// sorted reports that we return the entities in another order, or others of them, which
	// expectSorted checks.
	sorted func(*comparison) bool
}

// find asks for the entities that the request selects.
func (c *comparison) find() error {
	r := request{form: byQuery, filters: c.request.filters, term: c.request.term, textFields: c.request.textFields, fields: brief}
	if c.request.predicate != nil {
		r.form, r.predicate = byPredicate, c.request.predicate
	}
	r.limit = 1000
	a, err := c.w.ours(c.ctx, &r)
	if err == nil {
		c.found = a.refs()
	}
	return err
}

// hit reports whether the request selects some entities and not all.
func (c *comparison) hit() bool { return len(c.found) > 0 && len(c.found) < len(c.w.index.refs) }

// explainReal explains why the real catalog answers in another way.
func (c *comparison) explainReal() error {
	if same(c.ours, c.real) {
		return nil
	}
	for name, e := range explanations {
		if c.ours.Refused && !c.real.Refused && e.refused != nil && e.refused(c) ||
			c.real.Refused && !c.ours.Refused && e.accepted != nil && e.accepted(c) {
			c.used[name] = true
			return nil
		}
	}
	var concerned []string
	for _, name := range slices.Sorted(maps.Keys(explanations)) {
		if e := explanations[name]; e.rewrite != nil {
			if _, ok := e.rewrite(c, c.request); ok {
				concerned = append(concerned, name)
			}
		}
	}
	// One class is tried at a time, then all together.
	for _, name := range concerned {
		explained, _, err := c.rewritten([]string{name})
		if explained || err != nil {
			return err
		}
	}
	explained, r, err := c.rewritten(concerned)
	if explained || err != nil {
		return err
	}
	return c.explainSorted(r, concerned)
}

// rewritten reports whether some classes together explain the difference. It returns the
// rewritten request.
func (c *comparison) rewritten(names []string) (bool, *request, error) {
	r, ours, both := c.request, c.ours, c.request
	for _, name := range names {
		e := explanations[name]
		r, _ = e.rewrite(c, r)
		if e.both {
			both, _ = e.rewrite(c, both)
		}
	}
	theirs, err := c.w.real(c.ctx, r)
	if err == nil && both != c.request {
		ours, err = c.w.ours(c.ctx, both)
	}
	if err != nil {
		return false, nil, err
	}
	for _, name := range names {
		if adapt := explanations[name].adapt; adapt != nil {
			adapt(c, theirs)
		}
	}
	if !same(ours, theirs) {
		return false, r, nil
	}
	c.use(names)
	return true, r, nil
}

// explainSorted explains the difference by another order. Some classes explain other parts
// of it already, by the rewritten request r.
func (c *comparison) explainSorted(r *request, all []string) error {
	unsorted := true
	for name, e := range explanations {
		if e.sorted != nil && e.sorted(c) {
			all, unsorted = append(all, name), false
		}
	}
	if c.request.isFacets() || c.ours.Refused || unsorted {
		return fmt.Errorf("answers differ (-real +ours):\n%s%s%s", diff(c.real, c.ours), c.real.message, c.ours.message)
	}
	if err := c.expectSorted(r); err != nil {
		return fmt.Errorf("answers differ, and %w (-real +ours):\n%s", err, diff(c.real, c.ours))
	}
	c.use(all)
	return nil
}

func (c *comparison) use(names []string) {
	for _, name := range names {
		c.used[name] = true
	}
}

// expectSorted checks our answer if the order is ours: the entities must be those that
// the real catalog selects for r, in the order of r, and the pages parts of that list.
func (c *comparison) expectSorted(r *request) error {
	all := r.whole()
	all.form = queryForm(r.form)
	all.orders = nil
	byWords := r.term != "" && r.textFields == nil
	if byWords {
		all.term = ""
	}
	selected, err := c.w.real(c.ctx, all)
	if err != nil {
		return err
	}
	ours, err := c.w.ours(c.ctx, c.request.whole())
	if err != nil {
		return err
	}
	refs := selected.refs()
	if byWords {
		if refs, err = c.withWords(refs, ours.refs()); err != nil {
			return err
		}
	}
	want := slices.Clone(refs)
	slices.SortFunc(want, c.w.index.compare(c.request.orders))
	if !slices.Equal(want, ours.refs()) {
		return fmt.Errorf("we do not return the entities in their order: got %v, want %v", ours.refs(), want)
	}
	if err := c.agreeOnFirst(all, want, byWords); err != nil {
		return err
	}
	parts, err := c.parts(all, r)
	if err != nil {
		return err
	}
	got := c.ours
	if !slices.Equal(r.fields, c.request.fields) {
		chosen := *c.request
		chosen.fields = r.fields
		if got, err = c.w.ours(c.ctx, &chosen); err != nil {
			return err
		}
	}
	if pages := c.request.pages(want, parts); !same(&answer{Pages: pages}, got) {
		return fmt.Errorf("our pages are not parts of the list: %s", diff(&answer{Pages: pages}, got))
	}
	return nil
}

// agreeOnFirst checks that the real catalog has the same order by the first field, as far
// as entities have a value for it. It returns an entity once for each of its values.
func (c *comparison) agreeOnFirst(all *request, want []string, byWords bool) error {
	if len(c.request.orders) == 0 {
		return nil
	}
	first := *all
	first.orders = c.request.orders[:1]
	ordered, err := c.w.real(c.ctx, &first)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var got []string
	for _, ref := range ordered.refs() {
		if !seen[ref] && (!byWords || slices.Contains(want, ref)) {
			got = append(got, ref)
		}
		seen[ref] = true
	}
	o := c.request.orders[0]
	if c.w.index.items[strings.ToLower(o.field)] != nil {
		return nil
	}
	best := func(refs []string) (values []string) {
		for _, ref := range refs {
			if v, ok := c.w.index.best(ref, o); ok {
				values = append(values, v)
			}
		}
		return values
	}
	if !slices.Equal(best(got), best(want)) || len(c.request.orders) == 1 && !slices.Equal(got, want[:len(got)]) {
		return fmt.Errorf("the order by the first field differs: real %v, ours %v", got, want)
	}
	return nil
}

// parts returns the chosen fields of what the real catalog selects, nil if none are chosen.
func (c *comparison) parts(all, r *request) (map[string]string, error) {
	if c.request.fields == nil {
		return nil, nil
	}
	chosen := *all
	chosen.fields = r.fields
	a, err := c.w.real(c.ctx, &chosen)
	if err != nil {
		return nil, err
	}
	parts := map[string]string{}
	for i, ref := range a.refs() {
		parts[ref] = a.Pages[0].Parts[i]
	}
	return parts, nil
}

// pages returns the pages of a list that a request leads through.
func (r *request) pages(refs []string, parts map[string]string) []page {
	limit := r.limit
	if limit < 0 {
		if limit = 20; r.form == list {
			limit = len(refs)
		}
	}
	start := min(r.offset, len(refs))
	var pages []page
	add := func(from int) {
		to := min(from+limit, len(refs))
		p := page{Refs: refs[from:to], Next: to < len(refs) && to > from}
		if r.form != list {
			p.Previous = len(pages) > 0 && from > start
			if p.Total = len(refs); r.noTotal {
				p.Total = 0
			}
		}
		if parts != nil {
			for _, ref := range p.Refs {
				p.Parts = append(p.Parts, parts[ref])
			}
		}
		pages = append(pages, p)
	}
	add(start)
	at := start
	for _, forward := range r.forward {
		switch last := pages[len(pages)-1]; {
		case forward && last.Next:
			at += limit
			add(at)
		case !forward && last.Previous:
			at -= limit
			add(at)
		}
	}
	return pages
}

// compare returns the order of references: by the best value for each field, without a
// value last, then by reference in the direction of the last field.
func (x *index) compare(orders []order) func(a, b string) int {
	return func(a, b string) int {
		sign := 1
		for _, o := range orders {
			if sign = 1; o.desc {
				sign = -1
			}
			va, hasA := x.best(a, o)
			vb, hasB := x.best(b, o)
			switch {
			case hasA && !hasB:
				return -1
			case !hasA && hasB:
				return 1
			case va != vb:
				return sign * strings.Compare(va, vb)
			}
		}
		return sign * strings.Compare(a, b)
	}
}

// queryForm returns the endpoint with all parameters that has the filters of another one.
func queryForm(f form) form {
	if f == byPredicate || f == facetsPredicate {
		return byPredicate
	}
	return byQuery
}

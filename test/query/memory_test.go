package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// explainMemory explains why the in-memory client answers in another way. The real
// catalog agrees with us by then. A part of the request that the client answers
// in another way when asked for alone must have an explanation.
func (c *comparison) explainMemory() error {
	ours := c.ours
	if c.request.form == list && len(ours.Pages) > 0 {
		// The client has no cursors for lists.
		first := ours.Pages[0]
		first.Next = false
		ours = &answer{Pages: []page{first}}
	}
	if c.request.isFacets() {
		sortFacets(c.memory)
	}
	if same(ours, c.memory) {
		return nil
	}
	// A part that has an explanation is asked for first, and the others only if it answers like us.
	var others []*request
	for _, leaf := range c.leaves() {
		name := c.memoryExplanation(leaf)
		if name == "" {
			others = append(others, leaf)
			continue
		}
		differs, err := c.differs(leaf)
		if err != nil {
			return err
		}
		if differs {
			c.used[name] = true
			return nil
		}
	}
	for _, leaf := range others {
		if leaf == c.request {
			break
		}
		differs, err := c.differs(leaf)
		if err != nil {
			return err
		}
		if differs {
			return fmt.Errorf("the in-memory client answers a part of the request in another way: %s", leaf)
		}
	}
	return fmt.Errorf("answers differ (-memory +ours):\n%s%s%s", diff(c.memory, ours), c.memory.message, ours.message)
}

// memoryExplanation returns the name of the explanation for a part of the request, empty
// if there is none.
func (c *comparison) memoryExplanation(leaf *request) string {
	for _, name := range slices.Sorted(maps.Keys(memoryExplanations)) {
		if memoryExplanations[name].holds(c, leaf) {
			return name
		}
	}
	return ""
}

// differs asks for a part of the request. A request as a whole differs.
func (c *comparison) differs(leaf *request) (bool, error) {
	if leaf == c.request {
		// Otherwise no part would be asked for.
		return true, nil
	}
	key := leaf.String()
	if differs, known := c.w.leaves.Load(key); known {
		return differs.(bool), nil
	}
	ours, err := c.w.ours(c.ctx, leaf)
	if err != nil {
		return false, err
	}
	memory, err := c.w.memory(c.ctx, leaf)
	if err != nil {
		return false, err
	}
	if leaf.isFacets() {
		sortFacets(memory)
	}
	c.w.leaves.Store(key, !same(ours, memory))
	return !same(ours, memory), nil
}

func sortFacets(a *answer) {
	for _, values := range a.Facets {
		slices.SortFunc(values, func(a, b facet) int { return strings.Compare(a.Value, b.Value) })
	}
}

// leaves returns the parts of the request: each condition, sort field, search and facet
// alone, and the request itself if its structure matters.
func (c *comparison) leaves() []*request {
	if c.ours.Refused {
		return []*request{c.request}
	}
	all := []*request{}
	r := c.request
	for _, filter := range r.filters {
		for _, s := range statements(filter) {
			text := s.key
			if s.hasValue {
				text += "=" + s.value
			}
			all = append(all, &request{form: byQuery, filters: []string{text}, limit: 1000, fields: brief})
		}
	}
	add := func(key string, condition any) {
		all = append(all, &request{form: byPredicate, predicate: map[string]any{key: condition}, limit: 1000, fields: brief})
	}
	conditions(r.predicate, func(key string, condition any) any {
		add(key, condition)
		return nil
	})
	for _, o := range r.orders {
		all = append(all, &request{form: byQuery, orders: []order{o}, limit: 1000, fields: brief})
	}
	if r.term != "" {
		all = append(all, &request{form: byQuery, term: r.term, textFields: r.textFields, limit: 1000, fields: brief})
	}
	for _, f := range r.facets {
		all = append(all, &request{form: facetsByFilter, facets: []string{f}, limit: -1})
	}
	if r.fields != nil {
		all = append(all, &request{form: byQuery, fields: r.fields, limit: 1000})
	}
	return append(all, r)
}

// severalBefore reports whether a filter has a key with several values, and other keys.
func severalBefore(r *request) bool {
	for _, set := range r.sets() {
		for _, v := range set {
			if _, several := v.([]any); several && len(set) > 1 {
				return true
			}
		}
	}
	return false
}

// pagesDiffer reports whether the request has pages that the client counts from the start:
// it has a page before an offset, and one after an empty page.
func pagesDiffer(r *request) bool {
	return r.form != list && !r.isFacets() && (r.offset > 0 || r.limit == 0 || r.noTotal || strings.ContainsFunc(string(encode(r.predicate))+r.term+strings.Join(r.filters, ""), isWide))
}

// isWide reports whether a letter is beyond Latin-1.
func isWide(r rune) bool { return r > 0xff }

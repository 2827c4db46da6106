package query

import (
	"slices"
	"strings"
)

// item is a list with one of its items, which together are a key.
type item struct{ list, text string }

// splits returns the items that a key may denote.
func splits(key string) []item {
	var all []item
	for i, c := range key {
		if c == '.' && i > 0 {
			all = append(all, item{key[:i], key[i+1:]})
		}
	}
	return all
}

// confused returns the items that we take a key for although an entity has the value in
// another shape: as a value beside the list, or as a number or a boolean in it.
func (x *index) confused(key string) []item {
	var all []item
	lower := strings.ToLower(key)
	for _, s := range splits(lower) {
		for ref, values := range x.values[s.list] {
			if s.text != "" && x.hasItems(s.list) && slices.Contains(values, s.text) && !x.items[lower][ref] {
				all = append(all, s)
				break
			}
		}
	}
	return all
}

// hasItems reports whether some entity has a list of texts at a path.
func (x *index) hasItems(list string) bool {
	for key := range x.items {
		if strings.HasPrefix(key, list+".") {
			return true
		}
	}
	return false
}

// isEmptyItem reports whether a key denotes an item that is an empty text.
func (x *index) isEmptyItem(key string) bool {
	return strings.HasSuffix(key, ".") && x.items[strings.ToLower(key)] != nil
}

// rewriteKeys rewrites each condition on a field. In a filter, each alternative of a
// condition makes another filter.
func (r *request) rewriteKeys(field func(key string, condition any) (any, bool), alternatives func(statement) ([]string, bool)) (*request, bool) {
	out, changed := *r, false
	out.filters = nil
	for _, filter := range r.filters {
		sets := []string{""}
		for _, group := range byKey(statements(filter)) {
			// The first texts of a key belong together; each of the others is instead of all of them.
			all := []string{""}
			for _, s := range group {
				texts, ok := alternatives(s)
				changed = changed || ok
				if !ok {
					texts = []string{s.text()}
				}
				all[0] = strings.TrimPrefix(all[0]+","+texts[0], ",")
				all = append(all, texts[1:]...)
			}
			var more []string
			for _, set := range sets {
				for _, text := range all {
					more = append(more, strings.TrimPrefix(set+","+text, ","))
				}
			}
			sets = more
		}
		out.filters = append(out.filters, sets...)
	}
	out.predicate = conditions(r.predicate, func(key string, condition any) any {
		with, ok := field(key, condition)
		changed = changed || ok
		if !ok {
			with = map[string]any{key: condition}
		}
		return with
	})
	return &out, changed
}

// byKey returns the conditions of each key.
func byKey(all []statement) [][]statement {
	var groups [][]statement
	place := map[string]int{}
	for _, s := range all {
		i, again := place[s.key]
		if !again {
			i = len(groups)
			place[s.key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// text returns the condition as it is written.
func (s statement) text() string {
	if s.hasValue {
		return s.key + "=" + s.value
	}
	return s.key
}

// rewriteConfused adds the conditions that we take a key for.
func rewriteConfused(c *comparison, r *request) (*request, bool) {
	x := c.w.index
	out, changed := r.rewriteKeys(func(key string, condition any) (any, bool) {
		var items []any
		for _, s := range x.confused(key) {
			items = append(items, map[string]any{s.list: s.text})
		}
		exists, negated := condition, false
		if m, ok := condition.(map[string]any); ok && m["$exists"] == false {
			exists, negated = map[string]any{"$exists": true}, true
		}
		if len(items) == 0 || !negated && !acceptsTrue(condition) {
			return nil, false
		}
		either := map[string]any{"$any": append(items, map[string]any{key: exists})}
		if negated {
			return map[string]any{"$not": either}, true
		}
		return either, true
	}, func(s statement) ([]string, bool) {
		texts := []string{s.text()}
		for _, of := range x.confused(s.key) {
			if !s.hasValue || strings.EqualFold(s.value, "true") {
				// In capitals, the list is another key of the filter, which must hold too.
				texts = append(texts, strings.ToUpper(of.list)+"="+of.text)
			}
		}
		return texts, len(texts) > 1
	})
	return out, changed || slices.ContainsFunc(r.facets, func(f string) bool { return len(x.confused(f)) > 0 })
}

// adaptConfused counts what we take the facets for.
func adaptConfused(c *comparison, a *answer) {
	x := c.w.index
	for _, f := range c.request.facets {
		items := x.confused(f)
		if len(items) == 0 || a.Refused {
			continue
		}
		n := 0
		for _, ref := range c.found {
			has := slices.Contains(x.of(ref, f), "true")
			for _, s := range items {
				has = has || slices.Contains(x.of(ref, s.list), s.text)
			}
			if has {
				n++
			}
		}
		values := slices.DeleteFunc(a.Facets[f], func(f facet) bool { return f.Value == "true" })
		if n > 0 {
			values = append(values, facet{"true", n})
		}
		slices.SortFunc(values, func(a, b facet) int { return strings.Compare(a.Value, b.Value) })
		a.Facets[f] = values
	}
}

// acceptsTrue reports whether a condition accepts the value of a key that denotes an item.
func acceptsTrue(condition any) bool {
	isTrue := func(v any) bool {
		text, ok := v.(string)
		return v == true || ok && strings.EqualFold(text, "true")
	}
	m, ok := condition.(map[string]any)
	if !ok {
		return isTrue(condition)
	}
	if of, ok := m["$in"].([]any); ok {
		return slices.ContainsFunc(of, isTrue)
	}
	if prefix, ok := m["$hasPrefix"].(string); ok {
		return strings.HasPrefix("true", strings.ToLower(prefix))
	}
	return m["$exists"] == true || isTrue(m["$contains"])
}

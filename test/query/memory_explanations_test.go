package query

import (
	"maps"
	"slices"
	"strings"
)

// memoryExplanation is a class of answers of the in-memory client to a part of a request,
// which differ although the real catalog answers the request like us. The first in the
// order of names counts.
type memoryExplanation struct {
	reason string
	holds  func(*comparison, *request) bool
}

// memoryExplanations are all classes of such answers.
var memoryExplanations = map[string]memoryExplanation{
	"memory filter: capitals in keys": {
		reason: "The client compares the key of a filter in lower case with that of the entity, which may have capitals.",
		holds: func(c *comparison, leaf *request) bool {
			key, ok := leaf.filterKey()
			return ok && c.w.index.hasCapitals(key)
		},
	},
	"memory filter: number": {
		reason: "The client has the differences of the real catalog in numbers.",
		holds: func(_ *comparison, leaf *request) bool {
			_, ok := leaf.filterKey()
			return ok && strings.HasSuffix(strings.ToLower(leaf.filters[0]), "=1e-7")
		},
	},
	"memory long value": {
		reason: "The client also finds, sorts and counts values that are too long for the index.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf != c.request && slices.ContainsFunc(leaf.keys(), func(key string) bool { return c.w.index.long[strings.ToLower(key)] })
		},
	},
	"memory predicate: case of keys": {
		reason: "The client evaluates predicates on the entity, where keys are case-sensitive.",
		holds: func(c *comparison, leaf *request) bool {
			key, _, ok := leaf.predicateKey()
			return ok && !c.w.index.spelled[key] && c.w.index.isSpelled(key)
		},
	},
	"memory predicate: keys of the index": {
		reason: "The client evaluates predicates on the entity, which has no keys for relations, items of lists, fields of items and the default namespace.",
		holds: func(c *comparison, leaf *request) bool {
			key, _, ok := leaf.predicateKey()
			lower := strings.ToLower(key)
			return ok && (strings.HasPrefix(lower, "relations.") || lower == "metadata.namespace" || c.w.index.through[lower] || c.w.index.items[lower] != nil || len(c.w.index.confused(key)) > 0)
		},
	},
	"memory predicate: lists": {
		reason: "The client evaluates predicates on the entity, where a list equals none of its items, and a text contains nothing.",
		holds: func(c *comparison, leaf *request) bool {
			key, condition, ok := leaf.predicateKey()
			_, contains := condition["$contains"]
			return ok && (contains || c.w.index.lists[strings.ToLower(key)])
		},
	},
	"memory predicate: objects": {
		reason: "The client evaluates predicates on the entity, where an object is a value that exists.",
		holds: func(c *comparison, leaf *request) bool {
			key, condition, ok := leaf.predicateKey()
			_, exists := condition["$exists"]
			return ok && exists && c.w.index.objects[strings.ToLower(key)]
		},
	},
	"memory predicate: types": {
		reason: "The client evaluates predicates on the entity, where true is no text, a number has no prefix, and a text and a number are compared as they are spelled.",
		holds: func(c *comparison, leaf *request) bool {
			key, _, ok := leaf.predicateKey()
			return ok && (c.w.index.others[strings.ToLower(key)] || strings.ContainsAny(string(encode(leaf.predicate)), "0123456789") || hasBool(leaf))
		},
	},
	"memory predicate: capitals": {
		reason: "The client compares texts in capitals, where some letters become two.",
		holds: func(_ *comparison, leaf *request) bool {
			_, _, ok := leaf.predicateKey()
			return ok && strings.ContainsAny(strings.ToLower(string(encode(leaf.predicate))), "ßﬁ")
		},
	},
	"memory sort: several values": {
		reason: "The client sorts by the value that is first in the entity.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isSort() && slices.ContainsFunc(c.w.index.refs, func(ref string) bool { return len(c.w.index.of(ref, leaf.orders[0].field)) > 1 })
		},
	},
	"memory sort: ties": {
		reason: "Ties of the client always ascend.",
		holds:  func(_ *comparison, leaf *request) bool { return leaf.isSort() && leaf.orders[0].desc },
	},
	"memory sort: list item": {
		reason: "The client sorts by keys of list items.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isSort() && c.w.index.items[strings.ToLower(leaf.orders[0].field)] != nil
		},
	},
	"memory search: no fields": {
		reason: "The client searches the sort field, like the real catalog.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.textFields == nil && (leaf.isSearch() || leaf == c.request && leaf.term != "")
		},
	},
	"memory search: list item": {
		reason: "The client searches in keys of list items.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isSearch() && slices.ContainsFunc(leaf.textFields, func(f string) bool { return c.w.index.items[strings.ToLower(f)] != nil })
		},
	},
	"memory facet: spelling": {
		reason: "The client counts names in lower case, and each spelling of a value in an entity.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isFacet() && slices.ContainsFunc(leaf.facets, func(f string) bool {
				lower := strings.ToLower(f)
				return c.w.index.lists[lower] || c.w.index.through[lower] || strings.HasPrefix(lower, "relations.") || slices.Contains([]string{"metadata.name", "metadata.namespace"}, lower)
			})
		},
	},
	"memory facet: list item": {
		reason: "The client has the differences of the real catalog in keys of list items.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isFacet() && slices.ContainsFunc(leaf.facets, func(f string) bool { return len(c.w.index.confused(f)) > 0 || c.w.index.isEmptyItem(f) })
		},
	},
	"memory facet: number": {
		reason: "The client has the differences of the real catalog in numbers.",
		holds: func(_ *comparison, leaf *request) bool {
			return leaf.isFacet() && strings.EqualFold(leaf.facets[0], "spec.replicas")
		},
	},
	"memory fields": {
		reason: "The client has the differences of the real catalog in fields.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf != c.request && len(leaf.fields) > len(brief) && slices.ContainsFunc(slices.Collect(maps.Keys(explanations)), func(name string) bool {
				e := explanations[name]
				if !e.both {
					return false
				}
				_, concerned := e.rewrite(c, leaf)
				return concerned
			})
		},
	},
	"memory structure: refused": {
		reason: "The client refuses neither invalid conditions nor those that cannot be answered from the index.",
		holds:  func(c *comparison, leaf *request) bool { return leaf == c.request && c.ours.Refused },
	},
	"memory structure: case of a repeated key": {
		reason: "A key that is repeated in another case must have both values, as in the real catalog.",
		holds: func(c *comparison, leaf *request) bool {
			_, repeated := explanations["filter: case of a repeated key"].rewrite(c, leaf)
			return leaf == c.request && repeated
		},
	},
	"memory sort: rare letters": {
		reason: "JavaScript sorts letters beyond the first 65,536 before some of those.",
		holds: func(c *comparison, leaf *request) bool {
			return leaf.isSort() && slices.ContainsFunc(c.w.index.refs, func(ref string) bool {
				return strings.ContainsFunc(strings.Join(c.w.index.of(ref, leaf.orders[0].field), ""), func(r rune) bool { return r > 0xffff })
			})
		},
	},
	"memory structure: list of values": {
		reason: "The client ignores the keys of a filter that follow one with several values.",
		holds:  func(c *comparison, leaf *request) bool { return leaf == c.request && severalBefore(leaf) },
	},
	"memory structure: pages": {
		reason: "The client counts pages from the first entity, has a page after an empty one, always counts, and fails to write a cursor with letters beyond Latin.",
		holds:  func(c *comparison, leaf *request) bool { return leaf == c.request && pagesDiffer(leaf) },
	},
}

// filterKey returns the key of a part that is a condition of a filter.
func (r *request) filterKey() (string, bool) {
	if len(r.filters) != 1 || r.form != byQuery || r.orders != nil || r.term != "" {
		return "", false
	}
	all := statements(r.filters[0])
	if len(all) != 1 {
		return "", false
	}
	return all[0].key, true
}

// predicateKey returns the key and the condition of a part that is a condition on a field.
// The condition is empty unless it is an object.
func (r *request) predicateKey() (string, map[string]any, bool) {
	m, ok := r.predicate.(map[string]any)
	if !ok || len(m) != 1 || r.form != byPredicate || r.orders != nil || r.term != "" {
		return "", nil, false
	}
	for key, v := range m {
		condition, _ := v.(map[string]any)
		return key, condition, true
	}
	return "", nil, false
}

// keys returns the keys of a part of a request.
func (r *request) keys() []string {
	all := slices.Concat(r.textFields, r.facets)
	if key, ok := r.filterKey(); ok {
		all = append(all, key)
	}
	if key, _, ok := r.predicateKey(); ok {
		all = append(all, key)
	}
	for _, o := range r.orders {
		all = append(all, o.field)
	}
	return all
}

// isSort, isSearch and isFacet report whether the request is a part that only sorts,
// searches or counts.
func (r *request) isSort() bool {
	return len(r.orders) == 1 && r.filters == nil && r.predicate == nil && r.term == ""
}
func (r *request) isSearch() bool {
	return r.term != "" && r.filters == nil && r.predicate == nil && r.orders == nil
}
func (r *request) isFacet() bool { return len(r.facets) == 1 && r.filters == nil && r.predicate == nil }

// hasBool reports whether a part compares with true or false.
func hasBool(leaf *request) bool {
	text := strings.ToLower(string(encode(leaf.predicate)))
	return strings.Contains(text, "true") || strings.Contains(text, "false")
}

// isSpelled reports whether an entity has a path in another case.
func (x *index) isSpelled(key string) bool {
	for path := range x.spelled {
		if strings.EqualFold(path, key) {
			return true
		}
	}
	return false
}

// hasCapitals reports whether an entity has a path, or an item of a list, with capitals.
func (x *index) hasCapitals(key string) bool {
	lower := strings.ToLower(key)
	if x.items[lower] != nil {
		return true
	}
	for path := range x.spelled {
		if path != lower && strings.ToLower(path) == lower {
			return true
		}
	}
	return false
}

package query

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// explanations are all classes of differences. One that explains nothing at full size is
// an error.
var explanations = map[string]explanation{
	"sort: no value": {
		reason: "An entity without a value for the sort field is last; the real catalog leaves it out, except in pages of lists.",
		sorted: func(c *comparison) bool {
			return slices.ContainsFunc(c.found, func(ref string) bool { return c.lacks(ref) })
		},
	},
	"sort: several values": {
		reason: "An entity is returned once, and sorted by the first or last of its values; the real catalog returns it for each value.",
		sorted: func(c *comparison) bool {
			return slices.ContainsFunc(c.found, func(ref string) bool { return c.hasSeveral(ref) })
		},
	},
	"sort: further fields": {
		reason: "All sort fields count; queries of the real catalog ignore all but the first.",
		sorted: func(c *comparison) bool { return len(c.request.orders) > 1 },
	},
	"sort: ties of a list": {
		reason: "Ties are in the direction of the last sort field; in pages of lists of the real catalog they always ascend.",
		sorted: func(c *comparison) bool {
			r := c.request
			return r.form == list && len(r.orders) > 0 && r.orders[len(r.orders)-1].desc
		},
	},
	"sort: case of a list": {
		reason: "Sort fields are not case-sensitive; in pages of lists of the real catalog they are.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			if r.form != list {
				return r, false
			}
			out, changed := *r, false
			out.orders = slices.Clone(r.orders)
			for i := range out.orders {
				o := &out.orders[i]
				changed = changed || strings.ToLower(o.field) != o.field
				o.field = strings.ToLower(o.field)
			}
			return &out, changed
		},
	},
	"search: no fields": {
		reason: "A search without fields finds word prefixes in the fields that users search; the real catalog searches the sort field.",
		sorted: func(c *comparison) bool { return c.request.term != "" && c.request.textFields == nil },
	},
	"search: wildcards": {
		reason: "A term is found literally; in the real catalog percent, underscore and backslash have their meaning in SQL.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			out := *r
			out.term = strings.NewReplacer("%", `\%`, "_", `\_`, `\`, `\\`).Replace(r.term)
			return &out, out.term != r.term
		},
	},
	"filter: case of a repeated key": {
		reason: "A key that is repeated may have any of the values, also in another case; in the real catalog it must then have both.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			out := *r
			out.filters = nil
			changed := false
			for _, filter := range r.filters {
				spellings := map[string]string{}
				var parts []string
				for _, s := range statements(filter) {
					lower := strings.ToLower(s.key)
					if was, again := spellings[lower]; again && was != s.key {
						changed = true
					}
					spellings[lower] = s.key
					if s.hasValue {
						lower += "=" + s.value
					}
					parts = append(parts, lower)
				}
				out.filters = append(out.filters, strings.Join(parts, ","))
			}
			return &out, changed
		},
	},
	"page: default limit": {
		reason: "A page has 20 entities by default, as the documentation of the real catalog says; there it has 200.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			if r.limit >= 0 || r.form == list || r.isFacets() {
				return r, false
			}
			out := *r
			out.limit = 20
			return &out, true
		},
	},
	"item: not a text": {
		reason:  "A list item is a key also if it is no text, and if another entity has the value without a list: the index does not tell them apart. This is a fault of ours.",
		rewrite: rewriteConfused, adapt: adaptConfused,
	},
	"item: empty text": {
		reason: "An empty text in a list is no key. This is a fault of ours.",
		rewrite: func(c *comparison, r *request) (*request, bool) {
			out, changed := r.rewriteKeys(func(key string, condition any) (any, bool) {
				return map[string]any{"nosuch": condition}, c.w.index.isEmptyItem(key)
			}, func(s statement) ([]string, bool) {
				return []string{strings.Replace(s.text(), s.key, "nosuch", 1)}, c.w.index.isEmptyItem(s.key)
			})
			return out, changed || slices.ContainsFunc(r.facets, c.w.index.isEmptyItem)
		},
		adapt: func(c *comparison, a *answer) {
			for _, f := range c.request.facets {
				if c.w.index.isEmptyItem(f) && !a.Refused {
					a.Facets[f] = []facet{}
				}
			}
		},
	},
	"item: sort": {
		reason: "A list item is no key to sort by.",
		sorted: func(c *comparison) bool {
			return slices.ContainsFunc(c.request.orders, func(o order) bool { return c.w.index.items[strings.ToLower(o.field)] != nil })
		},
	},
	"item: search": {
		reason: "A list item is no key to search in: it would find the letters of true.",
		rewrite: func(c *comparison, r *request) (*request, bool) {
			out, changed := *r, false
			if r.textFields == nil || !strings.Contains("true", strings.ToLower(strings.TrimSpace(r.term))) {
				return r, false
			}
			out.textFields = []string{"nosuch"}
			for _, f := range r.textFields {
				if c.w.index.items[strings.ToLower(f)] != nil {
					changed = true
					continue
				}
				out.textFields = append(out.textFields, f)
			}
			return &out, changed
		},
	},
	"number: small fraction": {
		reason: "The exponent of a small fraction has two digits, in JavaScript it has one. This is a fault of ours.",
		rewrite: func(c *comparison, r *request) (*request, bool) {
			out, changed := r.rewriteKeys(func(key string, condition any) (any, bool) {
				text := strings.NewReplacer(`"1e-7`, `"1e-07`, `"1E-7`, `"1e-07`).Replace(string(encode(condition)))
				var with any
				// A number has the same text in both.
				changed := json.Unmarshal([]byte(text), &with) == nil && text != string(encode(condition))
				return map[string]any{key: with}, changed
			}, func(s statement) ([]string, bool) {
				return []string{s.key + "=1e-07"}, strings.EqualFold(s.value, "1e-7")
			})
			return out, changed || slices.ContainsFunc(r.facets, func(f string) bool {
				return slices.ContainsFunc(c.w.index.refs, func(ref string) bool { return slices.Contains(c.w.index.of(ref, f), "1e-7") })
			})
		},
		adapt: func(_ *comparison, a *answer) {
			for _, values := range a.Facets {
				for i := range values {
					if values[i].Value == "1e-7" {
						values[i].Value = "1e-07"
					}
				}
			}
		},
	},
	"form: not indexed": {
		reason: "Forms and inputs of steps are not indexed, and a request that needs them is refused.",
		refused: func(c *comparison) bool {
			text := strings.ToLower(c.request.String())
			return slices.ContainsFunc([]string{"spec.parameters.", "spec.steps.input.", "spec.output."}, func(key string) bool { return strings.Contains(text, key) }) &&
				strings.Contains(c.ours.message, "are not indexed")
		},
	},
	"predicate: two operators": {
		reason: "A condition with two operators is refused; the real catalog ignores one.",
		refused: func(c *comparison) bool {
			return strings.Contains(string(encode(c.request.predicate)), `{"$exists":true,"$in":`) && strings.Contains(c.ours.message, "Invalid filter predicate value")
		},
	},
	"contains: object": {
		reason: "Items of lists that are objects can be matched by one field; the real catalog matches relations only.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			return r.rewriteKeys(func(key string, condition any) (any, bool) {
				m, _ := condition.(map[string]any)
				of, ok := m["$contains"].(map[string]any)
				if !ok || strings.EqualFold(key, "relations") {
					return nil, false
				}
				out := map[string]any{}
				for field, v := range of {
					out[key+"."+field] = v
				}
				return out, true
			}, func(statement) ([]string, bool) { return nil, false })
		},
	},
	"contains: target of a relation": {
		reason: "The target of a relation can have any condition; in the real catalog it must be a text or a list of them.",
		rewrite: func(_ *comparison, r *request) (*request, bool) {
			return r.rewriteKeys(func(key string, condition any) (any, bool) {
				m, _ := condition.(map[string]any)
				relation, _ := m["$contains"].(map[string]any)
				of := map[string]any{}
				for field, v := range relation {
					of[strings.ToLower(field)] = v
				}
				target, ok := of["targetref"]
				if kind, isText := of["type"].(string); ok && isText && strings.EqualFold(key, "relations") {
					return map[string]any{"relations." + kind: target}, true
				}
				return nil, false
			}, func(statement) ([]string, bool) { return nil, false })
		},
	},
	"page: limit 0 of a list": {
		reason: "A list may have no entities; the real catalog refuses it.",
		accepted: func(c *comparison) bool {
			return c.request.form == list && c.request.limit == 0 && len(c.ours.refs()) == 0
		},
	},
	"fields: parts of texts and lists": {
		reason: "Texts and lists have no fields; in the real catalog they have those of JavaScript, such as length.",
		both:   true,
		rewrite: func(c *comparison, r *request) (*request, bool) {
			return r.withoutFields(func(f string) bool {
				last := f[strings.LastIndex(f, ".")+1:]
				return last == "length" || last != "" && strings.Trim(last, "0123456789") == ""
			})
		},
	},
	"fields: keys with dots": {
		reason: "A path leads to all fields that it can mean; in the real catalog the shortest key wins.",
		both:   true,
		rewrite: func(c *comparison, r *request) (*request, bool) {
			return r.withoutFields(c.w.index.isAmbiguous)
		},
	},
}

// isAmbiguous reports whether a path leads to a field through several keys of an object, one
// of which continues with a dot.
func (x *index) isAmbiguous(path string) bool {
	var in func(v any, path string) bool
	in = func(v any, path string) bool {
		m, _ := v.(map[string]any)
		keys := 0
		for key, of := range m {
			rest, below := strings.CutPrefix(path, key+".")
			if below && in(of, rest) {
				return true
			}
			if below || key == path {
				keys++
			}
		}
		return keys > 1
	}
	return slices.ContainsFunc(x.refs, func(ref string) bool { return in(x.entities[ref], path) })
}

// withoutFields returns the request without some of its fields.
func (r *request) withoutFields(drop func(string) bool) (*request, bool) {
	out := *r
	out.fields = slices.DeleteFunc(slices.Clone(r.fields), drop)
	return &out, len(out.fields) < len(r.fields)
}

// lacks reports whether an entity has no value for a sort field.
func (c *comparison) lacks(ref string) bool {
	return slices.ContainsFunc(c.request.orders, func(o order) bool { return len(c.w.index.of(ref, o.field)) == 0 })
}

// hasSeveral reports whether an entity has several values for a sort field.
func (c *comparison) hasSeveral(ref string) bool {
	return slices.ContainsFunc(c.request.orders, func(o order) bool { return len(c.w.index.of(ref, o.field)) > 1 })
}

// withWords returns those of the references that a search for words found. The words of
// the term must be parts of their fields, and all entities with fields that begin with the
// words must have been found.
func (c *comparison) withWords(refs, found []string) ([]string, error) {
	var with []string
	for _, ref := range refs {
		text := c.w.index.searched(ref)
		begins, contains := true, true
		for _, word := range strings.FieldsFunc(strings.ToLower(c.request.term), isSeparator) {
			contains = contains && strings.Contains(text, word)
			begins = begins && strings.Contains(" "+text, " "+word)
		}
		isFound := slices.Contains(found, ref)
		if isFound && !contains || !isFound && begins && strings.ContainsFunc(c.request.term, isLetter) {
			return nil, fmt.Errorf("search for words is wrong about %s: found is %t, its fields have %q", ref, isFound, text)
		}
		if isFound {
			with = append(with, ref)
		}
	}
	return with, nil
}

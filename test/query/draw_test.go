package query

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// common are keys that are queried often.
var common = []string{
	"kind", "spec.type", "spec.lifecycle", "spec.owner", "metadata.namespace", "relations.ownedBy", "metadata.tags", "metadata.labels.tier", "metadata.name",
	"metadata.title", "spec.list", "spec.mixed", "spec.replicas", "spec.enabled", "spec.note", "spec.camelCase", "metadata.annotations.example.org/weight",
}

// drawer draws requests that fit the catalog.
type drawer struct {
	draw
	x *index
	// about is an entity that the conditions are likely to pass.
	about []field
}

// request returns the request with a number: always the same one.
func (x *index) request(seed, number uint64) *request {
	d := &drawer{draw: draw{rand.New(rand.NewPCG(seed, number))}, x: x}
	d.about = x.rows[pick(d.draw, x.refs...)]
	r := &request{form: pick(d.draw, list, byQuery, byQuery, byPredicate, byPredicate, facetsByFilter, facetsPredicate), limit: -1}
	switch r.form {
	case list, byQuery, facetsByFilter:
		for range d.IntN(3) + d.IntN(2) {
			r.filters = append(r.filters, d.filter())
		}
	case byPredicate, facetsPredicate:
		if !d.one(10) {
			r.predicate = d.predicate(3)
		}
	}
	if r.isFacets() {
		for range 1 + d.IntN(3) {
			r.facets = append(r.facets, d.key())
		}
		return r
	}
	d.page(r)
	return r
}

// page draws the order, the search and the pages.
func (d *drawer) page(r *request) {
	if !d.one(3) {
		for range 1 + d.IntN(5)/4 + d.IntN(5)/4 {
			r.orders = append(r.orders, order{d.key(), d.one(2)})
		}
	}
	if r.form != list && d.one(4) {
		d.search(r)
	}
	if !d.one(8) {
		r.limit = pick(d.draw, 1, 2, 3, 5, 7, 10, 20, 50, 200, 1000)
	}
	if d.one(60) {
		r.limit = 0
	}
	if d.one(4) {
		r.offset = 1 + d.IntN(12)
	}
	r.noTotal = r.form != list && d.one(15)
	if d.one(8) {
		r.fields = slices.Clone(brief)
		for range 1 + d.IntN(3) {
			r.fields = append(r.fields, d.path())
		}
	}
	for range d.IntN(5) {
		r.forward = append(r.forward, !d.one(3))
	}
}

// search draws a full text filter: a part of a value, and at times the field that has it.
func (d *drawer) search(r *request) {
	f := d.row()
	r.term = pick(d.draw, "o", "shop", "50", "%", "_", "a_b", `\`, "10%", "default")
	if text := []rune(f.Value); len(text) > 0 && !d.one(6) {
		from := d.IntN(len(text))
		r.term = string(text[from:min(len(text), from+1+d.IntN(6))])
	}
	if r.term = d.spell(r.term); strings.TrimSpace(r.term) == "" {
		r.term = "o"
	}
	if d.one(5) {
		return
	}
	r.textFields = []string{}
	if !d.one(6) {
		r.textFields = append(r.textFields, d.spell(f.Key))
	}
	for range d.IntN(3) {
		r.textFields = append(r.textFields, d.key())
	}
	if term := strings.ToLower(strings.TrimSpace(r.term)); strings.Contains("1e-07", term) != strings.Contains("1e-7", term) {
		// Our text of a small fraction has one more zero, which cannot be expressed by another request.
		r.textFields = slices.DeleteFunc(r.textFields, func(f string) bool { return strings.EqualFold(f, "spec.replicas") })
	}
	if len(r.textFields) == 0 {
		r.textFields = []string{"metadata.name"}
	}
	if r.form == byQuery {
		// The parameter is a list with commas.
		r.textFields = slices.DeleteFunc(r.textFields, func(s string) bool { return strings.Contains(s, ",") || strings.TrimSpace(s) != s })
	}
	if len(r.textFields) == 0 {
		r.textFields = nil
	}
}

// pair is a key with a value that some entity has.
type pair struct {
	Key, Value string
	null       bool
}

// row returns a field of an entity, mostly of the one that the request is about.
func (d *drawer) row() pair {
	rows := d.about
	if d.one(3) {
		rows = d.x.rows[pick(d.draw, d.x.refs...)]
	}
	f := pick(d.draw, rows...)
	if !d.one(3) {
		key := strings.ToLower(pick(d.draw, common...))
		var of []field
		for _, r := range rows {
			if r.Key == key {
				of = append(of, r)
			}
		}
		if len(of) > 0 {
			f = pick(d.draw, of...)
		}
	}
	if f.Value == nil {
		return pair{Key: f.Key, null: true}
	}
	return pair{Key: f.Key, Value: *f.Value}
}

// key returns a key, which hardly any entity has at times.
func (d *drawer) key() string {
	if d.one(25) {
		return pick(d.draw, "spec", "metadata", "metadata.labels", "spec.nested", "spec.nested.a", "spec.nothing", "nosuch", "spec.nosuch.field", "metadata.uid.x",
			"spec.items", "relations", "metadata.annotations", "spec.list.nosuch", "status", "metadata.etag")
	}
	if d.one(3) {
		return d.spell(d.row().Key)
	}
	return pick(d.draw, common...)
}

// path returns the path of a field, with a part more or less at times.
func (d *drawer) path() string {
	path := d.key()
	switch d.IntN(8) {
	case 0:
		path, _, _ = strings.Cut(path, ".")
	case 1:
		path += pick(d.draw, ".x", ".0", ".length", ".")
	case 2:
		path = pick(d.draw, "spec.nested.a.b.c", "spec.nested.a.b", "spec.nested.a.x", "metadata.links", "spec.items", "spec.mixed.one", "spec.items.id", "relations", "metadata.annotations")
	}
	if strings.ContainsAny(path, "[,") {
		return "spec"
	}
	return path
}

// spell changes the case of a text at times.
func (d *drawer) spell(s string) string {
	switch d.IntN(6) {
	case 0:
		return strings.ToUpper(s)
	case 1:
		return strings.Map(func(r rune) rune {
			if r < unicode.MaxASCII && d.one(2) {
				return unicode.ToUpper(r)
			}
			return r
		}, s)
	}
	return s
}

// filter returns a value of the parameter filter.
func (d *drawer) filter() string {
	var parts []string
	for range 1 + d.IntN(5)/2 {
		parts = append(parts, d.condition())
		if d.one(8) {
			// The same key again, with another value.
			key, _, _ := strings.Cut(parts[len(parts)-1], "=")
			again := d.x.rows[pick(d.draw, d.x.refs...)]
			for _, f := range again {
				if f.Key == strings.ToLower(strings.TrimSpace(key)) && f.Value != nil && !strings.Contains(*f.Value, ",") {
					parts = append(parts, d.spell(key)+"="+d.spell(*f.Value))
				}
			}
		}
	}
	if d.one(50) {
		parts = append(parts, pick(d.draw, "", " ", "=x", "kind=", "=", "  kind = api "))
	}
	return strings.Join(parts, pick(d.draw, ",", ", ", " ,"))
}

func (d *drawer) condition() string {
	p := d.row()
	if strings.Contains(p.Key, ",") || strings.Contains(p.Key, "=") || strings.Contains(p.Value, ",") {
		return "kind"
	}
	key := d.spell(p.Key)
	switch {
	case p.null:
		return pick(d.draw, key, key+"=", key+"=null")
	case d.one(8):
		return d.key()
	case d.one(15):
		return key + "=" + pick(d.draw, "", "nosuch", "null", "true", "1", p.Value+"x")
	}
	return key + "=" + d.spell(p.Value)
}

// predicate returns a predicate nested up to depth.
func (d *drawer) predicate(depth int) any {
	if depth > 0 {
		switch d.IntN(8) {
		case 0, 1:
			return map[string]any{"$any": d.parts(depth)}
		case 2, 3:
			return map[string]any{"$all": d.parts(depth)}
		case 4:
			return map[string]any{"$not": d.predicate(depth - 1)}
		}
	}
	m := map[string]any{}
	for range 1 + d.IntN(4)/3 {
		key, v := d.fieldPredicate()
		m[key] = v
	}
	if d.one(100) {
		return map[string]any{}
	}
	return m
}

func (d *drawer) parts(depth int) []any {
	parts := []any{}
	for range d.IntN(4) {
		parts = append(parts, d.predicate(depth-1))
	}
	if len(parts) == 0 && !d.one(8) {
		parts = append(parts, d.predicate(depth-1))
	}
	return parts
}

package query

import (
	"strconv"
	"strings"
)

// fieldPredicate returns a condition on a field, mostly one that the entity passes which
// the request is about.
func (d *drawer) fieldPredicate() (string, any) {
	p := d.row()
	key := d.spell(p.Key)
	if d.one(30) {
		key = d.key()
	}
	if key == "" {
		key = "kind"
	}
	v := d.primitive(p)
	switch d.IntN(12) {
	case 0, 1:
		return key, map[string]any{"$exists": !d.one(3)}
	case 2, 3:
		return key, map[string]any{"$in": d.several(p.Key, v)}
	case 4, 5:
		text := []rune(p.Value)
		return key, map[string]any{"$hasPrefix": d.spell(string(text[:d.IntN(len(text)+1)]))}
	case 6:
		return key, map[string]any{"$contains": v}
	case 7:
		return d.contains(key, v)
	case 8:
		if d.one(4) {
			return d.strange(key, v)
		}
	}
	return key, v
}

// primitive returns the value as a text, or as what it stands for.
func (d *drawer) primitive(p pair) any {
	if p.null || d.one(20) {
		return pick[any](d.draw, "", "null", "nosuch", true, false, 0, 1.5, -1, 1e21)
	}
	if !d.one(3) {
		if n, err := strconv.ParseFloat(p.Value, 64); err == nil && strconv.FormatFloat(n, 'f', -1, 64) == p.Value {
			return n
		}
		if b, err := strconv.ParseBool(p.Value); err == nil && len(p.Value) > 1 {
			return b
		}
	}
	return d.spell(p.Value)
}

// several returns a list of values of a key, with v.
func (d *drawer) several(key string, v any) []any {
	out := []any{}
	if !d.one(8) {
		out = append(out, v)
	}
	for range d.IntN(3) {
		if values := d.x.of(pick(d.draw, d.x.refs...), key); len(values) > 0 {
			out = append(out, d.spell(pick(d.draw, values...)))
		}
	}
	return out
}

// contains returns a condition on an item of a list: on relations, or on objects.
func (d *drawer) contains(key string, v any) (string, any) {
	var relations []field
	for _, f := range d.about {
		if strings.HasPrefix(f.Key, "relations.") {
			relations = append(relations, f)
		}
	}
	if len(relations) == 0 || d.one(4) {
		if list, last, ok := strings.Cut(key, ".id"); ok {
			return list, map[string]any{"$contains": map[string]any{"id" + last: v}}
		}
		return pick(d.draw, "spec.items", "metadata.links"), map[string]any{"$contains": map[string]any{pick(d.draw, "id", "title", "size"): pick[any](d.draw, "a", "c", "docs", 1, v)}}
	}
	f := pick(d.draw, relations...)
	item := map[string]any{pick(d.draw, "type", "type", "type", "Type"): d.spell(strings.TrimPrefix(f.Key, "relations."))}
	ref := d.spell(*f.Value)
	switch d.IntN(4) {
	case 0:
		item[pick(d.draw, "targetRef", "targetRef", "TargetRef")] = ref
	case 1:
		item["targetRef"] = map[string]any{"$in": []any{ref, "group:default/ops"}}
	case 2:
		if d.one(3) {
			item["targetRef"] = pick[any](d.draw, map[string]any{"$in": []any{}}, map[string]any{"$exists": true}, map[string]any{"$hasPrefix": ref[:3]}, 1)
		}
	}
	return pick(d.draw, "relations", "relations", "Relations"), map[string]any{"$contains": item}
}

// strange returns a condition that few clients would send, or an invalid one.
func (d *drawer) strange(key string, v any) (string, any) {
	switch d.IntN(8) {
	case 0:
		return key, nil
	case 1:
		return key, []any{v}
	case 2:
		return key, map[string]any{}
	case 3:
		return key, map[string]any{"$exists": true, "$in": []any{v}}
	case 4:
		return key, map[string]any{"$regex": "x"}
	case 5:
		return key, map[string]any{"$exists": "yes"}
	case 6:
		return "$or", []any{map[string]any{key: v}}
	}
	return key, map[string]any{"$hasPrefix": 1}
}

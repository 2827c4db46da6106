package expression

import (
	"slices"
	"strings"
)

// mapped returns the items of a list or of an array-like object, and the letters of a
// text; nothing for other values.
func (m *machine) mapped(in value) []value {
	switch in := in.(type) {
	case *list:
		return m.items(in)
	case *record:
		return m.arrayLike(in)
	}
	s, _ := stringOf(in)
	m.spend(len(s))
	return letters(s)
}

// sequence is mapped for filters that reject undefined and null.
func (m *machine) sequence(filter string, in value, at int) []value {
	if isNothing(in) {
		bail(at, "set a default with | default([])", "filter %s takes a list, not %s", filter, kindOf(in))
	}
	return m.mapped(in)
}

// listed returns the items of a list, for filters that accept only lists.
func (m *machine) listed(filter string, in value, at int) []value {
	l, ok := in.(*list)
	if !ok {
		hint := ""
		if isNothing(in) {
			hint = "set a default with | default([])"
		}
		bail(at, hint, "filter %s takes a list, not %s", filter, kindOf(in))
	}
	return m.items(l)
}

// count returns the requested number of parts.
func (m *machine) count(filter string, v value, at int) int {
	n := m.integerOf(v, at)
	if n <= 0 {
		bail(at, "", "filter %s takes a number greater than 0", filter)
	}
	return n
}

func batch(m *machine, in value, a given, at int) value {
	items := m.sequence("batch", in, at)
	width := m.count("batch", a.at(0), at)
	var out []value
	for row := range slices.Chunk(items, width) {
		row = slices.Clone(row)
		if fill := a.at(1); truthy(fill) && len(row) < width {
			m.spend(width)
			for len(row) < width {
				row = append(row, fill)
			}
		}
		out = append(out, m.newList(row))
	}
	return m.newList(out)
}

func slice(m *machine, in value, a given, at int) value {
	text, isText := stringOf(in)
	if _, isList := in.(*list); !isText && !isList {
		bail(at, "set a default with | default([])", "filter slice takes a list or a string, not %s", kindOf(in))
	}
	items := m.mapped(in)
	count := m.count("slice", a.at(0), at)
	m.spend(count)
	out := make([]value, count)
	whole, more := len(items)/count, len(items)%count
	from := 0
	for i := range out {
		to := from + whole
		if i < more {
			to++
		}
		part := slices.Clone(items[from:to])
		if fill := a.at(1); truthy(fill) && i >= more {
			if isText {
				bail(at, "convert it first with | list", "filter slice cannot pad a string")
			}
			part = append(part, fill)
		}
		if isText {
			out[i] = m.made(cut(text, from, to))
		} else {
			out[i] = m.newList(part)
		}
		from = to
	}
	return m.newList(out)
}

// edge implements first and last.
func (m *machine) edge(which string, in value, at int) value {
	items := m.sequence(which, in, at)
	switch {
	case len(items) == 0:
		return undefined{}
	case which == "first":
		return items[0]
	}
	return items[len(items)-1]
}

// toList implements list: the letters of a text, the pairs of an object.
func toList(m *machine, in value, _ given, at int) value {
	switch in := in.(type) {
	case *list:
		return in
	case string, safe:
		return m.newList(m.mapped(in))
	case *record:
		var out []value
		for _, k := range m.keysOf(in) {
			pair := m.newRecord(2)
			v, _ := m.get(in, k)
			pair.set("key", k)
			pair.set("value", v)
			out = append(out, pair)
		}
		return m.newList(out)
	}
	bail(at, "set a default with | default([])", "filter list cannot convert %s", kindOf(in))
	return nil
}

// attribute looks up a field in an item; a path may consist of several names.
func (m *machine) attribute(item value, path []string, at int) value {
	for _, name := range path {
		if isNothing(item) {
			bail(at, "", "cannot look up %s in %s", name, kindOf(item))
		}
		item, _ = m.own(item, name)
	}
	return item
}

// path splits an attribute into its names.
func (m *machine) path(v value, at int) []string {
	if !truthy(v) {
		return nil
	}
	if s, ok := v.(string); ok {
		return strings.Split(s, ".")
	}
	return []string{m.textOf(v, at)}
}

func join(m *machine, in value, a given, at int) value {
	separator := ""
	if truthy(a.at(0)) {
		separator = m.textOf(a.at(0), at)
	}
	return m.joined(m.picked("join", in, a.at(1), at), separator, at, 0)
}

// picked returns the items of a list, or one field of each.
func (m *machine) picked(filter string, in, field value, at int) []value {
	if !truthy(field) {
		return m.listed(filter, in, at)
	}
	name := []string{m.textOf(field, at)}
	items := slices.Clone(m.mapped(in))
	for i := range items {
		items[i] = m.attribute(items[i], name, at)
	}
	return items
}

func sum(m *machine, in value, a given, at int) value {
	var total value = number(0)
	for _, v := range m.picked("sum", in, a.at(0), at) {
		total = m.add(total, v, at)
	}
	if start := a.at(1); start != (undefined{}) {
		return m.add(start, total, at)
	}
	return m.add(number(0), total, at)
}

// sorted implements sort, by the items or by one of their fields.
func sorted(m *machine, in value, a given, at int) value {
	items := slices.Clone(m.mapped(in))
	backward, exactly := truthy(named("sort", a, 0)), truthy(named("sort", a, 1))
	path := m.path(named("sort", a, 2), at)
	slices.SortStableFunc(items, func(x, y value) int {
		m.spend(1)
		if x == (undefined{}) || y == (undefined{}) {
			// undefined sorts last, even in reverse order.
			return boolean(x == (undefined{})) - boolean(y == (undefined{}))
		}
		x, y = m.attribute(x, path, at), m.attribute(y, path, at)
		order, _ := m.compare(folded(x, y, exactly), folded(y, x, exactly), at)
		if backward {
			return -order
		}
		return order
	})
	return m.newList(items)
}

// folded returns a text in lower case if it is compared with another text.
func folded(v, with value, exactly bool) value {
	s, ok := stringOf(v)
	if _, both := stringOf(with); !ok || !both || exactly {
		return v
	}
	return strings.ToLower(s)
}

// dictsort returns the pairs of an object, sorted by key or value.
func dictsort(m *machine, in value, a given, at int) value {
	r, ok := in.(*record)
	if !ok {
		bail(at, "", "filter dictsort takes an object, not %s", kindOf(in))
	}
	by := 0
	switch a.at(1) {
	case undefined{}, "key":
	case "value":
		by = 1
	default:
		bail(at, `write "key" or "value"`, "filter dictsort sorts by key or by value")
	}
	pairs := m.rounds(r, 2)
	slices.SortStableFunc(pairs, func(x, y value) int {
		m.spend(1)
		p, q := x.(*list).items[by], y.(*list).items[by]
		if s, ok := stringOf(p); ok && !truthy(a.at(0)) {
			p = upper(s)
		}
		if s, ok := stringOf(q); ok && !truthy(a.at(0)) {
			q = upper(s)
		}
		order, _ := m.compare(p, q, at)
		return order
	})
	return m.newList(pairs)
}

func groupby(m *machine, in value, a given, at int) value {
	items := m.sequence("groupby", in, at)
	path := m.path(a.at(0), at)
	out := m.newRecord(0)
	for _, it := range items {
		key := m.textOf(m.attribute(it, path, at), at)
		group, ok := out.values[key].(*list)
		if !ok {
			group = m.newList(nil)
			out.set(key, group)
		}
		m.spend(1)
		group.items = append(group.items, it)
	}
	return out
}

// chosen implements select and reject: the items that pass a test, or do not.
func (m *machine) chosen(in value, a given, want bool, at int) value {
	name := "truthy"
	if v := a.at(0); v != (undefined{}) {
		name = m.textOf(v, at)
	}
	args := given{positional: a.positional[min(1, len(a.positional)):]}
	filter := map[bool]string{true: "select", false: "reject"}[want]
	knownTest(name, args, at)
	var out []value
	for _, it := range m.sequence(filter, in, at) {
		m.spend(1)
		if m.passes(name, it, args, at) == want {
			out = append(out, it)
		}
	}
	return m.newList(out)
}

// chosenBy implements selectattr and rejectattr: the items whose field is truthy, or
// not.
func (m *machine) chosenBy(in value, a given, want bool, at int) value {
	filter := map[bool]string{true: "selectattr", false: "rejectattr"}[want]
	field := []string{m.textOf(a.at(0), at)}
	var out []value
	for _, it := range m.listed(filter, in, at) {
		m.spend(1)
		if truthy(m.attribute(it, field, at)) == want {
			out = append(out, it)
		}
	}
	return m.newList(out)
}

package expression

import "slices"

// listChanges are the methods that modify a list while one text is evaluated. The source
// of the list is not changed.
var listChanges = map[string]listMethod{
	"push": func(m *machine, l *list, a given, _ int) value {
		// Growing in place avoids a copy per iteration in loops that collect values.
		m.spend(len(a.positional))
		l.items = append(m.items(l), a.positional...)
		m.changed = true
		return number(len(l.items))
	},
	"unshift": func(m *machine, l *list, a given, _ int) value {
		m.change(l, slices.Concat(a.positional, m.items(l)))
		return number(len(l.items))
	},
	"pop": func(m *machine, l *list, _ given, _ int) value {
		items := m.items(l)
		if len(items) == 0 {
			return undefined{}
		}
		last := items[len(items)-1]
		m.change(l, slices.Clone(items[:len(items)-1]))
		return last
	},
	"shift": func(m *machine, l *list, _ given, _ int) value {
		items := m.items(l)
		if len(items) == 0 {
			return undefined{}
		}
		first := items[0]
		m.change(l, slices.Clone(items[1:]))
		return first
	},
	"reverse": func(m *machine, l *list, _ given, _ int) value {
		items := slices.Clone(m.items(l))
		slices.Reverse(items)
		m.change(l, items)
		return l
	},
	"sort": func(m *machine, l *list, _ given, at int) value {
		items := slices.Clone(m.items(l))
		slices.SortStableFunc(items, func(a, b value) int {
			m.spend(1)
			if a == (undefined{}) || b == (undefined{}) {
				return boolean(a == (undefined{})) - boolean(b == (undefined{}))
			}
			x, y := m.textOf(a, at), m.textOf(b, at)
			m.spendText(len(x) + len(y))
			return compareText(x, y)
		})
		m.change(l, items)
		return l
	},
	"fill": func(m *machine, l *list, a given, at int) value {
		items := slices.Clone(m.items(l))
		from, to := m.bounds(a, 1, len(items), at)
		for i := from; i < to; i++ {
			items[i] = a.at(0)
		}
		m.change(l, items)
		return l
	},
	"splice": func(m *machine, l *list, a given, at int) value {
		items := slices.Clone(m.items(l))
		from, _ := m.bounds(given{positional: a.positional[:min(1, len(a.positional))]}, 0, len(items), at)
		to := len(items)
		switch {
		case len(a.positional) == 0:
			to = from
		case len(a.positional) > 1:
			to = min(len(items), from+max(0, m.integerOf(a.at(1), at)))
		}
		removed := slices.Clone(items[from:to])
		m.change(l, slices.Concat(items[:from], a.positional[min(2, len(a.positional)):], items[to:]))
		return m.newList(removed)
	},
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

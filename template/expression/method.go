package expression

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// method returns a method of a value, or nil. Only methods that take no function and
// affect no other value are supported.
func (m *machine) method(target value, name string) *function {
	var call func(a given, at int) value
	switch t := target.(type) {
	case string, safe:
		s, _ := stringOf(t)
		if f := textMethods[name]; f != nil {
			call = func(a given, at int) value {
				m.spendText(len(s))
				return f(m, s, a, at)
			}
		}
	case number, exact:
		n, _ := floatOf(t)
		if f := numberMethods[name]; f != nil {
			call = func(a given, at int) value { return f(m, n, a, at) }
		}
	case *list:
		if f := listMethods[name]; f != nil {
			call = func(a given, at int) value {
				m.spend(len(m.items(t)))
				return f(m, t, a, at)
			}
		} else if f := listChanges[name]; f != nil {
			call = func(a given, at int) value { return f(m, t, a, at) }
		}
	case *pattern:
		if name == "test" {
			call = func(a given, at int) value {
				s := m.textOf(a.at(0), at)
				m.seek(t, s)
				return t.compiled.MatchString(s)
			}
		}
	}
	if call == nil {
		return nil
	}
	return &function{name: name, call: func(at int, a given) value {
		if len(a.names) > 0 {
			bail(at, "pass it by position", "%s has no argument named %s", name, a.names[0])
		}
		return call(a, at)
	}}
}

// bounds returns the range that two arguments select in a sequence of length n. Negative
// values count from the end.
func (m *machine) bounds(a given, first, n, at int) (from, to int) {
	from, to = 0, n
	if v := a.at(first); v != (undefined{}) {
		from = m.integerOf(v, at)
	}
	if v := a.at(first + 1); v != (undefined{}) {
		to = m.integerOf(v, at)
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	from = max(0, min(from, n))
	return from, max(from, min(to, n))
}

type textMethod func(m *machine, s string, a given, at int) value

var textMethods = map[string]textMethod{
	"charAt": func(m *machine, s string, a given, at int) value {
		i := m.integerOf(a.at(0), at)
		return cut(s, i, i+1)
	},
	"charCodeAt": func(m *machine, s string, a given, at int) value {
		i, u := m.integerOf(a.at(0), at), units(s)
		if i < 0 || i >= len(u) {
			return number(math.NaN())
		}
		return number(u[i])
	},
	"concat": func(m *machine, s string, a given, at int) value {
		for _, v := range a.positional {
			s = m.concat(s, m.textOf(v, at), at)
		}
		return s
	},
	"endsWith": func(m *machine, s string, a given, at int) value {
		if v := a.at(1); v != (undefined{}) {
			s = cut(s, 0, m.integerOf(v, at))
		}
		return strings.HasSuffix(s, m.textOf(a.at(0), at))
	},
	"includes": func(m *machine, s string, a given, at int) value {
		return strings.Contains(cut(s, m.integerOf(a.at(1), at), length(s)), m.textOf(a.at(0), at))
	},
	"startsWith": func(m *machine, s string, a given, at int) value {
		return strings.HasPrefix(cut(s, m.integerOf(a.at(1), at), length(s)), m.textOf(a.at(0), at))
	},
	"indexOf": func(m *machine, s string, a given, at int) value {
		from := max(0, min(m.integerOf(a.at(1), at), length(s)))
		rest := cut(s, from, length(s))
		i := strings.Index(rest, m.textOf(a.at(0), at))
		if i < 0 {
			return number(-1)
		}
		return number(from + length(rest[:i]))
	},
	"lastIndexOf": func(m *machine, s string, a given, at int) value {
		what := m.textOf(a.at(0), at)
		upTo := length(s)
		if f := m.numberOf(a.at(1), at); !math.IsNaN(f) {
			upTo = max(0, min(m.integerOf(a.at(1), at)+length(what), upTo))
			upTo = max(upTo, length(what))
		}
		head := cut(s, 0, upTo)
		i := strings.LastIndex(head, what)
		if i < 0 {
			return number(-1)
		}
		return number(length(head[:i]))
	},
	"replace": func(m *machine, s string, a given, at int) value {
		with := m.textOf(a.at(1), at)
		if p, ok := a.at(0).(*pattern); ok {
			return m.replacePattern(s, p, with, at)
		}
		return m.replaceFirst(s, m.textOf(a.at(0), at), with, at)
	},
	"slice": func(m *machine, s string, a given, at int) value {
		from, to := m.bounds(a, 0, length(s), at)
		return cut(s, from, to)
	},
	"substring": func(m *machine, s string, a given, at int) value {
		n := length(s)
		from, to := m.integerOf(a.at(0), at), n
		if v := a.at(1); v != (undefined{}) {
			to = m.integerOf(v, at)
		}
		from, to = max(0, min(from, n)), max(0, min(to, n))
		return cut(s, min(from, to), max(from, to))
	},
	"split": func(m *machine, s string, a given, at int) value {
		var parts []value
		switch by := a.at(0).(type) {
		case undefined:
			parts = []value{s}
		case *pattern:
			parts = m.splitPattern(s, by)
		default:
			parts = m.split(s, m.textOf(by, at))
		}
		if v := a.at(1); v != (undefined{}) {
			parts = parts[:min(len(parts), int(uint32(toInt32(m.numberOf(v, at)))))]
		}
		return m.newList(parts)
	},
	"toLowerCase": func(m *machine, s string, _ given, _ int) value { return m.made(strings.ToLower(s)) },
	"toUpperCase": func(m *machine, s string, _ given, _ int) value { return m.made(upper(s)) },
	"trim":        func(_ *machine, s string, _ given, _ int) value { return strings.TrimFunc(s, isSpace) },
	"trimEnd":     func(_ *machine, s string, _ given, _ int) value { return strings.TrimRightFunc(s, isSpace) },
	"trimStart":   func(_ *machine, s string, _ given, _ int) value { return strings.TrimLeftFunc(s, isSpace) },
}

// split splits a text.
func (m *machine) split(s, by string) []value {
	m.spend(len(s))
	if by == "" {
		return letters(s)
	}
	parts := strings.Split(s, by)
	out := make([]value, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out
}

type numberMethod func(m *machine, n float64, a given, at int) value

var numberMethods = map[string]numberMethod{
	"toFixed": func(m *machine, n float64, a given, at int) value {
		digits := m.digits(a, at, 0, 100, 0)
		if math.Abs(n) >= 1e21 || math.IsNaN(n) {
			return numberText(n)
		}
		return strconv.FormatFloat(n, 'f', digits, 64)
	},
	"toExponential": func(m *machine, n float64, a given, at int) value {
		digits := m.digits(a, at, 0, 100, -1)
		if math.IsInf(n, 0) || math.IsNaN(n) {
			return numberText(n)
		}
		return exponent(strconv.FormatFloat(n, 'e', digits, 64))
	},
	"toPrecision": func(m *machine, n float64, a given, at int) value {
		digits := m.digits(a, at, 1, 100, -1)
		if digits < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return numberText(n)
		}
		s := strconv.FormatFloat(n, 'e', digits-1, 64)
		_, e, _ := strings.Cut(s, "e")
		if size, _ := strconv.Atoi(e); size >= -6 && size < digits {
			return strconv.FormatFloat(n, 'f', digits-1-size, 64)
		}
		return exponent(s)
	},
	"toString": func(m *machine, n float64, a given, at int) value {
		return inBase(n, m.digits(a, at, 2, 36, 10))
	},
}

// digits returns the only argument of a number method.
func (m *machine) digits(a given, at, least, most, otherwise int) int {
	if a.at(0) == (undefined{}) {
		return otherwise
	}
	n := m.integerOf(a.at(0), at)
	if n < least || n > most {
		bail(at, "", "the number must be between %d and %d", least, most)
	}
	return n
}

type listMethod func(m *machine, l *list, a given, at int) value

// listMethods are the methods that do not modify the list.
var listMethods = map[string]listMethod{
	"at": func(m *machine, l *list, a given, at int) value {
		items := m.items(l)
		i := m.integerOf(a.at(0), at)
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return undefined{}
		}
		return items[i]
	},
	"concat": func(m *machine, l *list, a given, _ int) value {
		out := slices.Clone(m.items(l))
		for _, v := range a.positional {
			if other, ok := v.(*list); ok {
				m.spend(len(m.items(other)))
				out = append(out, m.items(other)...)
				continue
			}
			out = append(out, v)
		}
		return m.newList(out)
	},
	"flat": func(m *machine, l *list, a given, at int) value {
		depth := 1
		if v := a.at(0); v != (undefined{}) {
			depth = m.integerOf(v, at)
		}
		return m.newList(m.flat(nil, l, depth, at))
	},
	"includes": func(m *machine, l *list, a given, at int) value {
		from, _ := m.bounds(given{positional: a.positional[min(1, len(a.positional)):]}, 0, len(m.items(l)), at)
		return slices.ContainsFunc(m.items(l)[from:], func(v value) bool { return m.same(v, a.at(0)) })
	},
	"indexOf": func(m *machine, l *list, a given, at int) value {
		from, _ := m.bounds(given{positional: a.positional[min(1, len(a.positional)):]}, 0, len(m.items(l)), at)
		i := slices.IndexFunc(m.items(l)[from:], func(v value) bool { return m.same(v, a.at(0)) })
		if i >= 0 {
			i += from
		}
		return number(i)
	},
	"lastIndexOf": func(m *machine, l *list, a given, _ int) value {
		for i, v := range slices.Backward(m.items(l)) {
			if m.same(v, a.at(0)) {
				return number(i)
			}
		}
		return number(-1)
	},
	"join": func(m *machine, l *list, a given, at int) value {
		separator := ","
		if v := a.at(0); v != (undefined{}) {
			separator = m.textOf(v, at)
		}
		return m.joined(m.items(l), separator, at, 0)
	},
	"slice": func(m *machine, l *list, a given, at int) value {
		from, to := m.bounds(a, 0, len(m.items(l)), at)
		return m.newList(slices.Clone(m.items(l)[from:to]))
	},
}

func (m *machine) flat(out []value, l *list, depth, at int) []value {
	defer m.deeper(at)()
	for _, v := range m.items(l) {
		m.spend(1)
		if inner, ok := v.(*list); ok && depth > 0 {
			out = m.flat(out, inner, depth-1, at)
			continue
		}
		out = append(out, v)
	}
	return out
}

package expression

import (
	"math"
	"slices"
	"strings"
)

// builtin is a filter of the language.
type builtin func(m *machine, in value, a given, at int) value

// keywords are the argument names of filters that support named arguments.
var keywords = map[string][]string{
	"default": {"", "boolean"},
	"d":       {"", "boolean"},
	"int":     {"default", "base"},
	"sort":    {"reverse", "case_sensitive", "attribute"},
}

// filters are the filters of the language.
var filters = map[string]builtin{
	"abs":         func(m *machine, in value, _ given, at int) value { return number(math.Abs(m.numberOf(in, at))) },
	"batch":       batch,
	"capitalize":  onText("capitalize", func(_ *machine, s string, _ given, _ int) string { return capital(s) }),
	"center":      center,
	"d":           otherwise,
	"default":     otherwise,
	"dictsort":    dictsort,
	"dump":        dump,
	"e":           escape,
	"escape":      escape,
	"first":       func(m *machine, in value, _ given, at int) value { return m.edge("first", in, at) },
	"float":       float,
	"forceescape": func(m *machine, in value, _ given, at int) value { return safe(m.made(m.escaped(m.shown(in, at), at))) },
	"groupby":     groupby,
	"indent":      indent,
	"int":         integer,
	"join":        join,
	"last":        func(m *machine, in value, _ given, at int) value { return m.edge("last", in, at) },
	"length":      size,
	"list":        toList,
	"lower": func(m *machine, in value, _ given, at int) value {
		return m.made(strings.ToLower(m.wanted("lower", in, at)))
	},
	"nl2br":      nl2br,
	"random":     random,
	"reject":     func(m *machine, in value, a given, at int) value { return m.chosen(in, a, false, at) },
	"rejectattr": func(m *machine, in value, a given, at int) value { return m.chosenBy(in, a, false, at) },
	"replace":    replace,
	"reverse":    reverse,
	"round":      rounded,
	"safe": func(m *machine, in value, _ given, at int) value {
		return safe(m.shown(in, at))
	},
	"select":     func(m *machine, in value, a given, at int) value { return m.chosen(in, a, true, at) },
	"selectattr": func(m *machine, in value, a given, at int) value { return m.chosenBy(in, a, true, at) },
	"slice":      slice,
	"sort":       sorted,
	"string":     str,
	"striptags":  onText("striptags", striptags),
	"sum":        sum,
	"title":      onText("title", title),
	"trim":       trim,
	"truncate":   truncate,
	"upper": func(m *machine, in value, _ given, at int) value {
		return m.made(upper(m.wanted("upper", in, at)))
	},
	"urlencode": urlencode,
	"urlize":    urlize,
	"wordcount": wordcount,
}

// known rejects a call with an argument name that the filter does not have.
func known(filter string, a given, at int) {
	for _, name := range a.names {
		if !slices.Contains(keywords[filter], name) {
			bail(at, "pass it by position", "filter %s has no argument named %s", filter, name)
		}
	}
}

// named returns an argument by its name in keywords, or by its position.
func named(filter string, a given, i int) value { return a.get(keywords[filter][i], i) }

// otherwise implements default: it replaces undefined or, with the flag, any falsy
// value.
func otherwise(_ *machine, in value, a given, _ int) value {
	if truthy(named("default", a, 1)) {
		if truthy(in) {
			return in
		}
		return a.at(0)
	}
	if in == (undefined{}) {
		return a.at(0)
	}
	return in
}

func float(m *machine, in value, a given, at int) value {
	f := parseFloat(m.textOf(in, at))
	if math.IsNaN(f) {
		return a.at(0)
	}
	return number(f)
}

func integer(m *machine, in value, a given, at int) value {
	base := 10.0
	if b := named("int", a, 1); b != (undefined{}) {
		base = m.numberOf(b, at)
	}
	f := parseInt(m.textOf(in, at), base)
	if math.IsNaN(f) {
		return named("int", a, 0)
	}
	return number(f)
}

func rounded(m *machine, in value, a given, at int) value {
	digits := 0.0
	if truthy(a.at(0)) {
		digits = m.numberOf(a.at(0), at)
	}
	factor := math.Pow(10, digits)
	f := m.numberOf(in, at) * factor
	switch a.at(1) {
	case "ceil":
		f = math.Ceil(f)
	case "floor":
		f = math.Floor(f)
	default:
		f = round(f)
	}
	return number(f / factor)
}

// size implements length: of texts, lists and objects; 0 for undefined and null.
func size(m *machine, in value, _ given, _ int) value {
	switch in := in.(type) {
	case *list:
		return number(len(m.items(in)))
	case *record:
		return number(len(m.keysOf(in)))
	case undefined, none:
		return number(0)
	case bool:
		if !in {
			return number(0)
		}
	}
	if s, ok := stringOf(in); ok {
		return number(length(s))
	}
	return undefined{}
}

func random(_ *machine, _ value, _ given, at int) value {
	bail(at, "use first", "filter random is not supported: a task that runs again must give the same result")
	return nil
}

// str implements string: the text of a value that is not undefined or null.
func str(m *machine, in value, _ given, at int) value {
	if isNothing(in) {
		bail(at, "set a default with | default(\"\")", "filter string cannot convert %s", kindOf(in))
	}
	if s, ok := in.(safe); ok {
		return s
	}
	return m.textOf(in, at)
}

// reverse reverses a text or a list.
func reverse(m *machine, in value, _ given, at int) value {
	var items []value
	s, isText := stringOf(in)
	if isText {
		m.spend(len(s))
		items = letters(s)
	} else {
		items = slices.Clone(m.mapped(in))
	}
	slices.Reverse(items)
	m.spend(len(items))
	if isText {
		return like(in, m.joined(items, "", at, 0))
	}
	return m.newList(items)
}

// like marks a text as safe if the text it was made from is.
func like(in value, s string) value {
	if _, ok := in.(safe); ok {
		return safe(s)
	}
	return s
}

package expression

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// eval evaluates an expression.
func (m *machine) eval(e expr) value {
	m.spend(1)
	m.here = e.at()
	switch e := e.(type) {
	case *literal:
		return e.value
	case *regexLiteral:
		return e.pattern
	case *symbol:
		return m.symbol(e)
	case *listLiteral:
		items := make([]value, len(e.items))
		for i, it := range e.items {
			items[i] = m.eval(it)
		}
		return m.newList(items)
	case *mapLiteral:
		r := m.newRecord(len(e.keys))
		for i, k := range e.keys {
			r.set(k, m.eval(e.values[i]))
		}
		return r
	case *sequence:
		var last value
		for _, it := range e.items {
			last = m.eval(it)
		}
		return last
	case *lookup:
		target := m.eval(e.target)
		return m.member(target, m.eval(e.key), e.at())
	case *span:
		return m.span(e)
	case *call:
		return m.calls(e)
	case *filtered:
		return m.filter(e, m.eval(e.input))
	case *choice:
		return m.choose(e)
	case *test:
		return m.tests(e)
	case *unary:
		return m.unary(e)
	case *binary:
		return m.binary(e)
	}
	return undefined{}
}

// symbol resolves a name: variables of the text, then the scope, then functions.
func (m *machine) symbol(e *symbol) value {
	if v, ok := m.vars.get(e.name); ok {
		return v
	}
	if n, ok := m.scope[e.name]; ok {
		return m.box(n)
	}
	if f, ok := m.env.Globals[e.name]; ok {
		return m.host(e.name, f)
	}
	if f := m.global(e.name); f != nil {
		return f
	}
	return undefined{}
}

func (m *machine) choose(e *choice) value {
	if truthy(m.eval(e.condition)) {
		return m.eval(e.then)
	}
	if e.otherwise == nil {
		return ""
	}
	return m.eval(e.otherwise)
}

func (m *machine) unary(e *unary) value {
	v := m.eval(e.operand)
	switch e.operator {
	case "not":
		return !truthy(v)
	case "-":
		return number(-m.numberOf(v, e.at()))
	case "floor":
		return number(math.Floor(m.numberOf(v, e.at())))
	}
	return number(m.numberOf(v, e.at()))
}

func (m *machine) binary(e *binary) value {
	left := m.eval(e.left)
	switch e.operator {
	case "and":
		if !truthy(left) {
			return left
		}
		return m.eval(e.right)
	case "or":
		if truthy(left) {
			return left
		}
		return m.eval(e.right)
	}
	right := m.eval(e.right)
	at := e.at()
	m.here = at
	switch e.operator {
	case "in":
		return m.contains(right, left, at)
	case "==":
		return m.alike(left, right, at)
	case "!=":
		return !m.alike(left, right, at)
	case "===":
		return m.same(left, right)
	case "!==":
		return !m.same(left, right)
	case "~":
		return m.concat(m.textOf(left, at), m.textOf(right, at), at)
	case "+":
		return m.add(left, right, at)
	case "<", ">", "<=", ">=":
		order, ok := m.compare(left, right, at)
		return ok && ordered(e.operator, order)
	}
	return arithmetic(e.operator, m.numberOf(left, at), m.numberOf(right, at))
}

func ordered(operator string, order int) bool {
	switch operator {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

func arithmetic(operator string, a, b float64) value {
	switch operator {
	case "-":
		return number(a - b)
	case "*":
		return number(a * b)
	case "/":
		return number(a / b)
	case "%":
		return number(math.Mod(a, b))
	}
	if math.IsNaN(b) || math.Abs(a) == 1 && math.IsInf(b, 0) {
		return number(math.NaN())
	}
	return number(math.Pow(a, b))
}

func (m *machine) concat(a, b string, at int) string {
	m.grown(len(a)+len(b), at)
	m.spendText(len(a) + len(b))
	return a + b
}

// add implements +: concatenation if one operand is text, else addition.
func (m *machine) add(a, b value, at int) value {
	a, b = m.primitive(a, at), m.primitive(b, at)
	_, isA := a.(string)
	_, isB := b.(string)
	if isA || isB {
		return m.concat(primitiveText(a), primitiveText(b), at)
	}
	return number(m.numberOf(a, at) + m.numberOf(b, at))
}

func (m *machine) contains(in, what value, at int) value {
	switch in := in.(type) {
	case string:
		m.spendText(len(in))
		return strings.Contains(in, m.textOf(what, at))
	case *list:
		items := m.items(in)
		m.spend(len(items))
		return slices.ContainsFunc(items, func(v value) bool { return m.same(v, what) })
	case *record:
		_, ok := m.get(in, m.textOf(what, at))
		return ok
	}
	bail(at, "set a default with | default([])", "cannot use in with %s", kindOf(in))
	return nil
}

// kindOf returns the kind of a value for messages.
func kindOf(v value) string {
	switch v.(type) {
	case undefined:
		return "undefined"
	case none:
		return "null"
	case bool:
		return "a boolean"
	case number, exact:
		return "a number"
	case string, safe:
		return "a string"
	case *list:
		return "a list"
	case *record:
		return "an object"
	case *function:
		return "a function"
	}
	return "a regular expression"
}

// member looks up a key in a value. A missing member is undefined, and so is every
// member of undefined.
func (m *machine) member(target, key value, at int) value {
	switch target.(type) {
	case undefined, none:
		return undefined{}
	}
	name := m.textOf(key, at)
	m.spend(len(name) / bytesPerStep)
	if v, ok := m.own(target, name); ok {
		return v
	}
	if f := m.method(target, name); f != nil {
		return f
	}
	return undefined{}
}

// own returns the value's own member of a name, without methods.
func (m *machine) own(target value, name string) (value, bool) {
	switch t := target.(type) {
	case *record:
		return m.get(t, name)
	case *list:
		items := m.items(t)
		if name == "length" {
			return number(len(items)), true
		}
		if i, ok := arrayIndex(name); ok && i < len(items) {
			return items[i], true
		}
	case *function:
		v, ok := t.fields[name]
		return v, ok
	}
	if s, ok := stringOf(target); ok {
		m.spendText(len(s))
		if name == "length" {
			return number(length(s)), true
		}
		if i, ok := arrayIndex(name); ok && i < length(s) {
			return cut(s, i, i+1), true
		}
	}
	return undefined{}, false
}

// span returns a slice of a list, or of the code units of a text.
func (m *machine) span(e *span) value {
	items := m.mapped(m.eval(e.target))
	bound := func(b expr, otherwise int) int {
		if b == nil {
			return otherwise
		}
		v := m.eval(b)
		if v == (none{}) {
			return otherwise
		}
		n := m.integerOf(v, b.at())
		if n < 0 {
			n += len(items)
		}
		return n
	}
	by := 1
	if e.by != nil {
		by = m.integerOf(m.eval(e.by), e.by.at())
	}
	from, to := 0, len(items)
	if by < 0 {
		from, to = len(items)-1, -1
	}
	from, to = bound(e.from, from), bound(e.to, to)
	if by == 0 {
		bail(e.at(), "", "the step of a slice cannot be 0")
	}
	var out []value
	for i := from; i >= 0 && i < len(items) && (by > 0 && i < to || by < 0 && i > to); i += by {
		m.spend(1)
		out = append(out, items[i])
	}
	return m.newList(out)
}

// given evaluates the arguments of a call.
func (m *machine) given(a arguments) given {
	g := given{names: a.names}
	if len(a.positional) > 0 {
		g.positional = make([]value, len(a.positional))
	}
	for i, e := range a.positional {
		g.positional[i] = m.eval(e)
	}
	for _, e := range a.named {
		g.named = append(g.named, m.eval(e))
	}
	return g
}

func (m *machine) calls(e *call) value {
	callee := m.eval(e.callee)
	f, ok := callee.(*function)
	if !ok {
		what := path(e.callee)
		hint := ""
		if _, absent := callee.(undefined); absent {
			names := slices.Concat(slices.Collect(maps.Keys(m.env.Globals)), []string{"range", "cycler", "joiner"})
			hint = near(what, names, "")
		}
		bail(e.callee.at(), hint, "cannot call %s, which is %s", what, kindOf(callee))
	}
	args := m.given(e.args)
	m.here = e.at()
	return f.call(e.at(), args)
}

// path returns the name of a callee for messages.
func path(e expr) string {
	switch e := e.(type) {
	case *symbol:
		return e.name
	case *lookup:
		if k, ok := e.key.(*literal); ok {
			if s, ok := k.value.(string); ok {
				return path(e.target) + "." + short(s)
			}
		}
		return path(e.target) + "[…]"
	}
	return "a value"
}

// filter applies a filter: one of the Env, else one of the language.
func (m *machine) filter(e *filtered, in value) value {
	at := e.at()
	host, hosted := m.env.Filters[e.name]
	own, owned := filters[e.name]
	if !hosted && !owned {
		names := slices.Concat(slices.Collect(maps.Keys(m.env.Filters)), slices.Collect(maps.Keys(filters)))
		bail(at, near(e.name, names, ""), "unknown filter %s", e.name)
	}
	args := m.given(e.args)
	m.here = at
	m.look(in)
	if !hosted {
		known(e.name, args, at)
		return own(m, in, args, at)
	}
	if len(args.names) > 0 {
		bail(at, "pass it by position", "filter %s has no argument named %s", e.name, args.names[0])
	}
	n, err := host(m.unbox(in, at, 0), m.nodes(args, at))
	if err != nil {
		panic(&fault{at: at, msg: "filter " + e.name + ": " + err.Error(), err: err})
	}
	return m.box(n)
}

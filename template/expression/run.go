package expression

import (
	"slices"
	"strconv"
	"strings"
)

// run executes statements and writes their output.
func (m *machine) run(body []statement, out *strings.Builder) {
	for _, s := range body {
		m.spend(1)
		m.statement(s, out)
	}
}

func (m *machine) write(out *strings.Builder, s string) {
	m.grown(out.Len()+len(s), m.here)
	m.spendText(len(s))
	out.WriteString(s)
}

func (m *machine) statement(s statement, out *strings.Builder) {
	switch s := s.(type) {
	case *textOut:
		m.write(out, s.text)
	case *valueOut:
		m.write(out, m.shown(m.eval(s.value), s.value.at()))
	case *ifStatement:
		for _, b := range s.branches {
			if b.condition == nil || truthy(m.eval(b.condition)) {
				m.run(b.body, out)
				return
			}
		}
	case *forStatement:
		m.loop(s, out)
	case *setStatement:
		var v value
		if s.value != nil {
			v = m.eval(s.value)
		} else {
			v = m.capture(s.body)
		}
		for _, name := range s.targets {
			m.vars.assign(name, v)
		}
	case *macroStatement:
		m.vars.names[s.name] = m.macro(s.name, s.params, s.body, m.root)
	case *callStatement:
		m.callBlock(s, out)
	case *filterStatement:
		m.write(out, m.shown(m.filter(s.filter, m.capture(s.body)), s.filter.at()))
	case *switchStatement:
		m.switches(s, out)
	case *blockStatement:
		m.within(m.vars.inner(true), func() { m.run(s.body, out) })
	}
}

// capture returns the output of a body.
func (m *machine) capture(body []statement) string {
	var b strings.Builder
	m.run(body, &b)
	return b.String()
}

// within runs do with other variables.
func (m *machine) within(vars *variables, do func()) {
	before := m.vars
	m.vars = vars
	do()
	m.vars = before
}

// switches runs the matching case. An empty case falls through to the next.
func (m *machine) switches(s *switchStatement, out *strings.Builder) {
	v := m.eval(s.value)
	matched := false
	for _, c := range s.cases {
		if matched = matched || m.same(v, m.eval(c.condition)); matched && len(c.body) > 0 {
			m.run(c.body, out)
			return
		}
	}
	m.run(s.otherwise, out)
}

// loop executes a for. One name is bound to each item; two to each key and value of an
// object; several to the elements of each item.
func (m *machine) loop(s *forStatement, out *strings.Builder) {
	over := m.eval(s.over)
	rounds := m.rounds(over, len(s.targets))
	m.within(m.vars.inner(false), func() {
		if len(rounds) == 0 {
			m.run(s.otherwise, out)
			return
		}
		_, listed := over.(*list)
		for i, item := range rounds {
			m.here = s.at()
			m.spend(1)
			m.bind(s, item, listed)
			m.vars.names["loop"] = m.loopState(i, len(rounds))
			m.run(s.body, out)
		}
	})
}

// bind sets the variables of a for.
func (m *machine) bind(s *forStatement, item value, listed bool) {
	if len(s.targets) == 1 {
		m.vars.names[s.targets[0]] = item
		return
	}
	if isNothing(item) {
		bail(s.at(), "", "cannot unpack %s into %d names", kindOf(item), len(s.targets))
	}
	for i, name := range s.targets {
		if !listed && i > 1 {
			return
		}
		v, _ := m.own(item, strconv.Itoa(i))
		m.vars.names[name] = v
	}
}

// rounds returns the items that a for iterates over.
func (m *machine) rounds(over value, names int) []value {
	switch over := over.(type) {
	case *list:
		return slices.Clone(m.items(over))
	case *record:
		if names == 1 {
			return m.arrayLike(over)
		}
		keys := m.keysOf(over)
		out := make([]value, len(keys))
		for i, k := range keys {
			v, _ := m.get(over, k)
			out[i] = &list{items: []value{k, v}}
		}
		return out
	}
	s, _ := stringOf(over)
	m.spend(len(s))
	out := letters(s)
	if _, plain := over.(string); plain && names > 1 {
		for i := range out {
			out[i] = &list{items: []value{strconv.Itoa(i), out[i]}}
		}
	}
	return out
}

// arrayLike returns the items of an object that has a length, like a list.
func (m *machine) arrayLike(r *record) []value {
	v, ok := m.get(r, "length")
	if !ok {
		return nil
	}
	n := max(0, m.integerOf(v, m.here))
	m.spend(n)
	out := make([]value, n)
	for i := range out {
		out[i], _ = m.get(r, strconv.Itoa(i))
	}
	return out
}

func (m *machine) loopState(i, n int) *record {
	r := m.newRecord(7)
	r.set("index", number(i+1))
	r.set("index0", number(i))
	r.set("revindex", number(n-i))
	r.set("revindex0", number(n-i-1))
	r.set("first", i == 0)
	r.set("last", i == n-1)
	r.set("length", number(n))
	return r
}

// macro makes a function from a body, which sees the variables around it.
func (m *machine) macro(name string, p params, body []statement, around *variables) *function {
	return &function{name: name, call: func(at int, args given) value {
		defer m.deeper(at)()
		vars := around.inner(true)
		m.within(around, func() { m.bindParams(p, args, vars.names, at) })
		var text string
		m.within(vars, func() { text = m.capture(body) })
		return safe(text)
	}}
}

// bindParams sets the parameters of a macro. Excess positional arguments are bound to
// the parameters with defaults, in order.
func (m *machine) bindParams(p params, args given, into map[string]value, at int) {
	all := slices.Concat(p.names, p.named)
	for i, name := range all {
		v := args.get(name, i)
		if _, absent := v.(undefined); absent && i >= len(p.names) && i >= len(args.positional) && !slices.Contains(args.names, name) {
			v = m.eval(p.defaults[i-len(p.names)])
		}
		into[name] = v
	}
	if i := slices.Index(args.names, "caller"); i >= 0 {
		into["caller"] = args.named[i]
	}
	m.here = at
}

// callBlock calls a macro that may call back the content of the block.
func (m *machine) callBlock(s *callStatement, out *strings.Builder) {
	callee := m.eval(s.call.callee)
	f, ok := callee.(*function)
	if !ok {
		bail(s.call.callee.at(), "", "cannot call %s, which is %s", path(s.call.callee), kindOf(callee))
	}
	args := m.given(s.call.args)
	args.names = append(slices.Clone(args.names), "caller")
	args.named = append(args.named, m.macro("caller", s.params, s.body, m.vars))
	m.write(out, m.shown(f.call(s.call.at(), args), s.call.at()))
}

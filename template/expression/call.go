package expression

import (
	"math"

	"example.dev/ingestor/document/tree"
)

// nodes returns positional arguments as nodes for the functions of an Env.
func (m *machine) nodes(args given, at int) []*tree.Node {
	out := make([]*tree.Node, len(args.positional))
	for i, v := range args.positional {
		out[i] = m.unbox(v, at, 0)
	}
	return out
}

// host wraps a function of the Env.
func (m *machine) host(name string, f Func) *function {
	return &function{name: name, call: func(at int, args given) value {
		if len(args.names) > 0 {
			bail(at, "pass it by position", "%s has no argument named %s", name, args.names[0])
		}
		n, err := f(m.nodes(args, at))
		if err != nil {
			panic(&fault{at: at, msg: name + ": " + err.Error(), err: err})
		}
		return m.box(n)
	}}
}

// global returns a built-in function, or nil.
func (m *machine) global(name string) *function {
	switch name {
	case "range":
		return &function{name: name, call: m.numbers}
	case "cycler":
		return &function{name: name, call: func(_ int, args given) value { return m.cycler(args) }}
	case "joiner":
		return &function{name: name, call: func(_ int, args given) value { return joiner(args) }}
	}
	return nil
}

// numbers implements range([start,] stop[, step]).
func (m *machine) numbers(at int, args given) value {
	start, stop, step := 0.0, m.numberOf(args.at(0), at), 1.0
	if _, one := args.at(1).(undefined); !one {
		start, stop = stop, m.numberOf(args.at(1), at)
	}
	if s := args.at(2); truthy(s) {
		step = m.numberOf(s, at)
	}
	count := math.Ceil((stop - start) / step)
	if math.IsNaN(count) || count <= 0 {
		return m.newList(nil)
	}
	m.spend(int(math.Min(count, math.MaxInt32)))
	out := make([]value, int(count))
	for i := range out {
		out[i] = number(start + float64(i)*step)
	}
	return m.newList(out)
}

// cycler implements cycler: it returns its arguments in turn.
func (m *machine) cycler(args given) value {
	i := -1
	f := &function{name: "cycler", fields: map[string]value{"current": none{}}}
	f.fields["reset"] = &function{name: "reset", call: func(int, given) value {
		i = -1
		f.fields["current"] = none{}
		return undefined{}
	}}
	f.fields["next"] = &function{name: "next", call: func(int, given) value {
		if i++; i >= len(args.positional) {
			i = 0
		}
		f.fields["current"] = args.at(i)
		return args.at(i)
	}}
	f.call = func(at int, _ given) value {
		bail(at, "call its next()", "a cycler is not a function")
		return nil
	}
	return f
}

// joiner implements joiner: it returns "" on the first call, then its separator.
func joiner(args given) value {
	separator := args.at(0)
	if !truthy(separator) {
		separator = ","
	}
	first := true
	return &function{name: "joiner", call: func(int, given) value {
		if first {
			first = false
			return ""
		}
		return separator
	}}
}

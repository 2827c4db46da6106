package expression

import (
	"math"
	"slices"
	"strconv"

	"example.dev/ingestor/document/tree"
)

// value is a JavaScript value in an expression: undefined, none, bool, number, exact,
// string, safe, *list, *record, *function, *pattern.
type value any

type (
	undefined struct{}
	none      struct{}
	number    float64
	// exact is a number of the scope that a float64 cannot represent. It is passed through
	// unchanged; calculations use the nearest float64.
	exact struct{ node *tree.Node }
	// safe is a text that escape does not change.
	safe string
)

// list is an array. Its items are read from its node on first access.
type list struct {
	node  *tree.Node
	items []value
}

// record is an object, either backed by a node or with its own keys and values.
type record struct {
	node   *tree.Node
	keys   []string
	values map[string]value
}

// function is a callable value: a function of the language or the Env, a bound method,
// or a macro.
type function struct {
	name string
	call func(at int, args given) value
	// fields are its members.
	fields map[string]value
}

// given are the arguments of a call.
type given struct {
	positional []value
	names      []string
	named      []value
}

// at returns a positional argument, or undefined if it is missing.
func (g given) at(i int) value {
	if i < len(g.positional) {
		return g.positional[i]
	}
	return undefined{}
}

// get returns the argument with the name, or else the one at the position.
func (g given) get(name string, i int) value {
	if j := slices.Index(g.names, name); j >= 0 {
		return g.named[j]
	}
	return g.at(i)
}

// box converts a node to a value.
func (m *machine) box(n *tree.Node) value {
	if n == nil {
		return undefined{}
	}
	switch n.Kind {
	case tree.Bool:
		return n.Text == "true"
	case tree.Int, tree.Float:
		m.spend(len(n.Text) / bytesPerStep)
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || numberText(f) != n.Text && n.Kind == tree.Int {
			return exact{n}
		}
		return number(f)
	case tree.String:
		return n.Text
	case tree.List, tree.Map:
		// The same node is always the same object.
		if v, ok := m.boxes[n]; ok {
			return v
		}
		var v value = &record{node: n}
		if n.Kind == tree.List {
			v = &list{node: n}
		}
		m.boxes[n] = v
		return v
	}
	return none{}
}

// items returns the items of a list.
func (m *machine) items(l *list) []value {
	if l.items == nil && l.node != nil {
		m.spend(len(l.node.Items))
		l.items = make([]value, len(l.node.Items))
		for i, it := range l.node.Items {
			l.items[i] = m.box(it)
			if it == nil {
				l.items[i] = none{}
			}
		}
	}
	return l.items
}

// change replaces the items of a list.
func (m *machine) change(l *list, items []value) {
	m.spend(len(items))
	if items == nil {
		items = []value{}
	}
	l.items = items
	m.changed = true
}

func (m *machine) newList(items []value) *list {
	m.spend(len(items))
	if items == nil {
		items = []value{}
	}
	return &list{items: items}
}

// newRecord returns an empty object, which takes more memory than other values.
func (m *machine) newRecord(size int) *record {
	m.spend(1 + size)
	return &record{values: make(map[string]value, size)}
}

func (r *record) set(key string, v value) {
	if _, ok := r.values[key]; !ok {
		r.keys = append(r.keys, key)
	}
	r.values[key] = v
}

// get returns a field, and whether it exists.
func (m *machine) get(r *record, key string) (value, bool) {
	if r.node != nil {
		n, ok := m.field(r.node, key)
		if !ok {
			return undefined{}, false
		}
		return m.box(n), true
	}
	if v, ok := r.values[key]; ok {
		return v, true
	}
	return undefined{}, false
}

// field returns a field of a node, and whether it exists. Large nodes get an index.
func (m *machine) field(n *tree.Node, key string) (*tree.Node, bool) {
	const few = 16
	if len(n.Fields) <= few {
		f := n.Field(key)
		if f == nil {
			return nil, false
		}
		return f.Value, true
	}
	index := m.indexes[n]
	if index == nil {
		m.spend(len(n.Fields))
		index = make(map[string]*tree.Node, len(n.Fields))
		for _, f := range slices.Backward(n.Fields) {
			index[f.Key] = f.Value
		}
		if m.indexes == nil {
			m.indexes = map[*tree.Node]map[string]*tree.Node{}
		}
		m.indexes[n] = index
	}
	v, ok := index[key]
	return v, ok
}

// keysOf returns the keys of a record in JavaScript order: array indexes by number, then
// the others in insertion order.
func (m *machine) keysOf(r *record) []string {
	keys := r.keys
	if r.node != nil {
		keys = make([]string, len(r.node.Fields))
		for i, f := range r.node.Fields {
			keys[i] = f.Key
		}
	}
	m.spend(len(keys))
	if !slices.ContainsFunc(keys, func(k string) bool { _, ok := arrayIndex(k); return ok }) {
		return keys
	}
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(a, b string) int {
		i, isA := arrayIndex(a)
		j, isB := arrayIndex(b)
		switch {
		case isA && isB:
			return i - j
		case isA:
			return -1
		case isB:
			return 1
		}
		return 0
	})
	return keys
}

// arrayIndex parses a key that is an array index in JavaScript's notation.
func arrayIndex(key string) (int, bool) {
	if key == "" || len(key) > 10 || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	for i := range len(key) {
		if !isDigit(key[i]) {
			return 0, false
		}
	}
	i, err := strconv.Atoi(key)
	return i, err == nil && i < math.MaxUint32
}

// unbox converts a value to a node, nil for undefined. An unchanged value gives the node
// it came from.
func (m *machine) unbox(v value, at, depth int) *tree.Node {
	if depth > m.limits.Depth {
		panic(tooDeep(at))
	}
	switch v := v.(type) {
	case undefined:
		return nil
	case bool:
		return tree.Boolean(v)
	case number:
		return numberNode(float64(v))
	case exact:
		return v.node
	case string:
		return tree.Str(v)
	case safe:
		return tree.Str(string(v))
	case *list:
		return m.unboxList(v, at, depth)
	case *record:
		return m.unboxRecord(v, at, depth)
	case *function:
		bail(at, "call it: "+v.name+"(…)", "%s is a function, not a value", v.name)
	case *pattern:
		bail(at, "use it in replace", "a regular expression is not a value")
	}
	return tree.Nil()
}

func (m *machine) unboxList(l *list, at, depth int) *tree.Node {
	if l.node != nil && !m.changed {
		return l.node
	}
	out := tree.Arr()
	for _, it := range m.items(l) {
		m.spend(1)
		if n := m.unbox(it, at, depth+1); n != nil {
			out.Items = append(out.Items, n)
		}
	}
	return out
}

func (m *machine) unboxRecord(r *record, at, depth int) *tree.Node {
	if r.node != nil && !m.changed {
		return r.node
	}
	keys := m.keysOf(r)
	out := &tree.Node{Kind: tree.Map, Fields: make([]tree.Field, 0, len(keys))}
	for _, k := range keys {
		v, _ := m.get(r, k)
		m.spend(1)
		if n := m.unbox(v, at, depth+1); n != nil {
			out.Fields = append(out.Fields, tree.F(k, n))
		}
	}
	return out
}

// numberNode converts a number to a node, null for NaN and Infinity, which JSON lacks.
func numberNode(f float64) *tree.Node {
	const largestWhole = 1e21
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return tree.Nil()
	}
	if f == math.Trunc(f) && math.Abs(f) < largestWhole {
		return &tree.Node{Kind: tree.Int, Text: numberText(f)}
	}
	return &tree.Node{Kind: tree.Float, Text: strconv.FormatFloat(f, 'g', -1, 64)}
}

// Package keys reads the maps of a configuration into typed values. Each method of a Map
// that reads a key also defines that the key exists, so that the same code lists the
// keys, with their types and defaults.
package keys

import (
	"fmt"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
)

// Map is a map that is being read.
type Map struct {
	*state
	// node is nil if the map is absent.
	node *tree.Node
	at   input.Place
	// path is the path of the map as it is written, doc in the contract's vocabulary; when
	// keys are listed, without the indices of entries.
	path, doc string
	// known are the keys that are read, idle those that are accepted and ignored.
	known, idle []string
	// other is the alternative spelling that was used for a key.
	other map[string]string
	// lenient reports that a value that cannot be resolved is not an error.
	lenient bool
	// unchecked disables the check for unknown keys.
	unchecked bool
	// Out is the effective configuration, including defaults.
	Out *tree.Node
}

// state is what the maps of a configuration share.
type state struct {
	r *input.Reader
	// describing lists keys instead of reading values.
	describing bool
	keys       []Key
	// required are the required keys of maps, by the path of the map.
	required map[string][]string
	written  map[string]Written
}

// Written is the position of a value and of its key, and the path as it is written.
type Written struct {
	input.Place
	Key  input.Place
	Path string
}

// Read returns the map at the top of a configuration.
func Read(r *input.Reader, root *tree.Node) *Map {
	s := &state{r: r, required: map[string][]string{}, written: map[string]Written{}}
	return &Map{state: s, node: root, at: r.PlaceOf(root), Out: tree.Obj()}
}

// Describe returns a map that lists keys instead of reading values.
func Describe() *Map {
	m := Read(input.New(nil, nil), nil)
	m.describing = true
	return m
}

// Describing reports whether keys are listed instead of read.
func (m *Map) Describing() bool { return m.describing }

// Written returns the positions of the given keys, by their paths in the contract's
// vocabulary; entries of lists have their index.
func (m *Map) Written() map[string]Written { return m.written }

// Present reports whether the map is present.
func (m *Map) Present() bool { return m.node != nil }

// Given reports whether the map is present, or described.
func (m *Map) Given() bool { return m.node != nil || m.describing }

// At returns the position of the map.
func (m *Map) At() input.Place { return m.at }

// Path returns the path of the map as it is written.
func (m *Map) Path() string { return m.path }

// spelling returns the spelling that is used for a key.
func (m *Map) spelling(key string) string {
	if s, ok := m.other[key]; ok {
		return s
	}
	return key
}

// field returns the entry of a key, nil if there is none or it is null.
func (m *Map) field(key string) *tree.Field {
	f := m.node.Field(m.spelling(key))
	if f == nil || f.Value.IsNull() {
		return nil
	}
	return f
}

// Has reports whether a key is given, validly or not.
func (m *Map) Has(key string) bool { return m.field(key) != nil }

// Raw returns the value of a key as it is written, nil if there is none or it is null.
func (m *Map) Raw(key string) *tree.Node {
	if f := m.field(key); f != nil {
		return f.Value
	}
	return nil
}

// KeyAt returns the position of a key, or that of the map if the key is absent.
func (m *Map) KeyAt(key string) input.Place {
	if f := m.field(key); f != nil {
		return m.r.KeyPlace(f)
	}
	return m.at
}

// ValueAt returns the position of the value of a key, which must be given.
func (m *Map) ValueAt(key string) input.Place { return m.r.PlaceOf(m.Raw(key)) }

// PathTo returns the path of a key.
func (m *Map) PathTo(key string) string { return Join(m.path, m.spelling(key)) }

// Join returns the path of a key in the map with a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Get returns the value of a key.
func (m *Map) Get(key string) input.Value { return m.value(key, false) }

// GetSecret is Get for a key that may hold a secret.
func (m *Map) GetSecret(key string) input.Value { return m.value(key, true) }

func (m *Map) value(key string, secret bool) input.Value {
	m.known = append(m.known, key)
	f := m.field(key)
	if f == nil {
		return m.r.Absent(m.at, m.PathTo(key), secret)
	}
	m.written[Join(m.doc, key)] = Written{m.r.PlaceOf(f.Value), m.r.KeyPlace(f), m.PathTo(key)}
	return m.r.Resolve(f.Value, m.PathTo(key), secret, m.lenient)
}

// Accept defines that a key exists that is not read.
func (m *Map) Accept(key string) { m.known = append(m.known, key) }

// Ignore is Accept for a key that hints do not suggest.
func (m *Map) Ignore(key string) { m.idle = append(m.idle, key) }

// Lenient accepts values that cannot be resolved, if when is true.
func (m *Map) Lenient(when bool) { m.lenient = m.lenient || when }

// IgnoreRest disables the check for unknown keys.
func (m *Map) IgnoreRest() { m.unchecked = true }

// Done records the effective value of a key; nil is none.
func (m *Map) Done(key, kind string, holds *tree.Node) {
	m.Note(key, kind, holds)
	if holds != nil {
		m.Out.Set(key, holds)
	}
}

// Map reads the map under a key.
func (m *Map) Map(key string, read func(*Map)) {
	out := m.MapOr(m.Get(key), key, "map", nil, func(v input.Value) {
		v.WrongType("a map", "write its keys below it, indented")
	}, read)
	if len(out.Fields) > 0 {
		m.Out.Set(key, out)
	}
}

// MapOr reads a key that holds a map, or a short form, whose type is kind. It returns
// the effective map; the caller decides what is shown.
func (m *Map) MapOr(v input.Value, key, kind string, def *tree.Node, short func(input.Value), read func(*Map)) *tree.Node {
	m.Note(key, kind, def)
	if v.Node != nil && v.Node.Kind != tree.Map {
		short(v)
		v.Node = nil
	}
	child := m.child(v)
	child.doc = Join(m.doc, key)
	read(child)
	child.finish()
	return child.Out
}

// child returns the map v.
func (m *Map) child(v input.Value) *Map {
	return &Map{state: m.state, node: v.Node, at: v.At, path: v.Path, lenient: m.lenient, Out: tree.Obj()}
}

// Fields returns the entries of the map as they are written.
func (m *Map) Fields() []tree.Field {
	if m.node == nil {
		return nil
	}
	return m.node.Fields
}

// Variant reads the map under a key, merged over shared, in place of m.
func (m *Map) Variant(key string, shared *tree.Node, read func(*Map)) {
	chosen := m.node.Get(key)
	child := &Map{
		state: m.state, node: m.r.Merge(shared, chosen), at: m.r.PlaceOf(chosen), path: m.PathTo(key), doc: m.doc, lenient: m.lenient, Out: m.Out,
	}
	read(child)
	child.finish()
}

// Lookup returns an environment variable, empty if it is not set.
func (m *Map) Lookup(name string) string { return m.r.Lookup(name) }

// Virtual returns a map that is in no file.
func (m *Map) Virtual(node *tree.Node) *Map {
	return &Map{state: m.state, node: node, path: input.Environment, Out: tree.Obj()}
}

// List reads each entry of the list of maps under a key.
func (m *Map) List(key string, read func(*Map)) {
	v := m.Get(key)
	m.Note(key, "list", nil)
	if m.describing {
		read(&Map{state: m.state, doc: Join(m.doc, key) + "[]", Out: tree.Obj()})
		return
	}
	if v.Node == nil {
		return
	}
	if v.Node.Kind != tree.List {
		v.WrongType("a list", "write each entry on its own line after a dash")
		return
	}
	out := tree.Arr()
	for i, it := range v.Node.Items {
		item := m.r.Resolve(it, fmt.Sprintf("%s[%d]", v.Path, i), false, m.lenient)
		if item.Node == nil || item.Node.Kind != tree.Map {
			if item.Node != nil || it.IsNull() {
				item.WrongType("a map", "write its keys after the dash")
			}
			continue
		}
		child := m.child(item)
		child.doc = fmt.Sprintf("%s[%d]", Join(m.doc, key), i)
		read(child)
		child.finish()
		out.Items = append(out.Items, child.Out)
	}
	m.Out.Set(key, out)
}

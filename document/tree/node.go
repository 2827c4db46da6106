// Package tree represents documents as values: ordered maps, lists and scalars, each
// with its position. It writes them as YAML and JSON deterministically; package parser
// reads both.
//
// A decoded Node may be shared by several documents (anchors, parts of a schema that are
// passed through). Treat nodes you did not make as read-only, and Clone before you
// change one.
package tree

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a Node.
type Kind uint8

// The kinds of Node. Int and Float differ only in their text: a float without a fraction
// is decoded as Int, because no JSON parser can distinguish them and a cluster would not
// keep the difference.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String returns the name of the kind in JSON Schema.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}[k]
}

// Pos is a position in a file, counted from 1. The zero Pos means unknown. It is small
// because every value has one.
type Pos struct {
	Line, Column int32
}

// Field is one entry of a Map.
type Field struct {
	Key   string
	Value *Node
	Pos   Pos
}

// Node is one value. All methods that read accept a nil Node, which means "absent".
type Node struct {
	Kind Kind
	// Plain marks a scalar that was written without quotes.
	Plain bool
	// Text is the canonical text of a scalar: "true", "12", "0.5", or the string.
	Text   string
	Fields []Field
	Items  []*Node
	Pos    Pos
}

// F makes a field.
func F(key string, value *Node) Field { return Field{Key: key, Value: value} }

// Obj makes a map of the fields whose value is not nil.
func Obj(fields ...Field) *Node {
	n := roomFor(len(fields))
	for i := range fields {
		if fields[i].Value != nil {
			n.Fields = append(n.Fields, fields[i])
		}
	}
	return n
}

// roomFor returns an empty map with room for n fields, in one allocation if n is small.
func roomFor(n int) *Node {
	const few = 4
	if n > few {
		return &Node{Kind: Map, Fields: make([]Field, 0, n)}
	}
	var whole struct {
		node   Node
		fields [few]Field
	}
	p := &whole
	p.node = Node{Kind: Map, Fields: p.fields[:0:few]}
	return &p.node
}

// Arr makes a list.
func Arr(items ...*Node) *Node { return &Node{Kind: List, Items: items} }

// Str makes a string.
func Str(s string) *Node { return &Node{Kind: String, Text: s} }

// OptStr makes a string, or nil (absent) for the empty string.
func OptStr(s string) *Node {
	if s == "" {
		return nil
	}
	return Str(s)
}

// Strs makes a list of strings, or nil (absent) for an empty list.
func Strs(ss []string) *Node {
	if len(ss) == 0 {
		return nil
	}
	n := &Node{Kind: List, Items: make([]*Node, len(ss))}
	nodes := make([]Node, len(ss))
	for i, s := range ss {
		nodes[i] = Node{Kind: String, Text: s}
		n.Items[i] = &nodes[i]
	}
	return n
}

// Number makes an integer.
func Number(i int64) *Node { return &Node{Kind: Int, Text: strconv.FormatInt(i, 10)} }

// Boolean makes a boolean.
func Boolean(b bool) *Node { return &Node{Kind: Bool, Text: strconv.FormatBool(b)} }

// Nil makes a null.
func Nil() *Node { return &Node{} }

// StrMap makes a map of strings sorted by key, or nil (absent) for an empty map.
func StrMap(m map[string]string) *Node {
	if len(m) == 0 {
		return nil
	}
	n := &Node{Kind: Map, Fields: make([]Field, 0, len(m))}
	for k, v := range m {
		n.Fields = append(n.Fields, F(k, Str(v)))
	}
	n.SortKeys()
	return n
}

// IsMap reports whether n is a map.
func (n *Node) IsMap() bool { return n != nil && n.Kind == Map }

// IsList reports whether n is a list.
func (n *Node) IsList() bool { return n != nil && n.Kind == List }

// IsString reports whether n is a string.
func (n *Node) IsString() bool { return n != nil && n.Kind == String }

// IsTrue reports whether n is the boolean true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// IsNull reports whether n is absent or null.
func (n *Node) IsNull() bool { return n == nil || n.Kind == Null }

// Len counts the entries of a map or list.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return len(n.Fields) + len(n.Items)
}

// Str returns the text of a string, or "" for anything else.
func (n *Node) Str() string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Scalar returns the text of any scalar, or "" for anything else.
func (n *Node) Scalar() string {
	if n == nil || n.Kind == List || n.Kind == Map {
		return ""
	}
	return n.Text
}

// At returns the position of n; the zero Pos if n is absent.
func (n *Node) At() Pos {
	if n == nil {
		return Pos{}
	}
	return n.Pos
}

// Field returns the entry named key, or nil.
func (n *Node) Field(key string) *Field {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// Has reports whether n is a map with an entry named key, even if its value is null.
func (n *Node) Has(key string) bool { return n.Field(key) != nil }

// Get follows keys through nested maps and returns the value, or nil.
func (n *Node) Get(keys ...string) *Node {
	for _, k := range keys {
		f := n.Field(k)
		if f == nil {
			return nil
		}
		n = f.Value
	}
	return n
}

// List returns the items of a list, or nil for anything else.
func (n *Node) List() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Strings returns the strings in a list and skips other items.
func (n *Node) Strings() []string {
	var out []string
	for _, it := range n.List() {
		if it.IsString() {
			out = append(out, it.Text)
		}
	}
	return out
}

// StringMap returns the entries of a map whose value is a string.
func (n *Node) StringMap() map[string]string {
	if n == nil || len(n.Fields) == 0 {
		return nil
	}
	out := make(map[string]string, len(n.Fields))
	for _, f := range n.Fields {
		if f.Value.IsString() {
			out[f.Key] = f.Value.Text
		}
	}
	return out
}

// Set sets the value of key, in place if the key exists, else at the end. A nil value
// removes the key.
func (n *Node) Set(key string, value *Node) {
	if value == nil {
		n.Delete(key)
		return
	}
	if f := n.Field(key); f != nil {
		f.Value = value
		return
	}
	n.Kind = Map
	n.Fields = append(n.Fields, F(key, value))
}

// Delete removes key.
func (n *Node) Delete(key string) {
	n.Fields = slices.DeleteFunc(n.Fields, func(f Field) bool { return f.Key == key })
}

// SortKeys sorts the entries of this map by key, but not those of nested maps.
func (n *Node) SortKeys() {
	if !keysSorted(n.Fields) {
		slices.SortFunc(n.Fields, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	}
}

// Clone returns a deep copy of n.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	if n.Fields != nil {
		c.Fields = make([]Field, len(n.Fields))
		for i, f := range n.Fields {
			c.Fields[i] = Field{Key: f.Key, Value: f.Value.Clone(), Pos: f.Pos}
		}
	}
	if n.Items != nil {
		c.Items = make([]*Node, len(n.Items))
		for i, it := range n.Items {
			c.Items[i] = it.Clone()
		}
	}
	return &c
}

// Equal reports whether n and o are the same JSON value: positions and the order of keys
// are ignored. It makes nodes comparable with go-cmp.
func (n *Node) Equal(o *Node) bool {
	if n == nil || o == nil {
		return n == o
	}
	if n.Kind != o.Kind || n.Text != o.Text || len(n.Fields) != len(o.Fields) || len(n.Items) != len(o.Items) {
		return false
	}
	if !equalFields(n, o) {
		return false
	}
	for i, it := range n.Items {
		if !it.Equal(o.Items[i]) {
			return false
		}
	}
	return true
}

// equalFields compares the entries of two maps of the same length.
func equalFields(n, o *Node) bool {
	var other Index
	for i, f := range n.Fields {
		// Usually both sides have the same order.
		j := i
		if o.Fields[i].Key != f.Key {
			j = other.Find(o, f.Key)
		}
		if j < 0 || !f.Value.Equal(o.Fields[j].Value) {
			return false
		}
	}
	return true
}

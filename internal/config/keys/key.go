package keys

import (
	"example.dev/ingestor/document/tree"
)

// Key is a key of the configuration.
type Key struct {
	// Path is the key in the contract's vocabulary; entries of a list are "[]".
	Path string
	// Type is the type of the value, Default the default; empty is none.
	Type, Default string
	// Least and Most are the bounds of a number; nil for anything else.
	Least, Most *int64
}

// TypeIdle is the type of keys that are accepted and not read.
const TypeIdle = "any; not used"

// TypeRatio is the type of numbers from 0 to 1.
const TypeRatio = "number from 0 to 1"

// Keys returns the keys that were described, in the order in which they are read, and
// the required keys of maps by the path of the map.
func (m *Map) Keys() (all []Key, required map[string][]string) { return m.keys, m.required }

// Note adds a key to the list of keys; def is its default, or nil.
func (m *Map) Note(key, kind string, def *tree.Node) {
	if !m.describing {
		return
	}
	k := Key{Path: Join(m.doc, key), Type: kind}
	if def != nil {
		k.Default = string(tree.AppendJSON(nil, def, ""))
		if def.Kind == tree.String {
			k.Default = def.Text
		}
	}
	m.keys = append(m.keys, k)
}

// bounds records the bounds of the last key.
func (m *Map) bounds(least, most int64) {
	if m.describing {
		k := &m.keys[len(m.keys)-1]
		k.Least, k.Most = &least, &most
	}
}

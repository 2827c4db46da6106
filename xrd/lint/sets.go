package lint

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// few is the number of names up to which a linear search is faster than an index.
const few = 16

// keys looks up the entries of a map, or the strings of a list, by name.
type keys struct {
	n     *tree.Node
	index map[string]*tree.Node
}

// keysOf prepares lookups in the map n. The index of a large map is cached, because many
// branches may use it.
func (l *linter) keysOf(n *tree.Node) keys {
	k := keys{n: n}
	if !n.IsMap() || len(n.Fields) <= few {
		return k
	}
	if index, ok := l.indexes[n]; ok {
		k.index = index
		return k
	}
	k.index = make(map[string]*tree.Node, len(n.Fields))
	for i := range n.Fields {
		k.index[n.Fields[i].Key] = n.Fields[i].Value
	}
	if l.indexes == nil {
		l.indexes = map[*tree.Node]map[string]*tree.Node{}
	}
	l.indexes[n] = k.index
	return k
}

// itemsOf prepares lookups of the strings in the list n.
func itemsOf(n *tree.Node) keys {
	if n == nil {
		n = &tree.Node{}
	}
	k := keys{n: n}
	if n.IsList() && len(n.Items) > few {
		k.index = make(map[string]*tree.Node, len(n.Items))
		for _, it := range n.Items {
			if it.IsString() {
				k.index[it.Text] = it
			}
		}
	}
	return k
}

// get returns the value of key, or nil.
func (k keys) get(key string) *tree.Node {
	if k.index != nil {
		return k.index[key]
	}
	if k.n.IsMap() {
		return k.n.Get(key)
	}
	for _, it := range k.n.List() {
		if it.IsString() && it.Text == key {
			return it
		}
	}
	return nil
}

func (k keys) has(key string) bool { return k.get(key) != nil }

// seen detects duplicates.
type seen struct {
	first [few]string
	count int
	index map[string]struct{}
}

// add adds text and reports whether it was added before.
func (s *seen) add(text string) bool {
	for _, t := range s.first[:min(s.count, few)] {
		if t == text {
			return true
		}
	}
	if s.count < few {
		s.first[s.count] = text
		s.count++
		return false
	}
	if _, ok := s.index[text]; ok {
		return true
	}
	if s.index == nil {
		s.index = map[string]struct{}{}
	}
	s.index[text] = struct{}{}
	return false
}

// fieldsText returns a path of values as text.
func fieldsText(path []step) string {
	var b strings.Builder
	for _, s := range path {
		if s.key == "[]" {
			b.WriteString("[]")
			continue
		}
		writeKey(&b, s.key)
	}
	return b.String()
}

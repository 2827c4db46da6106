package tree

// Index finds keys in a map: by linear search in small maps, by an index in large ones.
type Index struct{ index map[string]int }

// Find returns the index of the field named key in n, or -1. The fields of n may grow
// between calls, but must not change otherwise.
func (s *Index) Find(n *Node, key string) int {
	const few = 16
	if len(n.Fields) < few {
		for i := range n.Fields {
			if n.Fields[i].Key == key {
				return i
			}
		}
		return -1
	}
	if s.index == nil {
		s.index = make(map[string]int, len(n.Fields))
	}
	for i := len(s.index); i < len(n.Fields); i++ {
		s.index[n.Fields[i].Key] = i
	}
	if i, ok := s.index[key]; ok {
		return i
	}
	return -1
}

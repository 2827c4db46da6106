package tree

// Sorted returns n with the keys of every map sorted: n itself if they already are, else
// a copy. A cluster does not keep the order of keys, so output that is passed through
// from a document must not depend on it.
func (n *Node) Sorted() *Node {
	if sortedDeep(n) {
		return n
	}
	c := *n
	if n.Fields != nil {
		c.Fields = append([]Field(nil), n.Fields...)
		for i := range c.Fields {
			c.Fields[i].Value = c.Fields[i].Value.Sorted()
		}
		c.SortKeys()
	}
	if n.Items != nil {
		c.Items = make([]*Node, len(n.Items))
		for i, it := range n.Items {
			c.Items[i] = it.Sorted()
		}
	}
	return &c
}

func sortedDeep(n *Node) bool {
	if n == nil || n.Kind != Map && n.Kind != List {
		return true
	}
	if !keysSorted(n.Fields) {
		return false
	}
	for i := range n.Fields {
		if !sortedDeep(n.Fields[i].Value) {
			return false
		}
	}
	for _, it := range n.Items {
		if !sortedDeep(it) {
			return false
		}
	}
	return true
}

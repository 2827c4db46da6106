package tree

// Maker makes nodes and fields out of few large pieces of memory: a document
// or a form has hundreds of them, and they live and die together. The zero
// Maker is ready for use, by one goroutine at a time.
type Maker struct {
	// What is left of the pieces in use.
	nodes  []Node
	fields []Field
	// The pieces Reserve made, whole, to be used again after Reset.
	allNodes  []Node
	allFields []Field
}

// NewMaker returns a Maker with room for so many nodes and fields. More than
// that costs more pieces.
func NewMaker(nodes, fields int) Maker {
	return Maker{nodes: make([]Node, nodes), fields: make([]Field, fields)}
}

// Reserve makes room for so many nodes and fields, in the memory of an earlier
// use if that is large enough.
func (m *Maker) Reserve(nodes, fields int) {
	if len(m.allNodes) < nodes {
		m.allNodes = make([]Node, nodes)
	}
	if len(m.allFields) < fields {
		m.allFields = make([]Field, fields)
	}
	m.nodes, m.fields = m.allNodes, m.allFields
}

// Reset takes back everything made since Reserve. Whoever calls it must know
// that nothing of it is in use any more.
func (m *Maker) Reset() {
	clear(m.allNodes)
	clear(m.allFields)
	m.nodes, m.fields = nil, nil
}

// piece is how many nodes or fields are made room for at once when the room
// was not enough.
const piece = 32

// Node returns a new node.
func (m *Maker) Node() *Node {
	if len(m.nodes) == 0 {
		m.nodes = make([]Node, piece)
	}
	n := &m.nodes[0]
	m.nodes = m.nodes[1:]
	return n
}

// Str returns a new string.
func (m *Maker) Str(s string) *Node {
	n := m.Node()
	n.Kind, n.Text = String, s
	return n
}

// Map returns a new map with room for n fields. Adding more is safe, and costs
// an allocation.
func (m *Maker) Map(n int) *Node {
	if n > len(m.fields) {
		m.fields = make([]Field, max(n, piece))
	}
	node := m.Node()
	node.Kind, node.Fields = Map, m.fields[:0:n]
	m.fields = m.fields[n:]
	return node
}

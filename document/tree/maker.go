package tree

// Maker allocates nodes and fields in large chunks: a document or a form has hundreds of
// them, with the same lifetime. The zero Maker is ready to use. It is not safe for
// concurrent use.
type Maker struct {
	// The unused rest of the current chunks.
	nodes  []Node
	fields []Field
	// The chunks that Reserve allocated, for reuse after Reset.
	allNodes  []Node
	allFields []Field
}

// NewMaker returns a Maker with room for the given numbers of nodes and fields. More
// than that causes further allocations.
func NewMaker(nodes, fields int) Maker {
	return Maker{nodes: make([]Node, nodes), fields: make([]Field, fields)}
}

// Reserve makes room for the given numbers of nodes and fields, reusing earlier memory
// if it is large enough.
func (m *Maker) Reserve(nodes, fields int) {
	if len(m.allNodes) < nodes {
		m.allNodes = make([]Node, nodes)
	}
	if len(m.allFields) < fields {
		m.allFields = make([]Field, fields)
	}
	m.nodes, m.fields = m.allNodes, m.allFields
}

// Reset frees everything made since Reserve. The caller must ensure that nothing of it
// is still in use.
func (m *Maker) Reset() {
	clear(m.allNodes)
	clear(m.allFields)
	m.nodes, m.fields = nil, nil
}

// piece is the number of nodes or fields per chunk once the reserved room is used up.
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

// Map returns a new map with room for n fields. Adding more is safe, and costs an
// allocation.
func (m *Maker) Map(n int) *Node {
	if n > len(m.fields) {
		m.fields = make([]Field, max(n, piece))
	}
	node := m.Node()
	node.Kind, node.Fields = Map, m.fields[:0:n]
	m.fields = m.fields[n:]
	return node
}

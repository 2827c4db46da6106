package plain

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// memory is what the tree is made from. Its parts are allocated in pieces, because they
// are used for the same time.
type memory struct {
	// nodes and fields are the unused rest of the current pieces.
	nodes  []tree.Node
	fields []tree.Field
	texts  strings.Builder
	// recent are short texts that were made recently, to be used again: a schema consists of
	// few words.
	recent [256]string
}

const (
	// fewest and most are the numbers of nodes or fields in a piece.
	fewest = 4
	most   = 64
	// short is the maximum length of texts that share a piece, and textPiece its size. Each
	// of the texts keeps the whole piece.
	short     = 64
	textPiece = 512
)

// room returns the number of nodes or fields in the next piece: about one for each of the
// lines that are left, so that little of the last piece remains unused.
func (r *reader) room() int { return min(max(r.last-r.line+1, fewest), most) }

// node returns a new node.
func (r *reader) node() *tree.Node {
	m := &r.memory
	if len(m.nodes) == 0 {
		m.nodes = make([]tree.Node, r.room())
	}
	n := &m.nodes[0]
	m.nodes = m.nodes[1:]
	return n
}

// str returns a new string.
func (r *reader) str(s string) *tree.Node {
	n := r.node()
	n.Kind, n.Text = tree.String, s
	return n
}

// emptyMap returns a new map with room for n fields.
func (r *reader) emptyMap(n int) *tree.Node {
	m := &r.memory
	if n > len(m.fields) || m.fields == nil {
		m.fields = make([]tree.Field, max(n, r.room()))
	}
	node := r.node()
	node.Kind, node.Fields = tree.Map, m.fields[:0:n]
	m.fields = m.fields[n:]
	return node
}

// text returns text as a string.
func (r *reader) text(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if len(text) > short {
		return string(text)
	}
	m := &r.memory
	// The middle differs where the ends are the same, as in name1Field and name2Field.
	slot := &m.recent[uint8(len(text))*31+text[0]*7+text[len(text)/2]*13+text[len(text)-1]]
	if *slot == string(text) {
		return *slot
	}
	if m.texts.Cap()-m.texts.Len() < len(text) {
		m.texts = strings.Builder{}
		// About half of the rest are texts that are not in use already.
		m.texts.Grow(max(len(text), min(textPiece, (len(r.doc)-r.i)/2)))
	}
	from := m.texts.Len()
	m.texts.Write(text)
	*slot = m.texts.String()[from:]
	return *slot
}

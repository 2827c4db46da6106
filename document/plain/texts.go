package plain

import "strings"

// texts makes strings. Short ones share memory, and one that was made recently is
// returned again: a schema consists of few words.
type texts struct {
	recent [256]string
	piece  strings.Builder
}

const (
	// short is the maximum length of strings that share memory.
	short = 64
	// piece is the size of the memory that they share. It is small because each of them
	// keeps it all alive.
	piece = 512
)

// of returns text as a string.
func (t *texts) of(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if len(text) > short {
		return string(text)
	}
	// The middle differs where the ends are the same, as in name1Field and name2Field.
	slot := &t.recent[uint8(len(text))*31+text[0]*7+text[len(text)/2]*13+text[len(text)-1]]
	if *slot == string(text) {
		return *slot
	}
	if t.piece.Cap()-t.piece.Len() < len(text) {
		t.piece = strings.Builder{}
		t.piece.Grow(piece)
	}
	from := t.piece.Len()
	t.piece.Write(text)
	*slot = t.piece.String()[from:]
	return *slot
}

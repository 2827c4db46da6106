// Package plain reads the part of YAML that manifests are mostly written in: block maps
// and lists, scalars of every style, flow collections, and comments. It is several times
// as fast as a complete parser, and returns the same tree with the same positions.
//
// It knows no errors. A document with anything else, such as an anchor, a tag, a tab
// between values, a duplicate key or a mistake, is refused as a whole, for a complete
// parser to read.
package plain

import (
	"bytes"
	"math"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

// Resolve sets the kind and the text of n, an unquoted scalar that may be a number, a
// time or a boolean in one of the less common notations of YAML. It returns false if the
// document must be refused.
type Resolve func(n *tree.Node) bool

// deepest is the nesting depth beyond which a document is refused in any case.
const deepest = 1000

// Read returns the tree of a document that begins on a line, or nil if the document is
// refused: it has more than plain YAML, more than depth levels of maps and lists, or a
// scalar as its root. The tree shares no memory with doc.
func Read(doc []byte, line, depth int, resolve Resolve) *tree.Node {
	if line < 1 || line > math.MaxInt32-len(doc) {
		return nil
	}
	r := reader{doc: doc, resolve: resolve, depth: min(depth, deepest), line: line}
	if r.land(0); r.col < 0 {
		return nil
	}
	marker := -1
	if r.col == 0 && bytes.HasPrefix(doc[r.i:], []byte("---")) {
		marker = r.i
		if r.i += 3; !r.endLine() {
			return nil
		}
	}
	if r.col < 0 || !r.scan(marker) {
		return nil
	}
	if !r.isDash() && r.keyEnd() < 0 {
		return nil
	}
	r.last = r.lines + line
	r.fields, r.items = make([]tree.Field, 0, r.room()), make([]*tree.Node, 0, r.room())
	n := r.block(-1, 1)
	if r.col >= 0 {
		return nil
	}
	return n
}

// reader reads one document. Its functions return nil, false or -1 to refuse it.
type reader struct {
	doc     []byte
	resolve Resolve
	depth   int
	// i is the offset of the next character, line is its line, and start the offset at
	// which that line begins.
	i, line, start int
	// col is the column, from 0, of the next value or key in block style; -1 after the last.
	col int
	// wide is true if the document is not all ASCII, so that columns are not bytes.
	wide bool
	// counted is an offset in the line that begins at countedFrom, and characters the number
	// of characters before it. They are only used if wide is true.
	counted, countedFrom, characters int
	// lines is the number of lines, and last the number of the last one.
	lines, last int

	// fields and items are those of the maps and lists that are being read.
	fields []tree.Field
	items  []*tree.Node
	buf    []byte
	memory memory
}

// The classes of characters that scan distinguishes. All others are fine anywhere.
const (
	lineFeed  = iota + 1
	nonASCII  // part of a longer character
	forbidden // refused anywhere: control characters and carriage returns
)

var classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == '\n':
			t[c] = lineFeed
		case c >= utf8.RuneSelf:
			t[c] = nonASCII
		case c < ' ' && c != '\t', c == 0x7f:
			t[c] = forbidden
		}
	}
	return t
}()

// scan looks at every character. It returns false if there is one that YAML does not
// allow or that has a special meaning anywhere, or a line that begins like a marker or a
// directive, except for the marker at an offset.
func (r *reader) scan(marker int) bool {
	doc := r.doc
	for i := 0; i < len(doc); i++ {
		switch classes[doc[i]] {
		case 0:
		case lineFeed:
			r.lines++
			if !beginsLine(doc[i+1:], i+1 == marker) {
				return false
			}
		case nonASCII:
			c, size := utf8.DecodeRune(doc[i:])
			if !isOrdinary(c, size) {
				return false
			}
			r.wide = true
			i += size - 1
		default:
			return false
		}
	}
	return marker == 0 || beginsLine(doc, false)
}

// beginsLine reports whether a line may begin with text.
func beginsLine(text []byte, marker bool) bool {
	if len(text) == 0 || marker {
		return true
	}
	switch text[0] {
	case '%':
		return false
	case '-', '.':
		return len(text) < 3 || text[1] != text[0] || text[2] != text[0]
	}
	return true
}

// isOrdinary reports whether a character beyond ASCII is allowed in YAML, and neither a
// line break nor a byte order mark.
func isOrdinary(c rune, size int) bool {
	switch {
	case c == utf8.RuneError && size == 1, c < 0xA0:
		return false
	case c == 0x2028, c == 0x2029, c == 0xFEFF, c == 0xFFFE, c == 0xFFFF:
		return false
	}
	return true
}

// at returns the character at an offset; zero at the end.
func (r *reader) at(i int) byte {
	if i < len(r.doc) {
		return r.doc[i]
	}
	return 0
}

// pos returns the position of an offset in the current line.
func (r *reader) pos(i int) tree.Pos {
	column := i - r.start
	if r.wide {
		column = r.charactersBefore(i)
	}
	return tree.Pos{Line: int32(r.line), Column: int32(column + 1)}
}

// charactersBefore counts the characters of the current line before an offset. A line may
// have very many values, so it continues from the offset before.
func (r *reader) charactersBefore(i int) int {
	if r.countedFrom != r.start || r.counted > i || r.counted < r.start {
		r.counted, r.countedFrom, r.characters = r.start, r.start, 0
	}
	r.characters += utf8.RuneCount(r.doc[r.counted:i])
	r.counted = i
	return r.characters
}

// land moves to the first value or key at or after offset i, the beginning of a line.
func (r *reader) land(i int) {
	for {
		r.start = i
		for r.at(i) == ' ' {
			i++
		}
		if r.at(i) == '#' {
			i = r.lineEnd(i)
		}
		if i >= len(r.doc) {
			r.i, r.col = i, -1
			return
		}
		if r.doc[i] != '\n' {
			r.i, r.col = i, i-r.start
			return
		}
		i++
		r.line++
	}
}

// lineEnd returns the offset of the next line feed, or of the end.
func (r *reader) lineEnd(i int) int {
	if n := bytes.IndexByte(r.doc[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(r.doc)
}

// endLine passes spaces and a comment, and moves to the first value or key of the lines
// below. It returns false if there is something else on this line.
func (r *reader) endLine() bool {
	i := r.i
	for r.at(i) == ' ' {
		i++
	}
	if i > r.i && r.at(i) == '#' {
		i = r.lineEnd(i)
	}
	r.below(i)
	return i >= len(r.doc) || r.doc[i] == '\n'
}

// below moves to the first value or key of the lines below, from the end of a line.
func (r *reader) below(i int) {
	if i >= len(r.doc) {
		r.i, r.col = i, -1
		return
	}
	r.line++
	r.land(i + 1)
}

// isBlank reports whether c is white space, or the end.
func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == 0 }

// isDash reports whether the next character begins an item in block style.
func (r *reader) isDash() bool { return r.at(r.i) == '-' && isBlank(r.at(r.i+1)) }

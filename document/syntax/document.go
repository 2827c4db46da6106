// Package syntax parses the text of a single document, YAML or JSON, into a tree with
// positions. Package parser uses it for each document of a stream.
package syntax

import (
	"bytes"
	"fmt"
	"math"

	"example.dev/ingestor/document/tree"
)

// Error describes why a document cannot be read: where, why, and how to fix it.
type Error struct {
	Pos  tree.Pos
	Msg  string
	Hint string
	// Kept is true if the document was read anyway: of a duplicate key, the last value
	// counts, as in a cluster.
	Kept bool
}

// Error returns the message with its position.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Column, e.Msg)
}

// Limits limit what is accepted in a document.
type Limits struct {
	// Depth is the maximum nesting depth of maps and lists.
	Depth int
	// Aliased is how many values aliases may add; a long text counts as several.
	Aliased int
	// Values is the maximum number of values.
	Values int
	// More is called for each further value of a text that has several, with its line. If
	// it returns false, the rest is not read. Nil reads them all.
	More func(line int) bool
}

func (l Limits) more(line int) bool { return l.More == nil || l.More(line) }

// Document parses a document that begins on a line, and calls yield for each value
// in it and for its error. It returns false once yield does. It may change doc.
func Document(doc []byte, line int, limits Limits, yield func(*tree.Node, *Error) bool) bool {
	text := bytes.TrimLeft(doc, " \t\r\n")
	if len(text) == 0 || isEmpty(doc) {
		return true
	}
	allowVersion(doc)
	if IsMarker(text, "---") {
		// JSON stays JSON after a marker, and YAML does not change without it.
		if rest := bytes.TrimLeft(text[3:], " \t\r\n"); len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
			copy(text, "   ")
			text = rest
		}
	}
	if text[0] != '{' && text[0] != '[' {
		nodes, err := YAML(doc, line, limits)
		return YieldAll(nodes, err, yield)
	}
	// A limit or a duplicate key is final. Any other error may be due to YAML flow style,
	// which only looks like JSON.
	values, bad, verdict := JSON(doc, line, 1, limits)
	if bad == nil || verdict {
		return YieldAll(values, bad, yield)
	}
	nodes, err := YAML(doc, line, limits)
	if err != nil && meantAsJSON(text) {
		return YieldAll(values, bad, yield)
	}
	return YieldAll(nodes, err, yield)
}

// YieldAll yields the nodes that are not null, then the error if there is one.
func YieldAll(nodes []*tree.Node, err *Error, yield func(*tree.Node, *Error) bool) bool {
	for _, n := range nodes {
		if n.Kind != tree.Null && !yield(n, nil) {
			return false
		}
	}
	return err == nil || yield(nil, err)
}

// meantAsJSON reports whether text, which begins with a bracket, was meant as JSON: the
// bracket is followed by a quote, or by an object in a list.
func meantAsJSON(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return true
	}
	return rest[0] == '"' || text[0] == '[' && rest[0] == '{'
}

// isEmpty reports whether doc contains nothing but a marker, comments, blank lines and
// perhaps a null, so that it need not be parsed. It may return false for a document
// without content.
func isEmpty(doc []byte) bool {
	null := false
	for line := range bytes.Lines(doc) {
		if IsMarker(line, "---") {
			line = line[3:]
		}
		switch line = bytes.Trim(line, " \r\n"); {
		case len(line) == 0:
		case line[0] == '#' && isOneLine(line):
		case !null && (string(line) == "~" || string(line) == "null"):
			null = true
		default:
			return false
		}
	}
	return true
}

// isOneLine reports whether text contains no line break. YAML has more line breaks than
// a line feed, some of them beyond ASCII.
func isOneLine(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// allowVersion hides a directive for YAML 1.2, or any 1.x, from the parser, which can
// read them all but accepts only 1.1.
func allowVersion(doc []byte) {
	for line := range bytes.Lines(doc) {
		if bytes.HasPrefix(line, []byte("%YAML 1.")) {
			line[0] = '#'
		}
		if c := bytes.TrimLeft(line, " \t\r\n"); len(c) > 0 && c[0] != '#' && c[0] != '%' {
			return
		}
	}
}

// IsMarker reports whether line is the document marker, alone or followed by white
// space. YAML does not allow it anywhere else at the start of a line, not even inside
// quotes.
func IsMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	rest := line[len(marker):]
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r'
}

// Place returns a Pos. Lines and columns are clamped to the range of int32.
func Place(line, column int) tree.Pos {
	return tree.Pos{Line: int32(min(line, math.MaxInt32)), Column: int32(min(column, math.MaxInt32))}
}

// Size returns a number of bytes for messages.
func Size(bytes int) string {
	if bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

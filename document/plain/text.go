package plain

import "example.dev/ingestor/document/tree"

// blockScalar reads a block scalar, literal or folded, in a map or list at column parent.
func (r *reader) blockScalar(parent int) *tree.Node {
	pos, t := r.pos(r.i), blockText{folded: r.doc[r.i] == '>', buf: r.buf[:0]}
	i := r.i + 1
	if c := r.at(i); c == '-' || c == '+' {
		t.chomp = c
		i++
	}
	for r.at(i) == ' ' {
		i++
	}
	if r.at(i) != '\n' {
		return nil
	}
	i, ok := r.findIndent(&t, i+1, parent)
	if !ok || !r.readLines(&t, i) {
		return nil
	}
	r.buf = t.buf
	n := r.str(r.text(t.buf))
	n.Pos = pos
	return n
}

// blockText is a block scalar that is being read.
type blockText struct {
	folded bool
	// chomp is the sign after the indicator, or zero.
	chomp byte
	// indent is the column at which the text begins.
	indent int
	// blanks is the number of blank lines since the last line with text.
	blanks int
	buf    []byte
}

// findIndent finds the first line with text, and returns the offset at which it begins.
func (r *reader) findIndent(t *blockText, i, parent int) (int, bool) {
	for widest := 0; ; t.blanks++ {
		start := i
		for r.at(i) == ' ' {
			i++
		}
		t.indent = i - start
		switch c := r.at(i); {
		case c == '\n':
			widest = max(widest, t.indent)
			i++
		case c == 0, c == '\t', t.indent <= parent, t.indent < widest:
			return 0, false
		default:
			return start, true
		}
	}
}

// readLines reads the lines of the text from offset i, and moves to the first value or
// key below.
func (r *reader) readLines(t *blockText, i int) bool {
	r.line += 1 + t.blanks
	// last is the line with text that was read last, and lastEnd the offset of its end;
	// spaced is true if it begins with white space, and broken if a line feed ends it.
	last, lastEnd := r.line, i
	spaced, broken := false, false
	for line := r.line; ; line++ {
		from := i
		for i-from < t.indent && r.at(i) == ' ' {
			i++
		}
		c := r.at(i)
		if c == '\n' {
			t.blanks++
			i++
			continue
		}
		if i-from < t.indent || c == 0 {
			if c == '\t' {
				return false
			}
			break
		}
		begins := c == ' ' || c == '\t'
		if broken {
			t.join(spaced || begins)
		}
		t.appendBlanks()
		last, lastEnd, spaced = line, r.lineEnd(i), begins
		t.buf = append(t.buf, r.doc[i:lastEnd]...)
		if broken = lastEnd < len(r.doc); !broken {
			break
		}
		i = lastEnd + 1
	}
	if broken && t.chomp != '-' {
		t.buf = append(t.buf, '\n')
	}
	if t.chomp == '+' {
		t.appendBlanks()
	}
	r.line = last
	r.below(lastEnd)
	return true
}

// join appends what the end of a line with text means. It is kept in a literal text, and
// beside lines that begin with white space.
func (t *blockText) join(keep bool) {
	switch {
	case !t.folded || keep:
		t.buf = append(t.buf, '\n')
	case t.blanks == 0:
		t.buf = append(t.buf, ' ')
	}
}

// appendBlanks appends the blank lines.
func (t *blockText) appendBlanks() {
	for range t.blanks {
		t.buf = append(t.buf, '\n')
	}
	t.blanks = 0
}

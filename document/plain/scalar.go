package plain

import "example.dev/ingestor/document/tree"

// longestKey is the maximum length of a key in bytes. It is below the limit up to which
// YAML parsers look for a key's colon.
const longestKey = 1000

// ends marks the characters that may end a scalar without quotes in block style.
var ends = [256]bool{':': true, ' ': true, '\t': true, '\n': true, 0: true}

// mayBegin reports whether an unquoted scalar may begin with c, followed by next.
func mayBegin(c, next byte) bool {
	switch c {
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ', '\t', '\n', 0:
		return false
	case '-':
		return !isBlank(next)
	}
	return true
}

// unquotedEnd returns the end of the unquoted text at offset i, and what ends it: a colon,
// a line feed (also for a comment or the end of the document), or a tab.
func (r *reader) unquotedEnd(i int) (end int, by byte) {
	for {
		c := r.at(i)
		if !ends[c] {
			i++
			continue
		}
		switch c {
		case '\t':
			return i, c
		case ':':
			if isBlank(r.at(i + 1)) {
				return i, c
			}
			i++
		case ' ':
			from := i
			for r.at(i) == ' ' {
				i++
			}
			if c := r.at(i); c == '\n' || c == '#' || c == 0 {
				return from, '\n'
			}
		default:
			return i, '\n'
		}
	}
}

// keyEnd returns the offset of the colon of the key that begins at the next character, or
// -1 if that is not a key.
func (r *reader) keyEnd() int {
	c, end := r.at(r.i), -1
	switch {
	case c == '"' || c == '\'':
		if end = r.quoteEnd(r.i+1, c) + 1; end == 0 || r.at(end) != ':' || !isBlank(r.at(end+1)) {
			return -1
		}
	case mayBegin(c, r.at(r.i+1)):
		var by byte
		if end, by = r.unquotedEnd(r.i); by != ':' || r.doc[end-1] == ' ' {
			return -1
		}
	}
	if end-r.i > longestKey {
		return -1
	}
	return end
}

// keyText returns the text of the key that ends at a colon.
func (r *reader) keyText(colon int) (string, bool) {
	if c := r.doc[r.i]; c == '"' || c == '\'' {
		return r.quoted()
	}
	text := r.doc[r.i:colon]
	// << is not a key, but a merge.
	return r.text(text), string(text) != "<<"
}

// quoteEnd returns the offset of the quote that closes the text at offset i on the same
// line, or -1.
func (r *reader) quoteEnd(i int, quote byte) int {
	for {
		switch c := r.at(i); {
		case c == '\n' || c == '\t' || c == 0:
			return -1
		case c == '\\' && quote == '"':
			i++
			if r.at(i) == '\n' || r.at(i) == 0 {
				return -1
			}
		case c == quote:
			if quote == '"' || r.at(i+1) != quote {
				return i
			}
			i++
		}
		i++
	}
}

// unquoted reads an unquoted scalar in block style, within a map or list at column parent.
func (r *reader) unquoted(parent int) *tree.Node {
	if !mayBegin(r.at(r.i), r.at(r.i+1)) {
		return nil
	}
	pos := r.pos(r.i)
	end, by := r.unquotedEnd(r.i)
	if by != '\n' {
		return nil
	}
	text, line, start := r.doc[r.i:end], r.line, r.start
	if r.below(r.lineEnd(end)); r.col > parent {
		// The text continues, unless it ended with a comment.
		r.i, r.line, r.start = end, line, start
		var ok bool
		if text, ok = r.continued(text, parent); !ok {
			return nil
		}
	}
	return r.typed(text, pos)
}

// continued returns the whole of an unquoted scalar whose first line is text.
func (r *reader) continued(text []byte, parent int) ([]byte, bool) {
	buf := append(r.buf[:0], text...)
	for {
		for r.at(r.i) == ' ' {
			r.i++
		}
		breaks := r.breaks()
		if breaks == 0 {
			// A comment, or the end.
			r.below(r.lineEnd(r.i))
			break
		}
		if c := r.at(r.i); c == 0 || c == '#' || r.i-r.start <= parent {
			r.land(r.start)
			break
		}
		buf = fold(buf, breaks)
		end, by := r.unquotedEnd(r.i)
		if by != '\n' {
			return nil, false
		}
		buf = append(buf, r.doc[r.i:end]...)
		r.i = end
	}
	r.buf = buf
	// Nothing that is indented may follow a comment.
	return buf, r.col <= parent
}

// breaks passes line feeds and the indents after them, and returns how many there were.
func (r *reader) breaks() (n int) {
	for r.at(r.i) == '\n' {
		n++
		r.i++
		r.line++
		r.start = r.i
		for r.at(r.i) == ' ' {
			r.i++
		}
	}
	return n
}

// fold appends what a number of line breaks within a scalar mean.
func fold(buf []byte, breaks int) []byte {
	if breaks == 1 {
		return append(buf, ' ')
	}
	for range breaks - 1 {
		buf = append(buf, '\n')
	}
	return buf
}

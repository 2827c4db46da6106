package plain

import (
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

// quotedNode reads a quoted scalar at a position.
func (r *reader) quotedNode(pos tree.Pos) *tree.Node {
	text, ok := r.quoted()
	if !ok {
		return nil
	}
	n := r.str(text)
	n.Pos = pos
	return n
}

// quoted reads a quoted text and its quotes.
func (r *reader) quoted() (string, bool) {
	quote, from := r.doc[r.i], r.i+1
	for i := from; ; i++ {
		switch c := r.at(i); {
		case c == quote && (quote == '"' || r.at(i+1) != quote):
			r.i = i + 1
			return r.text(r.doc[from:i]), true
		case c == quote, c == '\\' && quote == '"', c == '\n', c == '\t', c == 0:
			return r.escaped(quote)
		}
	}
}

// escapes are the characters after a backslash that stand for one other character.
var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', ' ': ' '}

// hexDigits are the characters after a backslash before the number of a character, with
// the length of the number.
var hexDigits = [256]int{'x': 2, 'u': 4}

// escape appends what a backslash and the text at the next character stand for.
func (r *reader) escape(buf []byte) ([]byte, bool) {
	c := r.at(r.i)
	if c == '\n' {
		// The text continues on the next line, without a space.
		for range r.breaks() - 1 {
			buf = append(buf, '\n')
		}
		return buf, true
	}
	r.i++
	if is := escapes[c]; is != 0 {
		return append(buf, is), true
	}
	digits := hexDigits[c]
	if digits == 0 || r.i+digits > len(r.doc) {
		return nil, false
	}
	var number rune
	for range digits {
		digit := strings.IndexByte("0123456789abcdef", r.doc[r.i]|0x20)
		if digit < 0 {
			return nil, false
		}
		number = number<<4 | rune(digit)
		r.i++
	}
	return utf8.AppendRune(buf, number), utf8.ValidRune(number)
}

// escaped reads a quoted text with escapes or several lines.
func (r *reader) escaped(quote byte) (string, bool) {
	buf := r.buf[:0]
	r.i++
	for {
		c := r.at(r.i)
		switch {
		case c == quote && quote == '\'' && r.at(r.i+1) == quote:
			buf = append(buf, quote)
			r.i += 2
		case c == quote:
			r.i++
			r.buf = buf
			return r.text(buf), true
		case c == '\\' && quote == '"':
			r.i++
			var ok bool
			if buf, ok = r.escape(buf); !ok {
				return "", false
			}
		case c == ' ':
			from := r.i
			for r.at(r.i) == ' ' {
				r.i++
			}
			// Spaces before a line break are dropped.
			if r.at(r.i) != '\n' {
				buf = append(buf, r.doc[from:r.i]...)
			}
		case c == '\n':
			buf = fold(buf, r.breaks())
		case c == '\t', c == 0:
			return "", false
		default:
			buf = append(buf, c)
			r.i++
		}
	}
}

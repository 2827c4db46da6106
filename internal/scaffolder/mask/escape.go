package mask

import (
	"bytes"
	"html"
	"strconv"
	"unicode/utf8"
)

// escapes are the ways to read a text in which bytes are written as %41, \u0041,
// \x41, \n, \", &#65;, &#x41; or &lt;, or as such an escape of an escape, to any
// depth. It is unknown where escaped text begins, so every position can also be read
// unescaped.
type escapes struct {
	s []byte
	// heads has, by position, the index plus 1 of the first escape there, 0 if there is
	// none.
	heads []int32
	all   []escape
}

// reset clears e and keeps its memory.
func (e *escapes) reset() {
	for i := range e.all {
		e.heads[e.all[i].from] = 0
	}
	e.s, e.heads, e.all = nil, e.heads[:0], e.all[:0]
}

// escape is an escape sequence between two positions with the bytes it means; next
// is, as in heads, another escape at the same position.
type escape struct {
	from, to, next int32
	text           [utf8.UTFMax]byte
	n              uint8
}

// mostEscapes is the maximum number of readings of one position, and fewEscapes the
// maximum if the text has many such positions: a text of backslashes can be read in
// any way.
const (
	mostEscapes = 24
	fewEscapes  = 4
)

// read finds the escapes of a text, and reports whether there are any.
func (e *escapes) read(s []byte) bool {
	if bytes.IndexByte(s, '%') < 0 && bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		return false
	}
	e.s = s
	// reset has cleared everything up to the capacity.
	if cap(e.heads) <= len(s) {
		e.heads = make([]int32, len(s)+1)
	}
	e.heads = e.heads[:len(s)+1]
	// An escape may consist of escapes that follow it.
	for p := len(s) - 1; p >= 0; p-- {
		if c := s[p]; isIntro[c] {
			e.expand(p, c, p+1)
		}
	}
	return len(e.all) > 0
}

// isIntro reports the bytes that an escape begins with.
var isIntro = [256]bool{'%': true, '\\': true, '&': true}

// add records an escape from p to a position.
func (e *escapes) add(p, to int, text ...byte) {
	one := escape{from: int32(p), to: int32(to), next: e.heads[p], n: uint8(len(text))}
	copy(one.text[:], text)
	n, most := 0, mostEscapes
	if len(e.all) > len(e.s)+1<<10 {
		most = fewEscapes
	}
	for i := e.heads[p]; i != 0; i = e.all[i-1].next {
		o := &e.all[i-1]
		if n++; o.to == one.to && o.n == one.n && o.text == one.text || n >= most {
			return
		}
	}
	e.all = append(e.all, one)
	e.heads[p] = int32(len(e.all))
	if len(text) == 1 && isIntro[text[0]] {
		e.expand(p, text[0], to)
	}
}

// expand finds the escapes at p whose first byte is c, where c itself ends at q.
func (e *escapes) expand(p int, c byte, q int) {
	switch c {
	case '%':
		if q+2 <= len(e.s) && e.heads[q] == 0 && e.heads[q+1] == 0 {
			// The common case.
			if a, b := hexDigit[e.s[q]], hexDigit[e.s[q+1]]; a >= 0 && b >= 0 {
				e.add(p, q+2, byte(a)<<4|byte(b))
			}
			return
		}
		e.digits(q, 2, 0, func(v rune, to int) { e.add(p, to, byte(v)) })
	case '\\':
		e.each(q, func(x byte, to int) { e.backslash(p, x, to) })
	case '&':
		e.entity(p, q, nil)
	}
}

// each calls f with every byte that can be read at a position, and where it ends.
func (e *escapes) each(q int, f func(c byte, to int)) {
	if q >= len(e.s) {
		return
	}
	f(e.s[q], q+1)
	for i := e.heads[q]; i != 0; i = e.all[i-1].next {
		if o := e.all[i-1]; o.n == 1 {
			f(o.text[0], int(o.to))
		}
	}
}

// digits calls f with every number of n hexadecimal digits at a position.
func (e *escapes) digits(q, n int, v rune, f func(v rune, to int)) {
	if n == 0 {
		f(v, q)
		return
	}
	e.each(q, func(c byte, to int) {
		if d := hexDigit[c]; d >= 0 {
			e.digits(to, n-1, v<<4|rune(d), f)
		}
	})
}

// plain are the single-letter escapes of JSON and Go.
var plain = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', 'a': '\a', 'v': '\v', '"': '"', '\'': '\'', '\\': '\\', '/': '/', '`': '`'}

// backslash finds the escapes at p that are a backslash and x, up to q.
func (e *escapes) backslash(p int, x byte, q int) {
	x = textFold[x]
	if c := plain[x]; c != 0 {
		e.add(p, q, c)
	}
	switch x {
	case 'x':
		e.digits(q, 2, 0, func(v rune, to int) { e.add(p, to, byte(v)) })
	case 'u':
		e.digits(q, 4, 0, func(v rune, to int) { e.codeUnit(p, v, to) })
		e.digits(q, 8, 0, func(v rune, to int) { e.rune(p, v, to) })
	}
}

// codeUnit adds the character of a \u escape with four digits. The second half of a
// surrogate pair must follow.
func (e *escapes) codeUnit(p int, v rune, q int) {
	if v < 0xD800 || v > 0xDBFF {
		e.rune(p, v, q)
		return
	}
	e.each(q, func(c byte, q int) {
		if c != '\\' {
			return
		}
		e.each(q, func(c byte, q int) {
			if textFold[c] != 'u' {
				return
			}
			e.digits(q, 4, 0, func(low rune, to int) {
				if low >= 0xDC00 && low <= 0xDFFF {
					e.rune(p, 0x10000+(v-0xD800)<<10+(low-0xDC00), to)
				}
			})
		})
	})
}

func (e *escapes) rune(p int, v rune, to int) {
	if v >= 0 && utf8.ValidRune(v) {
		e.add(p, to, utf8.AppendRune(nil, v)...)
	}
}

// longestEntity is the maximum number of letters between & and ;.
const longestEntity = 10

// entity finds the HTML entities at p; name has the letters read up to q.
func (e *escapes) entity(p, q int, name []byte) {
	e.each(q, func(c byte, to int) {
		switch {
		case c == ';' && len(name) > 0:
			e.decodeEntity(p, string(name), to)
		case len(name) < longestEntity && (c == '#' && len(name) == 0 || isLetterOrDigit(c)):
			e.entity(p, to, append(name[:len(name):len(name)], c))
		}
	})
}

func (e *escapes) decodeEntity(p int, name string, to int) {
	if name[0] == '#' {
		base := 10
		if name = name[1:]; name != "" && textFold[name[0]] == 'x' {
			base, name = 16, name[1:]
		}
		if v, err := strconv.ParseInt(name, base, 32); err == nil {
			e.rune(p, rune(v), to)
		}
		return
	}
	// The letter case of entities may be lost too.
	for _, n := range []string{name, textFold.apply(name)} {
		if text := html.UnescapeString("&" + n + ";"); len(text) <= utf8.UTFMax && text[0] != '&' || text == "&" {
			e.add(p, to, []byte(text)...)
		}
	}
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// hexDigit is the value of a hexadecimal digit, -1 for other bytes.
var hexDigit = func() (out [256]int8) {
	for i := range out {
		out[i] = -1
	}
	for i, c := range "0123456789abcdef" {
		out[c] = int8(i)
	}
	for i, c := range "ABCDEF" {
		out[c] = int8(10 + i)
	}
	return out
}()

// letter returns the byte of a run that is read at a position, and where it ends: of
// several base64 characters the one with the longest escape.
func (e *escapes) letter(p int) (c byte, to int) {
	c, to = e.s[p], p+1
	for i := e.heads[p]; i != 0; i = e.all[i-1].next {
		o := &e.all[i-1]
		if better := blobDigit[o.text[0]] >= 0 || isSpace(o.text[0]) && blobDigit[c] < 0; o.n == 1 && better && (int(o.to) > to || blobDigit[c] < 0) {
			c, to = o.text[0], int(o.to)
		}
	}
	return c, to
}

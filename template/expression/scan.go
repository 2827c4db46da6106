package expression

import (
	"strings"
	"unicode"
)

// piece is a part of a template: text, or the content of a tag.
type piece struct {
	kind pieceKind
	text string
	// at is the offset of the text in the template.
	at int
}

type pieceKind uint8

const (
	plain pieceKind = iota
	output
	block
)

// isSpace reports whether r is white space in JavaScript.
func isSpace(r rune) bool {
	return r != '\u0085' && unicode.IsSpace(r) || r == '\uFEFF'
}

// scanner splits a template into pieces.
type scanner struct {
	s                string
	env              *Env
	opening, closing string
	pieces           []piece
	// i is the current offset. The text between from and i is not yet a piece.
	i, from int
	// nexts are the positions of the next tag of each kind.
	nexts [3]int
}

// scan returns the pieces of a template, without comments and without the white space
// that tags remove.
func scan(s string, env *Env) []piece {
	sc := &scanner{s: s, env: env, nexts: [3]int{-1, -1, -1}}
	sc.opening, sc.closing = env.tags()
	for sc.tag() {
	}
	sc.flush(len(s), false)
	return sc.pieces
}

// flush adds the text up to end as a piece.
func (sc *scanner) flush(end int, trimmed bool) {
	text := sc.s[sc.from:end]
	if trimmed {
		text = strings.TrimRightFunc(text, isSpace)
	}
	if text != "" {
		sc.add(piece{plain, text, sc.from})
	}
}

// add adds a piece.
func (sc *scanner) add(p piece) {
	if len(sc.pieces) == mostRead {
		bail(p.at, "split it", "the template has more than %d tags and text parts", mostRead)
	}
	sc.pieces = append(sc.pieces, p)
}

// find returns the position of the next tag and its delimiters; -1 if there is none.
func (sc *scanner) find() (at int, opening, closing string) {
	at = -1
	for i, tag := range [...][2]string{{sc.opening, sc.closing}, {openBlock, closeBlock}, {openComment, closeComment}} {
		// A tag found further on is still valid, so no part is searched twice.
		if sc.nexts[i] < sc.i {
			sc.nexts[i] = len(sc.s)
			if next := strings.Index(sc.s[sc.i:], tag[0]); next >= 0 {
				sc.nexts[i] = sc.i + next
			}
		}
		if next := sc.nexts[i]; next < len(sc.s) && (at < 0 || next < at) {
			at, opening, closing = next, tag[0], tag[1]
		}
	}
	return at, opening, closing
}

// tag scans up to the end of the next tag, and reports whether there is one.
func (sc *scanner) tag() bool {
	at, opening, closing := sc.find()
	if at < 0 {
		return false
	}
	begin := at + len(opening)
	dash := strings.HasPrefix(sc.s[begin:], "-")
	if dash {
		begin++
	}
	before := at
	if opening == openBlock && sc.env.LstripBlocks {
		before = sc.indented(at)
	}
	sc.flush(before, dash)

	end := -1
	if opening == openComment {
		if i := strings.Index(sc.s[begin:], closing); i >= 0 {
			end = begin + i
		}
	} else {
		end = codeEnd(sc.s, begin, closing)
	}
	if end < 0 {
		bail(at, "add "+closing, "%s is not closed", opening)
	}
	code := sc.s[begin:end]
	sc.i = end + len(closing)
	trims := strings.HasSuffix(code, "-")
	code = strings.TrimSuffix(code, "-")
	sc.skip(trims, opening == openBlock && sc.env.TrimBlocks)
	switch opening {
	case sc.opening:
		sc.add(piece{output, code, begin})
	case openBlock:
		sc.block(code, begin)
	}
	return true
}

// skip skips the white space that a tag removes after it.
func (sc *scanner) skip(all, lineBreak bool) {
	rest := sc.s[sc.i:]
	switch {
	case all:
		rest = strings.TrimLeftFunc(rest, isSpace)
	case lineBreak:
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
		if strings.HasPrefix(sc.s[sc.i:], "\r") && !strings.HasPrefix(sc.s[sc.i:], "\r\n") {
			rest = sc.s[sc.i:]
		}
	}
	sc.i = len(sc.s) - len(rest)
	sc.from = sc.i
}

// indented returns the start of the indent before a tag, or the tag itself if something
// else is on its line.
func (sc *scanner) indented(at int) int {
	before := strings.TrimRightFunc(sc.s[:at], func(r rune) bool { return r != '\n' && isSpace(r) })
	if before != "" && !strings.HasSuffix(before, "\n") {
		return at
	}
	return max(len(before), sc.from)
}

// block adds a statement. The content between raw and endraw is text.
func (sc *scanner) block(code string, begin int) {
	name := tagName(code)
	if name != "raw" && name != "verbatim" {
		sc.add(piece{block, code, begin})
		return
	}
	depth := 1
	for i := sc.i; ; {
		next := strings.Index(sc.s[i:], openBlock)
		if next < 0 {
			bail(begin, "add {% end"+name+" %}", "%s is not closed", name)
		}
		at := i + next
		i = at + len(openBlock)
		if end := rawTag(sc.s[i:], name); end > 0 {
			depth++
			i += end
		} else if end := rawTag(sc.s[i:], "end"+name); end > 0 {
			depth--
			i += end
		}
		if depth == 0 {
			sc.flush(at, false)
			sc.i = i
			sc.skip(false, false)
			return
		}
	}
}

// rawTag returns the end of a tag that contains only a name, 0 if s is the rest of
// another tag.
func rawTag(s, name string) int {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(s, isSpace), name)
	if !ok {
		return 0
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeftFunc(rest, isSpace), closeBlock); !ok {
		return 0
	}
	return len(s) - len(rest)
}

// tagName returns the first word of a statement.
func tagName(code string) string {
	i := 0
	for n := codeSpace(code); n > 0; n = codeSpace(code[i:]) {
		i += n
	}
	return code[i:nameEnd(code, i)]
}

// tagAround returns the content of the tag at an offset, for messages.
func tagAround(s string, at int, env *Env) string {
	opening, closing := env.tags()
	upTo := s[:min(len(s), at+len(opening))]
	i, length := strings.LastIndex(upTo, opening), len(opening)
	if j := strings.LastIndex(upTo, openBlock); j > i {
		i, length, closing = j, len(openBlock), closeBlock
	}
	if i < 0 {
		return s
	}
	if end := codeEnd(s, i+length, closing); end >= 0 {
		return s[i+length : end]
	}
	return s[i+length:]
}

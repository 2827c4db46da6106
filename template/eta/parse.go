package eta

import (
	"strings"
	"sync"
	"sync/atomic"
)

// The delimiters of a tag.
const (
	openTag  = "<%"
	closeTag = "%>"
)

// kind is the kind of a part of a template.
type kind byte

const (
	literal kind = iota
	// code is executed.
	code
	// value is evaluated, and its result is written.
	value
	// comment is ignored.
	comment
)

// part is a part of a template: literal text, or a tag.
type part struct {
	kind kind
	// text is the output of a literal, or the code of a tag.
	text string
	// at is the offset of text in the template, from that of the tag.
	at, from int
	// left and right are the trim controls of a tag: 0, '-' or '_'.
	left, right byte
	// whole is true if the brackets within the tag are balanced.
	whole bool
}

// template is a parsed template.
type template struct {
	name, text string
	parts      []part
	scan       scanner
	// words are all names that its code might use.
	words map[string]bool
	// body is the JavaScript generated from the parts, without the head. lines are the
	// offsets of its lines, spans the origins of its pieces.
	body  string
	lines []int
	spans []span

	// size is the size of the output of the last render.
	size atomic.Int64

	mu       sync.Mutex
	programs map[string]*program
}

// parse parses a template. The error is an *Error.
func parse(name, text string) (*template, error) {
	if err := checkText(name, text); err != nil {
		return nil, err
	}
	// Some editors write a byte order mark, which is not part of the text.
	text = strings.TrimPrefix(text, "\uFEFF")
	t := &template{name: name, text: text, words: map[string]bool{}, programs: map[string]*program{}}
	if err := t.split(); err != nil {
		return nil, err
	}
	t.trim()
	t.generate()
	return t, nil
}

// split splits the text into parts.
func (t *template) split() error {
	t.scan = scanner{name: t.name, text: t.text}
	s, size := &t.scan, 0
	for s.at < len(t.text) {
		n := strings.Index(t.text[s.at:], openTag)
		if n < 0 {
			n = len(t.text) - s.at
		}
		if n > 0 {
			t.parts = append(t.parts, part{kind: literal, text: t.text[s.at : s.at+n], at: s.at, from: s.at})
		}
		s.at += n
		if s.at == len(t.text) {
			break
		}
		p, err := t.tag()
		if err != nil {
			return err
		}
		if size += len(p.text); size > maxCode {
			return s.errorf(p.from, "", "cannot read template: more than %d KiB of code", maxCode>>10)
		}
		t.parts = append(t.parts, p)
		if p.kind != comment {
			addWords(t.words, p.text)
		}
	}
	return nil
}

// tag parses the tag at the current offset.
func (t *template) tag() (part, error) {
	s := &t.scan
	p := part{kind: code, from: s.at}
	s.at += len(openTag)
	if s.at < len(t.text) && (t.text[s.at] == '-' || t.text[s.at] == '_') {
		p.left = t.text[s.at]
		s.at++
	}
	s.at += blanks(t.text[s.at:])
	if s.at < len(t.text) {
		switch t.text[s.at] {
		case '=', '~':
			p.kind = value
			s.at++
		case '#':
			return t.commentTag(p)
		}
	}
	s.at += blanks(t.text[s.at:])
	p.at = s.at
	end, control, whole, err := s.code(p.at)
	if err != nil {
		return p, err
	}
	if end == 0 {
		return p, s.errorf(p.from, "close it with "+closeTag, "cannot read template: unclosed tag")
	}
	p.text, p.right, p.whole = t.text[p.at:end], control, whole
	return p, nil
}

// commentTag parses a comment, which ends at the next closing delimiter regardless of
// its content.
func (t *template) commentTag(p part) (part, error) {
	s := &t.scan
	p.kind, p.at = comment, s.at
	n := strings.Index(t.text[s.at:], closeTag)
	if n < 0 {
		return p, s.errorf(p.from, "close it with "+closeTag, "cannot read template: unclosed comment")
	}
	end := s.at + n
	if c := t.text[end-1]; c == '-' || c == '_' {
		p.right = c
	}
	s.at = end + len(closeTag)
	return p, nil
}

// blanks returns the length of the white space at the beginning of s.
func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// addWords adds everything in code that may be a name, even inside strings: too many
// names do no harm.
func addWords(words map[string]bool, code string) {
	start := -1
	for i := range len(code) + 1 {
		in := i < len(code) && wordPart(code[i])
		if in && start < 0 {
			start = i
		}
		if !in && start >= 0 {
			words[code[start:i]] = true
			start = -1
		}
	}
}

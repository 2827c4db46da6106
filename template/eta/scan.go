package eta

import (
	"fmt"
	"strings"
)

// bracket is a bracket in the code of a template.
type bracket struct {
	char byte
	at   int
}

// scanner scans the JavaScript of a template just far enough to find the end of a tag:
// what looks like the end may be in a string or a comment.
type scanner struct {
	name, text string
	// at is the current offset.
	at int
	// operand is true after a value: a slash is then a division and not the start of a
	// regular expression.
	operand bool
	// open are the unclosed brackets over all tags. stray is the first closing bracket
	// without a matching one.
	open  []bracket
	stray *bracket
}

func (s *scanner) errorf(at int, hint, format string, args ...any) *Error {
	e := errorAt(s.name, s.text, at, fmt.Sprintf(format, args...))
	e.Hint = hint
	return e
}

// code scans the code of a tag that begins at start, up to its end. It returns the end
// of the code, the trim control (0, '-' or '_'), and whether the brackets within the tag
// are balanced.
func (s *scanner) code(start int) (end int, control byte, whole bool, err *Error) {
	s.operand = false
	before := len(s.open)
	lowest := before
	for s.at < len(s.text) {
		if stop, control, ok := s.closing(start); ok {
			return stop, control, lowest == before && len(s.open) == before, nil
		}
		if err := s.token(); err != nil {
			return 0, 0, false, err
		}
		lowest = min(lowest, len(s.open))
	}
	return 0, 0, false, nil
}

// closing reports whether a tag ends here, and skips its end.
func (s *scanner) closing(start int) (stop int, control byte, ok bool) {
	rest := s.text[s.at:]
	n := len(closeTag)
	if len(rest) > n && (rest[0] == '-' || rest[0] == '_') && rest[1:1+n] == closeTag {
		control = rest[0]
		n++
	} else if !strings.HasPrefix(rest, closeTag) {
		return 0, 0, false
	}
	stop = start + len(strings.TrimRight(s.text[start:s.at], " \t\r\n"))
	s.at += n
	return stop, control, true
}

// token skips one token, comment or white space.
func (s *scanner) token() *Error {
	c := s.text[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		s.at++
	case c == '\'' || c == '"':
		return s.quoted(c)
	case c == '`':
		return s.literal()
	case c == '/':
		return s.slash()
	case wordStart(c):
		s.word()
	case c >= '0' && c <= '9':
		for s.at < len(s.text) && (wordPart(s.text[s.at]) || s.text[s.at] == '.') && !s.underscoreEnd() {
			s.at++
		}
		s.operand = true
	case strings.IndexByte("([{", c) >= 0:
		if len(s.open) >= maxNesting {
			return s.errorf(s.at, "", "cannot read template: brackets are nested more than %d levels deep", maxNesting)
		}
		s.open = append(s.open, bracket{c, s.at})
		s.at++
		s.operand = false
	case strings.IndexByte(")]}", c) >= 0:
		s.close(c)
		s.at++
		s.operand = true
	case (c == '+' || c == '-') && strings.HasPrefix(s.text[s.at+1:], string(c)):
		// i++ / 2 divides; ++ before a name does not change operand.
		s.at += 2
	default:
		s.at++
		s.operand = false
	}
	return nil
}

// close handles a closing bracket.
func (s *scanner) close(c byte) {
	n := len(s.open)
	opens := map[byte]byte{')': '(', ']': '[', '}': '{'}[c]
	if n > 0 && s.open[n-1].char == opens {
		s.open = s.open[:n-1]
		return
	}
	if s.stray == nil {
		s.stray = &bracket{c, s.at}
	}
	// Treat it as the match of the open bracket, so that the rest is not reported as well.
	if n > 0 {
		s.open = s.open[:n-1]
	}
}

// quoted skips a string, which must end on its line.
func (s *scanner) quoted(quote byte) *Error {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			s.operand = true
			return nil
		case '\n', '\r':
			return s.errorf(start, fmt.Sprintf("close it with %c on the same line", quote), "cannot read template: unclosed string")
		}
	}
	s.at = len(s.text)
	return s.errorf(start, fmt.Sprintf("close it with %c on the same line", quote), "cannot read template: unclosed string")
}

// literal skips a template literal and the code in it.
func (s *scanner) literal() *Error {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch {
		case s.text[s.at] == '\\':
			s.at++
		case s.text[s.at] == '`':
			s.at++
			s.operand = true
			return nil
		case strings.HasPrefix(s.text[s.at:], "${"):
			s.at++
			if err := s.inner(start); err != nil {
				return err
			}
			s.at--
		}
	}
	s.at = len(s.text)
	return s.errorf(start, "close it with `", "cannot read template: unclosed string")
}

// inner skips the ${ } of a template literal that began at start. The brace is the next
// character.
func (s *scanner) inner(start int) *Error {
	depth := len(s.open)
	if err := s.token(); err != nil {
		return err
	}
	for len(s.open) > depth {
		if s.at >= len(s.text) {
			return s.errorf(start, "close it with `", "cannot read template: unclosed string")
		}
		if err := s.token(); err != nil {
			return err
		}
	}
	return nil
}

// slash skips a comment, a regular expression, or a division.
func (s *scanner) slash() *Error {
	start, rest := s.at, s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return s.errorf(start, "close it with */", "cannot read template: unclosed comment")
		}
		s.at += 2 + end + 2
	case strings.HasPrefix(rest, "//"):
		// The comment ends with the line, or with the tag.
		for s.at < len(s.text) && s.text[s.at] != '\n' && s.text[s.at] != '\r' && !strings.HasPrefix(s.text[s.at:], closeTag) {
			s.at++
		}
		if s.at < len(s.text) && s.text[s.at-1] != '/' && strings.HasPrefix(s.text[s.at:], closeTag) &&
			(s.text[s.at-1] == '-' || s.text[s.at-1] == '_') {
			s.at--
		}
	case s.operand:
		s.at++
		s.operand = false
	default:
		s.regexp()
	}
	return nil
}

// regexp skips a regular expression or, if it does not end on this line, only the slash.
func (s *scanner) regexp() {
	class := false
	for i := s.at + 1; i < len(s.text) && s.text[i] != '\n' && s.text[i] != '\r'; i++ {
		switch c := s.text[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at = i + 1
			s.operand = true
			return
		}
	}
	s.at++
	s.operand = false
}

// word skips a name or keyword.
func (s *scanner) word() {
	start := s.at
	for s.at < len(s.text) && wordPart(s.text[s.at]) && !s.underscoreEnd() {
		s.at++
	}
	s.operand = !beforeValue[s.text[start:s.at]]
}

// underscoreEnd reports whether an underscore here belongs to the end of the tag.
func (s *scanner) underscoreEnd() bool {
	return s.text[s.at] == '_' && strings.HasPrefix(s.text[s.at+1:], closeTag)
}

// beforeValue are the keywords that precede a value.
var beforeValue = map[string]bool{
	"await": true, "case": true, "delete": true, "do": true, "else": true, "in": true, "instanceof": true,
	"new": true, "of": true, "return": true, "throw": true, "typeof": true, "void": true, "yield": true,
}

// wordStart reports whether a word can begin with c. Any non-ASCII character counts as a
// letter.
func wordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func wordPart(c byte) bool { return wordStart(c) || c >= '0' && c <= '9' }

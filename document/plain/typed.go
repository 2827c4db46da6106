package plain

import (
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// surelyNumber is a length up to which integers are in the range of a float; beyond that,
// YAML parsers read digits as a string.
const surelyNumber = 300

// typed returns the node of an unquoted scalar.
func (r *reader) typed(text []byte, pos tree.Pos) *tree.Node {
	n := r.str(r.text(text))
	n.Pos, n.Plain = pos, true
	switch n.Text {
	case "true", "false":
		n.Kind = tree.Bool
		return n
	case "null", "~":
		n.Kind, n.Text = tree.Null, ""
		return n
	case "True", "TRUE", "False", "FALSE", "Null", "NULL":
		if !r.resolve(n) {
			return nil
		}
		return n
	case "<<":
		return nil
	}
	switch {
	case isString(n.Text):
	case len(n.Text) <= surelyNumber && tree.IsDecimal(n.Text):
		n.Kind = tree.Int
	case isFraction(n.Text):
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return nil
		}
		num, err := tree.From(f)
		if err != nil {
			return nil
		}
		n.Kind, n.Text = num.Kind, num.Text
	case !r.resolve(n):
		return nil
	}
	return n
}

// isString reports whether an unquoted scalar is certainly a string. It is not a word for
// a boolean or for null.
func isString(s string) bool {
	switch c := s[0]; {
	case c == '.':
		// .inf and .nan, or a number.
		return len(s) > 1 && (s[1] == '/' || isLetter(s[1]) && strings.IndexByte("iInN", s[1]) < 0)
	case c == '+' || c == '-':
		if strings.HasPrefix(s[1:], ".") {
			// An infinity, or a number.
			return false
		}
	case c < '0' || c > '9':
		return true
	}
	dots := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F',
			c == 'x', c == 'X', c == 'o', c == 'O', c == '_', c == '+', c == '-':
		case c == '.':
			dots++
		default:
			// No number has such a character, and times are strings.
			return true
		}
	}
	return dots > 1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isFraction reports whether s is a short decimal number with a fraction.
func isFraction(s string) bool {
	const surelyExact = 15
	whole, rest, ok := strings.Cut(s, ".")
	if !ok || rest == "" || len(s) > surelyExact || !tree.IsDecimal(whole) {
		return false
	}
	for i := range len(rest) {
		if rest[i] < '0' || rest[i] > '9' {
			return false
		}
	}
	return true
}

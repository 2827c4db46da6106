package expression

import "strings"

// kind is the kind of a token.
type kind uint8

const (
	ended kind = iota
	isName
	isNumber
	isText
	isRegex
	isOperator
)

// token is a token of an expression. text is the unescaped value of a string, else the
// source text; flags are those of a regular expression.
type token struct {
	kind        kind
	text, flags string
	at          int
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// codeSpace returns the length of the white space at the beginning of s; 0 if there is
// none.
func codeSpace(s string) int {
	switch {
	case s == "":
		return 0
	case strings.IndexByte(" \t\n\r", s[0]) >= 0:
		return 1
	case strings.HasPrefix(s, "\u00a0"):
		return len("\u00a0")
	}
	return 0
}

// nameEnd returns the end of the name that begins at i, or i if there is none.
func nameEnd(s string, i int) int {
	if i >= len(s) || !isLetter(s[i]) {
		return i
	}
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
		i++
	}
	return i
}

// textEnd returns the end of the string whose quote is at i, and false if it is not
// closed.
func textEnd(s string, i int) (int, bool) {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1, true
		}
	}
	return len(s), false
}

// regexEnd returns the position of the second slash of the regular expression whose r is
// at i; false if there is none.
func regexEnd(s string, i int) (int, bool) {
	for i += 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return i, true
		}
	}
	return len(s), false
}

// operators are the multi-character operators, the longer ones first.
var operators = []string{"===", "!==", "**", "//", "==", "!=", "<=", ">="}

// habits maps syntax of other languages to hints.
var habits = map[byte]string{
	'!': "write not",
	'&': "write and",
	'?': "write a if b else c",
	'=': "compare with ==",
	';': "write one expression between the tags",
	'`': "quote strings with \" or '",
	'$': "remove the inner tag; tags cannot be nested",
}

// The limits of one text, which is parsed as a whole: a token takes some hundred bytes.
const (
	// mostTokens is the maximum number of tokens in an expression, and mostRead in all
	// expressions and statements of a text, each of which counts as perTag more.
	mostTokens = 100_000
	mostRead   = 500_000
	perTag     = 4
	// mostInstructions is the maximum number of instructions of all regular expressions of
	// a text, with repetitions expanded.
	mostInstructions = 200_000
)

// reading counts what is parsed of a text.
type reading struct{ tokens, instructions int }

// count counts tokens.
func (r *reading) count(tokens, at int) {
	if r.tokens += tokens; r.tokens > mostRead {
		bail(at, "split it", "the template has more than %d names, values and operators in its tags", mostRead)
	}
}

// lex returns the tokens of an expression at offset base of its text. The last one is of
// kind ended.
func lex(s string, base int, r *reading) []token {
	r.count(perTag, base)
	var out []token
	for i := 0; i < len(s); {
		if len(out) == mostTokens {
			bail(base+i, "split it", "the expression is too long")
		}
		r.count(1, base+i)
		if n := codeSpace(s[i:]); n > 0 {
			i += n
			continue
		}
		t, end := next(s, i, base)
		out = append(out, t)
		i = end
	}
	return append(out, token{at: base + len(s)})
}

// next returns the token at i.
func next(s string, i, base int) (token, int) {
	at := base + i
	switch c := s[i]; {
	case c == 'r' && i+1 < len(s) && s[i+1] == '/':
		return lexRegex(s, i, at)
	case isLetter(c):
		end := nameEnd(s, i)
		return token{kind: isName, text: s[i:end], at: at}, end
	case isDigit(c):
		return lexNumber(s, i, at)
	case c == '.' && i+1 < len(s) && isDigit(s[i+1]):
		bail(at, "write 0 before the decimal point", "a number cannot begin with a decimal point")
	case c == '"' || c == '\'':
		end, ok := textEnd(s, i)
		if !ok {
			bail(at, "add the closing quote; escape a quote in the string as \\"+string(c), "unclosed string")
		}
		return token{kind: isText, text: unescape(s[i+1 : end-1]), at: at}, end
	}
	for _, op := range operators {
		if strings.HasPrefix(s[i:], op) {
			return token{kind: isOperator, text: op, at: at}, i + len(op)
		}
	}
	if strings.IndexByte("()[]{}.,:|~+-*/%<>=", s[i]) < 0 {
		r := []rune(s[i:min(len(s), i+4)])[0]
		bail(at, habits[s[i]], "unexpected %q", r)
	}
	return token{kind: isOperator, text: s[i : i+1], at: at}, i + 1
}

func lexNumber(s string, i, at int) (token, int) {
	end := i
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end < len(s) && s[end] == '.' {
		end++
		for end < len(s) && isDigit(s[end]) {
			end++
		}
	}
	if end < len(s) && isLetter(s[end]) {
		bail(at, "quote it if it is a string", "%s is not a number", short(s[i:nameEnd(s, end)]))
	}
	return token{kind: isNumber, text: s[i:end], at: at}, end
}

func lexRegex(s string, i, at int) (token, int) {
	slash, ok := regexEnd(s, i)
	if !ok {
		bail(at, "add the closing /", "unclosed regular expression")
	}
	end := nameEnd(s, slash+1)
	flags := s[slash+1 : end]
	for j, f := range flags {
		if !strings.ContainsRune("gimy", f) || strings.ContainsRune(flags[:j], f) {
			bail(at, "use flags g, i, m and y, each at most once", "unknown regular expression flags %s", flags)
		}
	}
	return token{kind: isRegex, text: s[i+2 : slash], flags: flags, at: at}, end
}

// unescape resolves the escapes of a string. Only \n, \t and \r are special; any other
// character after a backslash stands for itself.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			switch c = s[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// codeEnd returns the position of the closing tag in code that begins at i, outside of
// strings and regular expressions; -1 if there is none.
func codeEnd(s string, i int, closing string) int {
	for i < len(s) {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], closing):
			return i
		case c == '"' || c == '\'':
			i, _ = textEnd(s, i)
		case c == 'r' && i+1 < len(s) && s[i+1] == '/':
			i, _ = regexEnd(s, i)
			i = min(i+1, len(s))
		case isLetter(c):
			i = nameEnd(s, i)
		default:
			i++
		}
	}
	return -1
}

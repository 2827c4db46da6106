package tree

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendYAML appends n as block-style YAML, without a document marker. Strings are
// written plain if every YAML parser, old or new, reads them as the same string;
// multi-line strings as a literal block; others in double quotes.
func AppendYAML(dst []byte, n *Node) []byte {
	if inline(n) {
		// A literal block needs an indent even at the top level.
		dst = appendYAMLScalar(dst, n, 1)
		return append(dst, '\n')
	}
	return appendBlock(dst, n, 0, false)
}

// inline reports whether n is written on the line of its key.
func inline(n *Node) bool { return n.Len() == 0 }

// appendBlock appends a non-empty map or list, each entry on its own line. With hanging
// set, the first entry continues the current line ("- a: 1").
func appendBlock(dst []byte, n *Node, depth int, hanging bool) []byte {
	if n.Kind == List {
		for i, it := range n.Items {
			if i > 0 || !hanging {
				dst = spaces(dst, depth)
			}
			dst = append(dst, '-', ' ')
			if inline(it) {
				dst = appendYAMLScalar(dst, it, depth+1)
				dst = append(dst, '\n')
				continue
			}
			dst = appendBlock(dst, it, depth+1, true)
		}
		return dst
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		if i > 0 || !hanging {
			dst = spaces(dst, depth)
		}
		dst = appendKey(dst, f.Key, depth)
		if inline(f.Value) {
			dst = append(dst, ' ')
			dst = appendYAMLScalar(dst, f.Value, depth+1)
			dst = append(dst, '\n')
			continue
		}
		dst = append(dst, '\n')
		dst = appendBlock(dst, f.Value, depth+1, false)
	}
	return dst
}

func spaces(dst []byte, depth int) []byte {
	for range depth {
		dst = append(dst, ' ', ' ')
	}
	return dst
}

// longKey is well below the limit up to which YAML parsers look for a key's colon.
const longKey = 1000

func appendKey(dst []byte, key string, depth int) []byte {
	if len(key) <= longKey && plainSafe(key) {
		dst = append(dst, key...)
		return append(dst, ':')
	}
	start := len(dst)
	dst = appendQuoted(dst, key)
	if len(dst)-start > longKey {
		// A key this long needs a "?", and its value follows on a new line.
		dst = slices.Insert(dst, start, '?', ' ')
		dst = append(dst, '\n')
		dst = spaces(dst, depth)
	}
	return append(dst, ':')
}

func appendYAMLScalar(dst []byte, n *Node, depth int) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Int, Float:
		return append(dst, n.Text...)
	case List:
		return append(dst, "[]"...)
	case Map:
		return append(dst, "{}"...)
	}
	if plainSafe(n.Text) {
		return append(dst, n.Text...)
	}
	if literalSafe(n.Text) {
		return appendLiteral(dst, n.Text, depth)
	}
	return appendQuoted(dst, n.Text)
}

// appendLiteral appends s as a literal block, with every line unchanged.
func appendLiteral(dst []byte, s string, depth int) []byte {
	dst = append(dst, '|')
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		dst = append(dst, '-')
	case 1:
	default:
		dst = append(dst, '+')
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		dst = append(dst, '\n')
		if line != "" {
			dst = spaces(dst, depth)
			dst = append(dst, line...)
		}
	}
	return dst
}

// literalSafe reports whether s is a multi-line string that a literal block preserves
// exactly.
func literalSafe(s string) bool {
	if strings.IndexByte(s, '\n') <= 0 || s[0] == ' ' {
		return false
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !yamlPrintable(r) {
			return false
		}
		i += size
	}
	return true
}

// plainByte marks the ASCII bytes that are allowed anywhere in a plain scalar. Colon,
// hash and white space depend on their neighbours; see plainSafe.
var plainByte = func() (t [256]bool) {
	for c := byte('!'); c <= '~'; c++ {
		t[c] = true
	}
	t[':'], t['#'] = false, false
	return t
}()

// plainSafe reports whether s may be written without quotes.
func plainSafe(s string) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	switch s[0] {
	case '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '=', '<', '~', '.', '+':
		return false
	}
	for i := 0; i < len(s); {
		c := s[i]
		if plainByte[c] {
			i++
			continue
		}
		switch {
		case c == ' ':
			if s[i+1] == '#' {
				return false
			}
			i++
		case c == ':':
			if s[i+1] == ' ' {
				return false
			}
			i++
		case c == '#':
			i++
		case c < utf8.RuneSelf:
			return false
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || !yamlPrintable(r) {
				return false
			}
			i += size
		}
	}
	return !looksTyped(s)
}

// looksTyped reports whether some YAML parser would read s as a number, a boolean, a
// null or a time. Everything that begins with a digit counts, unless it contains a
// letter that no number has.
func looksTyped(s string) bool {
	c := s[0]
	if c >= '0' && c <= '9' && isRelease(s) {
		return false
	}
	if c >= '0' && c <= '9' {
		return !strings.ContainsAny(s, "ghijklmnpqrsuvwyzGHIJKLMNPQRSUVWYZ/ ") || strings.ContainsAny(s, ":") || isTimeLike(s)
	}
	if len(s) > 5 {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return true
	}
	return false
}

// isTimeLike reports whether s begins like a date: four digits and a dash.
func isTimeLike(s string) bool {
	return len(s) > 4 && s[4] == '-' && strings.Trim(s[:4], "0123456789") == ""
}

// isRelease reports whether s consists of digits separated by two or more dots, such as
// 3.0.0, which no parser reads as a number.
func isRelease(s string) bool {
	return strings.Count(s, ".") > 1 && strings.Trim(s, "0123456789.") == "" && !strings.Contains(s, "..") && s[len(s)-1] != '.'
}

package form

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// browserPattern returns pattern, which a cluster runs as RE2, in a form that is
// equivalent in a browser (JavaScript with the u flag) and RE2. A safe pattern is
// returned unchanged. It reports false if there is no such form.
func browserPattern(pattern string) (string, bool) {
	if browserSafe(pattern) {
		return pattern, true
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if !writePattern(&b, re) {
		return "", false
	}
	return b.String(), true
}

// browserSafe reports whether a pattern uses only syntax that RE2 and JavaScript
// interpret alike. Unknown syntax is not safe.
func browserSafe(p string) bool {
	if _, err := syntax.Parse(p, syntax.Perl); err != nil {
		return false
	}
	inClass, asserted := false, false
	for i := 0; i < len(p); i++ {
		c := p[i]
		afterAssertion := asserted
		asserted = false
		switch {
		case c == '\\':
			i++
			if i == len(p) || !safeEscape(p[i], inClass) || inClass && rangeWithClass(p, i) {
				return false
			}
			asserted = !inClass && (p[i] == 'b' || p[i] == 'B')
		case inClass:
			if c == '[' || c == ']' && classJustOpened(p, i) {
				return false
			}
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(' && strings.HasPrefix(p[i:], "(?") && !strings.HasPrefix(p[i:], "(?:"):
			return false
		case c == '^', c == '$':
			asserted = true
		case c == '*', c == '+', c == '?':
			if afterAssertion {
				return false
			}
		case c == '{':
			if !quantifier(p[i:]) || afterAssertion {
				return false
			}
			i += strings.IndexByte(p[i:], '}')
		case c == ']', c == '}':
			return false
		}
	}
	return true
}

// rangeWithClass reports whether the class escape at i, such as the w of [\w-.], is next
// to a dash that a browser parses as a range.
func rangeWithClass(p string, i int) bool {
	if !strings.ContainsRune("dDwWsS", rune(p[i])) {
		return false
	}
	if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
		return true
	}
	return i > 2 && p[i-2] == '-' && p[i-3] != '['
}

// classJustOpened reports whether the bracket at i is the first character of its class,
// where RE2 takes it literally and a browser as the end of the class.
func classJustOpened(p string, i int) bool {
	return p[i-1] == '[' || p[i-1] == '^' && i > 1 && p[i-2] == '['
}

// safeEscape reports whether \c means the same in RE2 and JavaScript.
func safeEscape(c byte, inClass bool) bool {
	switch c {
	case 'd', 'D', 'w', 'W', 's', 'S', 'n', 'r', 't', 'f', 'v',
		'.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$', '\\', '/':
		return true
	case 'b', 'B':
		return !inClass
	case '-':
		return inClass
	}
	return false
}

// quantifier reports whether s begins with {n}, {n,} or {n,m}.
func quantifier(s string) bool {
	end := strings.IndexByte(s, '}')
	if end < 2 {
		return false
	}
	lo, hi, ranged := strings.Cut(s[1:end], ",")
	if _, err := strconv.ParseUint(lo, 10, 16); err != nil {
		return false
	}
	if !ranged || hi == "" {
		return true
	}
	_, err := strconv.ParseUint(hi, 10, 16)
	return err == nil
}

// writePattern writes a parsed pattern in the syntax common to RE2 and JavaScript.
func writePattern(b *strings.Builder, re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch:
		b.WriteString("(?:)")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if !utf8.ValidRune(r) {
				return false
			}
			if re.Flags&syntax.FoldCase != 0 {
				writeFolded(b, r)
				continue
			}
			writeRune(b, r, false)
		}
	case syntax.OpCharClass:
		writeClass(b, re.Rune)
	case syntax.OpAnyCharNotNL:
		b.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		b.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		b.WriteByte('^')
	case syntax.OpEndText:
		b.WriteByte('$')
	case syntax.OpWordBoundary:
		b.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`\B`)
	case syntax.OpCapture:
		return writeGroup(b, "(", re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return writeRepeat(b, re)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				if !writeGroup(b, "(?:", sub) {
					return false
				}
				continue
			}
			if !writePattern(b, sub) {
				return false
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			if !writePattern(b, sub) {
				return false
			}
		}
	default:
		// Line anchors inside the text, and patterns that match nothing.
		return false
	}
	return true
}

func writeGroup(b *strings.Builder, open string, re *syntax.Regexp) bool {
	b.WriteString(open)
	ok := writePattern(b, re)
	b.WriteByte(')')
	return ok
}

func writeRepeat(b *strings.Builder, re *syntax.Regexp) bool {
	sub := re.Sub[0]
	single := sub.Op == syntax.OpCharClass || sub.Op == syntax.OpCapture || sub.Op == syntax.OpAnyCharNotNL ||
		sub.Op == syntax.OpAnyChar || sub.Op == syntax.OpLiteral && len(sub.Rune) == 1
	if single {
		if !writePattern(b, sub) {
			return false
		}
	} else if !writeGroup(b, "(?:", sub) {
		return false
	}
	switch re.Op {
	case syntax.OpStar:
		b.WriteByte('*')
	case syntax.OpPlus:
		b.WriteByte('+')
	case syntax.OpQuest:
		b.WriteByte('?')
	case syntax.OpRepeat:
		b.WriteByte('{')
		b.WriteString(strconv.Itoa(re.Min))
		if re.Max != re.Min {
			b.WriteByte(',')
			if re.Max >= 0 {
				b.WriteString(strconv.Itoa(re.Max))
			}
		}
		b.WriteByte('}')
	}
	if re.Flags&syntax.NonGreedy != 0 {
		b.WriteByte('?')
	}
	return true
}

// writeFolded writes a class of all case variants of r.
func writeFolded(b *strings.Builder, r rune) {
	if unicode.SimpleFold(r) == r {
		writeRune(b, r, false)
		return
	}
	b.WriteByte('[')
	writeRune(b, r, true)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		writeRune(b, f, true)
	}
	b.WriteByte(']')
}

// writeClass writes the ranges of a class, or their complement if they extend to the end
// of Unicode.
func writeClass(b *strings.Builder, ranges []rune) {
	open, none := "[", `[^\s\S]`
	if len(ranges) > 2 && ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune {
		open, none = "[^", `[\s\S]`
		left := make([]rune, 0, len(ranges))
		for i := 1; i+1 < len(ranges); i += 2 {
			left = append(left, ranges[i]+1, ranges[i+1]-1)
		}
		ranges = left
	}
	empty := true
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := aroundSurrogates(ranges[i], ranges[i+1])
		if lo > hi {
			continue
		}
		if empty {
			b.WriteString(open)
		}
		empty = false
		writeRange(b, lo, hi)
	}
	if empty {
		b.WriteString(none)
		return
	}
	b.WriteByte(']')
}

// aroundSurrogates removes surrogates, which are not characters, from the ends of a
// range.
func aroundSurrogates(lo, hi rune) (rune, rune) {
	const first, last = 0xD800, 0xDFFF
	if lo >= first && lo <= last {
		lo = last + 1
	}
	if hi >= first && hi <= last {
		hi = first - 1
	}
	return lo, hi
}

func writeRange(b *strings.Builder, lo, hi rune) {
	writeRune(b, lo, true)
	if hi == lo {
		return
	}
	if hi > lo+1 {
		b.WriteByte('-')
	}
	writeRune(b, hi, true)
}

func writeRune(b *strings.Builder, r rune, inClass bool) {
	switch {
	case r == '-' && inClass, strings.ContainsRune(`.*+?()[]{}|^$\/`, r):
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x20 || r == 0x7f:
		const hex = "0123456789abcdef"
		b.WriteString(`\x`)
		b.WriteByte(hex[r>>4])
		b.WriteByte(hex[r&15])
	default:
		b.WriteRune(r)
	}
}

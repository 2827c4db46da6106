package expression

import (
	"regexp"
	"strconv"
	"strings"
)

// pattern is a regular expression.
type pattern struct {
	source, flags string
	compiled      *regexp.Regexp
}

func (p *pattern) has(flag string) bool { return strings.Contains(p.flags, flag) }

// newPattern reads a regular expression of JavaScript, as far as RE2 has the
// same: matching takes time in proportion to the text, whatever the pattern.
func newPattern(source, flags string, at int) *pattern {
	const most = 16384
	if len(source) > most {
		bail(at, "make it shorter", "the regular expression has more than %d characters", most)
	}
	if strings.Contains(flags, "y") {
		bail(at, "begin it with ^", "the flag y of a regular expression is not supported")
	}
	options := ""
	for _, f := range []string{"i", "m"} {
		if strings.Contains(flags, f) {
			options += f
		}
	}
	if options != "" {
		options = "(?" + options + ")"
	}
	compiled, err := regexp.Compile(options + translate(source))
	if err != nil {
		hint := ""
		if strings.Contains(source, "(?=") || strings.Contains(source, "(?!") || strings.Contains(source, "(?<") {
			hint = "write it without looking ahead or behind"
		}
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		bail(at, hint, "cannot read the regular expression: %s", why)
	}
	return &pattern{source, flags, compiled}
}

// white is JavaScript's white space, within a class.
const white = `\s\v\p{Z}\x{FEFF}`

// translate writes otherwise what RE2 writes otherwise.
func translate(source string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch c {
		case '[':
			class = true
		case ']':
			class = false
		}
		if c != '\\' || i+1 == len(source) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = source[i]; {
		case c == 'u' && i+4 < len(source) && isHex(source[i+1:i+5]):
			b.WriteString(`\x{` + source[i+1:i+5] + `}`)
			i += 4
		case c == 's' && class:
			b.WriteString(white)
		case c == 's':
			b.WriteString("[" + white + "]")
		case c == 'S' && !class:
			b.WriteString("[^" + white + "]")
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 64)
	return err == nil
}

// replacePattern replaces what a pattern matches: the first, or all with g.
func (m *machine) replacePattern(s string, p *pattern, with string, at int) string {
	count := 1
	if p.has("g") {
		count = -1
	}
	m.spendText(len(s))
	var b strings.Builder
	from := 0
	for _, match := range p.compiled.FindAllStringSubmatchIndex(s, count) {
		b.WriteString(s[from:match[0]])
		m.expand(&b, with, s, match, p.compiled, at)
		m.grown(b.Len(), at)
		m.spend(1)
		from = match[1]
	}
	b.WriteString(s[from:])
	return m.made(b.String())
}

// expand writes what stands for a match. After a $ come the number or name of a
// group, & for the whole, ` and ' for what is before and behind, or another $.
func (m *machine) expand(b *strings.Builder, with, s string, match []int, re *regexp.Regexp, at int) {
	group := func(n int) bool {
		if n == 0 || 2*n+1 >= len(match) {
			return false
		}
		if match[2*n] >= 0 {
			b.WriteString(s[match[2*n]:match[2*n+1]])
		}
		return true
	}
	for i := 0; i < len(with); i++ {
		if with[i] != '$' || i+1 == len(with) {
			b.WriteByte(with[i])
			continue
		}
		rest := with[i+1:]
		switch c := rest[0]; {
		case c == '$':
			b.WriteByte('$')
			i++
		case c == '&':
			b.WriteString(s[match[0]:match[1]])
			i++
		case c == '`':
			b.WriteString(s[:match[0]])
			i++
		case c == '\'':
			b.WriteString(s[match[1]:])
			i++
		case isDigit(c) && len(rest) > 1 && isDigit(rest[1]) && group(int(c-'0')*10+int(rest[1]-'0')):
			i += 2
		case isDigit(c) && group(int(c-'0')):
			i++
		default:
			name, _, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
			if c == '<' && ok && group(max(0, re.SubexpIndex(name))) {
				i += len(name) + 2
				break
			}
			b.WriteByte('$')
		}
		m.grown(b.Len(), at)
	}
}

// replaceFirst is the method replace of a text with a text.
func (m *machine) replaceFirst(s, what, with string, at int) string {
	i := strings.Index(s, what)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	m.expand(&b, with, s, []int{i, i + len(what)}, emptyPattern, at)
	b.WriteString(s[i+len(what):])
	return m.made(b.String())
}

var emptyPattern = regexp.MustCompile("")

// splitPattern splits a text where a pattern matches; groups become items.
func (m *machine) splitPattern(s string, p *pattern) []value {
	m.spendText(len(s))
	if s == "" {
		if p.compiled.MatchString("") {
			return nil
		}
		return []value{""}
	}
	var out []value
	from := 0
	for _, match := range p.compiled.FindAllStringSubmatchIndex(s, -1) {
		if match[0] == match[1] && (match[0] == 0 || match[0] == len(s)) || match[1] == 0 {
			continue
		}
		out = append(out, s[from:match[0]])
		for g := 2; g < len(match); g += 2 {
			if match[g] < 0 {
				out = append(out, undefined{})
				continue
			}
			out = append(out, s[match[g]:match[g+1]])
		}
		m.spend(len(match))
		from = match[1]
	}
	return append(out, s[from:])
}

package expression

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// pattern is a regular expression.
type pattern struct {
	source, flags string
	compiled      *regexp.Regexp
	// size is the number of instructions.
	size int
}

func (p *pattern) has(flag string) bool { return strings.Contains(p.flags, flag) }

// newPattern compiles a regular expression of JavaScript, as far as RE2 is equivalent:
// matching takes time linear in the text, regardless of the pattern.
func newPattern(source, flags string, at int, r *reading) *pattern {
	const most = 16384
	if len(source) > most {
		bail(at, "make it shorter", "the regular expression has more than %d characters", most)
	}
	if strings.Contains(flags, "y") {
		bail(at, "start the expression with ^", "regular expression flag y is not supported")
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
	whole := options + translate(source)
	size := instructions(whole)
	if r.instructions += size; r.instructions > mostInstructions {
		bail(at, "use fewer or smaller repetitions", "the regular expressions have too many repetitions")
	}
	compiled, err := regexp.Compile(whole)
	if err != nil {
		hint := ""
		if strings.Contains(source, "(?=") || strings.Contains(source, "(?!") || strings.Contains(source, "(?<") {
			hint = "remove look-ahead and look-behind, which are not supported"
		}
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		bail(at, hint, "cannot read the regular expression: %s", why)
	}
	return &pattern{source, flags, compiled, size}
}

// instructions returns the approximate number of RE2 instructions of a pattern, with
// repetitions expanded; 0 if it cannot be parsed.
func instructions(source string) int {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return 0
	}
	return compiledSize(parsed)
}

// compiledSize counts the instructions of a part of a pattern.
func compiledSize(re *syntax.Regexp) int {
	n := 1 + len(re.Sub) + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += compiledSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// seek counts the work of searching a pattern in a text: at worst each character is
// matched against each instruction.
func (m *machine) seek(p *pattern, s string) {
	const perStep = 64
	m.spendText(len(s))
	m.spend(len(s) * p.size / perStep)
}

// find returns the matches of a pattern in a text with their groups, at most the given
// number unless it is negative.
func (m *machine) find(p *pattern, s string, most int) [][]int {
	m.seek(p, s)
	each := 1 + p.compiled.NumSubexp()
	if left := (m.limits.Steps-m.steps)/each + 1; most < 0 || most > left {
		most = left
	}
	found := p.compiled.FindAllStringSubmatchIndex(s, most)
	m.spend(len(found) * each)
	return found
}

// white is JavaScript's white space, for use within a class.
const white = `\s\v\p{Z}\x{FEFF}`

// translate converts JavaScript syntax that RE2 writes differently.
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

// replacePattern replaces the first match of a pattern, or all with the flag g.
func (m *machine) replacePattern(s string, p *pattern, with string, at int) string {
	count := 1
	if p.has("g") {
		count = -1
	}
	var b strings.Builder
	from := 0
	for _, match := range m.find(p, s, count) {
		b.WriteString(s[from:match[0]])
		m.expand(&b, with, s, match, p.compiled, at)
		m.grown(b.Len(), at)
		from = match[1]
	}
	b.WriteString(s[from:])
	return m.made(b.String())
}

// expand writes the replacement of a match. A $ is followed by the number or name of a
// group, & for the whole match, ` and ' for the text before and after it, or another $.
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

// replaceFirst implements the method replace of a text with a text.
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

// splitPattern splits a text at the matches of a pattern; groups become items.
func (m *machine) splitPattern(s string, p *pattern) []value {
	if s == "" {
		if p.compiled.MatchString("") {
			return nil
		}
		return []value{""}
	}
	var out []value
	from := 0
	for _, match := range m.find(p, s, -1) {
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

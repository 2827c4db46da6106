package values

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// pattern is a regular expression of JavaScript.
type pattern struct {
	// linear is set if RE2 can say the same: it needs time in proportion to the
	// text. The other one tries again and again, but can look around.
	linear *regexp.Regexp
	trying *regexp2.Regexp
	err    error
}

// How long a pattern may try one text, and all patterns of one Check together.
const (
	matchTime = 250 * time.Millisecond
	checkTime = 2 * time.Second
)

// matches reports whether a pattern is found in a text.
func (c *checker) matches(f frame, name, source, s string) bool {
	p := c.patterns[source]
	if p == nil {
		if c.patterns == nil {
			c.patterns = map[string]*pattern{}
		}
		p = newPattern(source)
		c.patterns[source] = p
	}
	if p.err != nil {
		c.senseless(f, name, "the pattern cannot be read")
		return true
	}
	if p.linear != nil {
		// Reading a long text is many steps.
		const bytes = 32
		c.spend(f, len(s)/bytes)
		return p.linear.MatchString(s)
	}
	if c.patience == nil {
		c.patience, c.lost = context.WithTimeout(context.Background(), checkTime)
	}
	found, err := p.try(s)
	if err != nil || c.patience.Err() != nil {
		c.senseless(f, name, "the pattern takes too long")
		return true
	}
	return found
}

func newPattern(source string) *pattern {
	const most = 16384
	if len(source) > most {
		return &pattern{err: fmt.Errorf("it has more than %d characters", most)}
	}
	if re2, ok := translate(source); ok {
		if compiled, err := regexp.Compile(re2); err == nil {
			return &pattern{linear: compiled}
		}
	}
	compiled, err := compile(source)
	if err != nil {
		return &pattern{err: err}
	}
	compiled.MatchTimeout = matchTime
	return &pattern{trying: compiled}
}

// compile reads a pattern as JavaScript does: first strictly, then forgivingly.
func compile(source string) (compiled *regexp2.Regexp, err error) {
	// What comes from outside must not end the process, whatever it makes of the
	// library.
	defer func() {
		if p := recover(); p != nil {
			compiled, err = nil, fmt.Errorf("cannot read pattern: %v", p)
		}
	}()
	compiled, err = regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		compiled, err = regexp2.Compile(source, regexp2.ECMAScript)
	}
	return compiled, err
}

func (p *pattern) try(s string) (found bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = false, fmt.Errorf("cannot match pattern: %v", p)
		}
	}()
	return p.trying.MatchString(s)
}

// white is JavaScript's white space, and line what ends a line, within a class.
const (
	white = `\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	line  = `\n\r\x{2028}\x{2029}`
)

// translate writes a pattern for RE2, and false if it has anything that the two
// might read differently.
func translate(source string) (string, bool) {
	var b strings.Builder
	class := false
	for i := 0; i < len(source); i++ {
		switch ch := source[i]; {
		case ch == '\\':
			i++
			if i == len(source) {
				return "", false
			}
			escape, ok := translateEscape(source[i], class)
			if !ok {
				return "", false
			}
			b.WriteString(escape)
		case class && ch == '[':
			b.WriteString(`\[`)
		case class:
			class = ch != ']'
			b.WriteByte(ch)
		case ch == '[':
			class = true
			b.WriteByte(ch)
			if strings.HasPrefix(source[i+1:], "^") {
				i++
				b.WriteByte('^')
			}
			// An empty class is nothing, or anything, to JavaScript.
			if strings.HasPrefix(source[i+1:], "]") {
				return "", false
			}
		case ch == '.':
			b.WriteString("[^" + line + "]")
		case ch == '(' && strings.HasPrefix(source[i+1:], "?") && !strings.HasPrefix(source[i+1:], "?:"):
			return "", false
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), !class
}

// translateEscape writes what a backslash before a character means.
func translateEscape(ch byte, class bool) (string, bool) {
	switch {
	case ch == 's' && class:
		return white, true
	case ch == 's':
		return "[" + white + "]", true
	case ch == 'S' && !class:
		return "[^" + white + "]", true
	case (ch == 'b' || ch == 'B') && !class, strings.IndexByte("dDwWnrtfv", ch) >= 0,
		ch < 0x80 && strings.IndexByte(`^$\.*+?()[]{}|/-_"'#%&,:;<=>@!~`+"` ", ch) >= 0:
		return `\` + string(rune(ch)), true
	}
	return "", false
}

package validation

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// pattern is a JavaScript regular expression.
type pattern struct {
	// linear is set if RE2 supports the pattern: it takes time proportional to the text.
	// trying backtracks, but supports lookaround.
	linear *regexp.Regexp
	trying *regexp2.Regexp
	// size is the number of instructions of linear.
	size int
	err  error
}

const (
	// mostSource is the maximum length of a pattern.
	mostSource = 16384
	// mostTried is the maximum length of a text for a pattern that backtracks, which
	// takes memory for every character of it.
	mostTried = 64 << 10
	// matchTime is the timeout of such a pattern for one text.
	matchTime = 250 * time.Millisecond
)

// matches reports whether a pattern is found in a text.
func (c *checker) matches(f frame, name, source, s string) bool {
	p := c.pattern(f, source)
	if c.done() {
		return true
	}
	if p.err != nil {
		c.senseless(f, name, "the pattern is invalid")
		return true
	}
	if p.linear != nil {
		return c.found(f, p, s)
	}
	c.spend(f, 1)
	if c.spendText(f, len(s)); c.done() {
		return true
	}
	if len(s) > mostTried {
		c.senseless(f, name, "the text is too long for a pattern with lookaround or backreferences")
		return true
	}
	if c.budget.wait() {
		found, err := p.try(s)
		if err == nil && c.budget.wait() {
			return found
		}
		c.budget.giveUp()
	}
	c.senseless(f, name, "the pattern takes too long")
	return true
}

// found reports whether a linear pattern is found in a text.
func (c *checker) found(f frame, p *pattern, s string) bool {
	// In the worst case each character is compared with each instruction.
	const perStep = 64
	c.spend(f, 1+len(s)*p.size/perStep)
	return c.done() || p.linear.MatchString(s)
}

// pattern returns the compiled pattern of a source, cached for all checks of a
// budget.
func (c *checker) pattern(f frame, source string) *pattern {
	b := c.budget
	if p := b.patterns[source]; p != nil {
		return p
	}
	if b.patterns == nil {
		b.patterns = map[string]*pattern{}
	}
	p := newPattern(source, func(steps int) bool {
		c.spend(f, steps)
		return !b.exhausted()
	})
	b.patterns[source] = p
	return p
}

var errTooLarge = errors.New("pattern takes too many steps to compile")

// newPattern compiles a pattern. It calls spend for the cost of each stage before it
// continues.
func newPattern(source string, spend func(steps int) bool) *pattern {
	if len(source) > mostSource {
		return &pattern{err: fmt.Errorf("pattern has more than %d characters", mostSource)}
	}
	if !spend(1 + len(source)) {
		return &pattern{err: errTooLarge}
	}
	if re2, ok := translate(source); ok {
		size := instructions(re2)
		if !spend(2 * size) {
			return &pattern{err: errTooLarge}
		}
		if compiled, err := regexp.Compile(re2); err == nil {
			return &pattern{linear: compiled, size: size}
		}
	}
	compiled, err := compile(source)
	if err != nil {
		return &pattern{err: err}
	}
	compiled.MatchTimeout = matchTime
	return &pattern{trying: compiled}
}

// instructions estimates the number of RE2 instructions of a pattern; 0 if RE2 cannot
// parse it. Repetitions are expanded, which may yield a thousand instructions per
// character.
func instructions(source string) int {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return 0
	}
	return written(parsed)
}

// written counts the instructions of a part of a pattern.
func written(re *syntax.Regexp) int {
	n := 1 + len(re.Sub) + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += written(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// compile parses a pattern as JavaScript does: first strictly, then leniently.
func compile(source string) (compiled *regexp2.Regexp, err error) {
	// Untrusted input must not crash the process, even if the library panics.
	defer func() {
		if p := recover(); p != nil {
			compiled, err = nil, fmt.Errorf("cannot compile pattern: %v", p)
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

// white is JavaScript's white space, and line its line terminators, for use in a
// character class.
const (
	white = `\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	line  = `\n\r\x{2028}\x{2029}`
)

// translate returns a pattern in RE2 syntax, and false if it contains anything that
// the two might interpret differently.
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
			// In JavaScript an empty class matches nothing, or anything if it is negated.
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

// translateEscape returns the RE2 form of a backslash followed by a character.
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

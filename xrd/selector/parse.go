package selector

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/words"
)

// Parse parses a label selector as Kubernetes does: terms separated by commas,
// all of which must hold, each one of
//
//	key  !key  key=value  key==value  key!=value
//	key in (a,b)  key notin (a,b)  key>1  key<1
//
// with white space anywhere between words and signs. Keys and values must be valid for
// labels. Keys may be in either vocabulary. An empty selector selects everything.
func Parse(s string) (Selector, error) { return parse(s, false) }

// ParseAnnotations parses a selector for annotations. The grammar is that of
// labels, but an annotation's value is free text: after =, == and != it extends to the
// next comma, inside parentheses to the next comma or closing parenthesis, and
// surrounding white space is ignored. So a value with a comma cannot be selected, and
// quotes have no meaning.
func ParseAnnotations(s string) (Selector, error) { return parse(s, true) }

func parse(s string, free bool) (Selector, error) {
	p := parser{text: s, free: free}
	terms, err := p.terms()
	if err != nil {
		return Selector{}, fmt.Errorf("cannot read selector %q: %w", s, err)
	}
	return newSelector(terms), nil
}

type parser struct {
	text string
	at   int
	free bool // values are free text
}

func (p *parser) terms() ([]term, error) {
	p.space()
	if p.at == len(p.text) {
		return nil, nil
	}
	var out []term
	for {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		p.space()
		if p.at == len(p.text) {
			return out, nil
		}
		if !p.take(",") {
			return nil, p.expected("a comma or the end")
		}
	}
}

func (p *parser) term() (term, error) {
	p.space()
	absent := p.take("!")
	key, err := p.key()
	if err != nil {
		return term{}, err
	}
	p.space()
	if absent {
		return term{key: key, op: opAbsent}, nil
	}
	switch {
	case p.at == len(p.text) || p.text[p.at] == ',':
		return term{key: key, op: opExists}, nil
	case p.take("=="), p.take("="):
		return p.exact(key, opIn)
	case p.take("!="):
		return p.exact(key, opNotIn)
	case p.take(">"):
		return p.number(key, opAbove)
	case p.take("<"):
		return p.number(key, opBelow)
	}
	start := p.at
	switch p.word() {
	case "in":
		return p.set(key, opIn)
	case "notin":
		return p.set(key, opNotIn)
	}
	p.at = start
	return term{}, p.expected("=, ==, !=, in, notin, < or >")
}

// key parses a key and translates it into the contract's vocabulary.
func (p *parser) key() (string, error) {
	p.space()
	start := p.at
	key := p.word()
	if key == "" {
		return "", p.expected("a key")
	}
	if why := badKey(key); why != "" {
		return "", p.wrong(start, "key %q %s", key, why)
	}
	return words.In(words.Key, key), nil
}

// exact parses the value after a sign; a missing value is empty.
func (p *parser) exact(key string, op operator) (term, error) {
	value, err := p.value(",")
	return term{key: key, op: op, values: []string{value}}, err
}

func (p *parser) number(key string, op operator) (term, error) {
	p.space()
	start := p.at
	t, err := p.exact(key, op)
	if err != nil {
		return t, err
	}
	if _, err := strconv.ParseInt(t.values[0], 10, 64); err != nil {
		return t, p.wrong(start, "%q is not a whole number", t.values[0])
	}
	return t, nil
}

// set parses values in parentheses; a missing value between two commas is empty.
func (p *parser) set(key string, op operator) (term, error) {
	p.space()
	if !p.take("(") {
		return term{}, p.expected("an opening parenthesis")
	}
	p.space()
	if strings.HasPrefix(p.text[p.at:], ")") {
		return term{}, p.expected("a value")
	}
	t := term{key: key, op: op}
	for {
		value, err := p.value(",)")
		if err != nil {
			return term{}, err
		}
		t.values = append(t.values, value)
		p.space()
		if p.take(")") {
			break
		}
		if !p.take(",") {
			return term{}, p.expected("a comma or a closing parenthesis")
		}
	}
	slices.Sort(t.values)
	t.values = slices.Compact(t.values)
	return t, nil
}

// value parses a value, which in free text extends to one of the ends.
func (p *parser) value(ends string) (string, error) {
	p.space()
	start := p.at
	if p.free {
		n := strings.IndexAny(p.text[p.at:], ends)
		if n < 0 {
			n = len(p.text) - p.at
		}
		p.at += n
		return strings.Trim(p.text[start:p.at], blanks), nil
	}
	value := p.word()
	if why := badName(value); value != "" && why != "" {
		return "", p.wrong(start, "value %q %s", value, why)
	}
	if value == "" && p.at < len(p.text) && !strings.ContainsRune(ends, rune(p.text[p.at])) {
		return "", p.expected("a value")
	}
	return value, nil
}

// The characters that separate words, and the signs that end them.
const (
	blanks = " \t\r\n"
	signs  = "=!(),<>"
)

// word reads up to white space or a sign.
func (p *parser) word() string {
	start := p.at
	n := strings.IndexAny(p.text[p.at:], blanks+signs)
	if n < 0 {
		n = len(p.text) - p.at
	}
	p.at += n
	return p.text[start:p.at]
}

func (p *parser) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], blanks))
}

func (p *parser) take(sign string) bool {
	if !strings.HasPrefix(p.text[p.at:], sign) {
		return false
	}
	p.at += len(sign)
	return true
}

// expected returns an error about what was expected at the current position, and what
// was found.
func (p *parser) expected(what string) error {
	if p.at == len(p.text) {
		return p.wrong(p.at, "expected %s, found the end", what)
	}
	start := p.at
	found := p.word()
	if found == "" {
		_, size := utf8.DecodeRuneInString(p.text[start:])
		found = p.text[start : start+size]
	}
	return p.wrong(start, "expected %s, found %q", what, found)
}

func (p *parser) wrong(at int, format string, args ...any) error {
	column := utf8.RuneCountInString(p.text[:at]) + 1
	return fmt.Errorf("column %d: %s", column, fmt.Sprintf(format, args...))
}

// badKey returns why s is not a valid label key; "" if it is.
func badKey(s string) string {
	prefix, name, ok := strings.Cut(s, "/")
	if !ok {
		return badName(s)
	}
	if strings.Contains(name, "/") {
		return "has more than one slash"
	}
	if prefix == "" || len(prefix) > 253 {
		return "needs a prefix of 1 to 253 characters before the slash"
	}
	for part := range strings.SplitSeq(prefix, ".") {
		if part == "" || strings.Trim(part, lowers+digits+"-") != "" || part[0] == '-' || part[len(part)-1] == '-' {
			return "has a prefix that is not a domain name in lower case"
		}
	}
	return badName(name)
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	inner  = "-_."
)

// badName returns why s is not a valid label name or value; "" if it is.
func badName(s string) string {
	if s == "" {
		return "has an empty name"
	}
	if len(s) > 63 {
		return fmt.Sprintf("is %d characters long, more than 63", len(s))
	}
	if strings.Trim(strings.ToLower(s), lowers+digits+inner) != "" || !isASCII(s) {
		return "may hold only letters, digits, '-', '_' and '.'"
	}
	if strings.IndexByte(inner, s[0]) >= 0 || strings.IndexByte(inner, s[len(s)-1]) >= 0 {
		return "must begin and end with a letter or digit"
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"example.dev/ingestor/internal/rest"
)

// maxFields is how many fields a request may choose.
const maxFields = 250

// Fields are the parts of an entity that a client wants; the zero value is the whole
// entity.
type Fields struct {
	// ways are the paths to them, such as "metadata.name".
	ways []string
	// roots is how many top-level fields of the entity the paths begin with.
	roots int
}

// NewFields reads the parameter fields.
func NewFields(items []string) (Fields, error) {
	if len(items) > maxFields {
		return Fields{}, rest.Input("invalid fields, more than %d given", maxFields)
	}
	roots := map[string]bool{}
	for _, f := range items {
		if strings.Contains(f, "[") {
			return Fields{}, rest.Input("invalid fields, array type fields are not supported")
		}
		root, _, _ := strings.Cut(f, ".")
		roots[root] = true
	}
	return Fields{ways: items, roots: len(roots)}, nil
}

// All reports whether the whole entity is wanted.
func (f Fields) All() bool { return len(f.ways) == 0 }

// Ways returns the paths to the parts, as the client wrote them. They must not be
// changed.
func (f Fields) Ways() []string { return f.ways }

// errNotJSON is the error for a stored entity that is not a JSON object.
var errNotJSON = errors.New("cannot select fields of an entity: not a JSON object")

// Project appends an entity, or the part of it that the fields choose, in its stored
// order. Fields that do not exist are left out.
func (f Fields) Project(dst, entity []byte) ([]byte, error) {
	if f.All() {
		return append(dst, entity...), nil
	}
	p := projector{dst: dst, src: entity}
	if !p.object(f.ways, f.roots) {
		return dst, errNotJSON
	}
	return p.dst, nil
}

// projector copies parts of JSON without decoding it. All its methods that return false
// have found invalid JSON.
type projector struct {
	dst, src []byte
	i        int
}

// object copies the fields of an object that the paths lead to. A key may contain dots,
// so a path is tried with each key that is a prefix of it. If stop is not 0, the rest
// is not read once that many keys without dots have matched.
func (p *projector) object(ways []string, stop int) bool {
	if !p.take('{') {
		return false
	}
	p.dst = append(p.dst, '{')
	first := len(p.dst)
	for p.space(); !p.next('}'); p.space() {
		from := p.i
		key, ok := p.key()
		if !ok {
			return false
		}
		keep := len(p.dst)
		if keep > first {
			p.dst = append(p.dst, ',')
		}
		whole, rest := choose(ways, key)
		p.dst = append(p.dst, p.src[from:p.i]...)
		if p.space(); !p.take(':') {
			return false
		}
		p.dst = append(p.dst, ':')
		p.space()
		found, ok := p.value(whole, rest)
		if !ok {
			return false
		}
		if !found {
			p.dst = p.dst[:keep]
		}
		if (whole || len(rest) > 0) && bytes.IndexByte(key, '.') < 0 {
			if stop--; stop == 0 {
				break
			}
		}
		if p.space(); !p.next(',') {
			continue
		}
		if p.i++; !p.another() {
			return false
		}
	}
	p.i++
	p.dst = append(p.dst, '}')
	return true
}

// another reports whether a key follows, as it must after a comma.
func (p *projector) another() bool {
	p.space()
	return p.next('"')
}

// value copies a value, wholly or only what the paths lead to.
func (p *projector) value(whole bool, ways []string) (found, ok bool) {
	from := p.i
	if !whole && len(ways) > 0 && p.next('{') {
		start := len(p.dst)
		ok := p.object(ways, 0)
		return len(p.dst) > start+2, ok
	}
	if !p.skip() {
		return false, false
	}
	if whole {
		p.dst = append(p.dst, p.src[from:p.i]...)
	}
	return whole, true
}

// choose returns whether one of the paths ends at the key, and the remainders of those
// that lead through it.
func choose(ways []string, key []byte) (whole bool, rest []string) {
	for _, w := range ways {
		if len(w) < len(key) || w[:len(key)] != string(key) {
			continue
		}
		if len(w) == len(key) {
			return true, nil
		}
		if w[len(key)] == '.' {
			rest = append(rest, w[len(key)+1:])
		}
	}
	return false, rest
}

func (p *projector) space() {
	for p.i < len(p.src) && (p.src[p.i] == ' ' || p.src[p.i] == '\n' || p.src[p.i] == '\t' || p.src[p.i] == '\r') {
		p.i++
	}
}

// next reports whether the next character is c.
func (p *projector) next(c byte) bool { return p.i < len(p.src) && p.src[p.i] == c }

func (p *projector) take(c byte) bool {
	if !p.next(c) {
		return false
	}
	p.i++
	return true
}

// key skips a string and returns its value.
func (p *projector) key() ([]byte, bool) {
	from := p.i
	if !p.text() {
		return nil, false
	}
	raw := p.src[from:p.i]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return []byte(s), err == nil
}

// text skips a string.
func (p *projector) text() bool {
	if !p.take('"') {
		return false
	}
	from := p.i
	for {
		n := bytes.IndexByte(p.src[p.i:], '"')
		if n < 0 {
			return false
		}
		p.i += n + 1
		// A quote after an odd number of backslashes is part of the string.
		last := p.i - 2
		for last >= from && p.src[last] == '\\' {
			last--
		}
		if (p.i-2-last)%2 == 0 {
			return true
		}
	}
}

// skip skips a value. Stored entities are valid JSON, so that only brackets and quotes
// matter.
func (p *projector) skip() bool {
	switch {
	case p.next('"'):
		return p.text()
	case p.next('{'), p.next('['):
		return p.nested()
	}
	from := p.i
	for p.i < len(p.src) && !ends[p.src[p.i]] {
		p.i++
	}
	return p.i > from
}

// nested skips an object or a list.
func (p *projector) nested() bool {
	depth := 0
	for p.i < len(p.src) {
		switch p.src[p.i] {
		case '"':
			if !p.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				p.i++
				return true
			}
		}
		p.i++
	}
	return false
}

// ends are the characters that end a number or a literal.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\t': true, '\r': true}

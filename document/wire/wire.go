// Package wire decodes machine-generated JSON, such as the responses of an API server. It
// is several times as fast as package parser, and its nodes have no positions.
package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/syntax"
	"example.dev/ingestor/document/tree"
)

// Decoder decodes machine-generated JSON. The zero Decoder omits nothing.
type Decoder struct {
	// Bytes, Depth and Values limit each value: its size, how deep its maps and lists are
	// nested, and the number of values in it. Zero means 16 MiB, 100 and
	// 1,000,000.
	Bytes, Depth, Values int
	// Omit lists the parts of an object's metadata to skip. Each is a path of keys; a list
	// on the path means each of its items.
	Omit [][]string
}

// errWire is returned for JSON that is truncated or invalid.
var errWire = errors.New("invalid or incomplete JSON")

// Decode parses one value.
func (w Decoder) Decode(data []byte) (*tree.Node, error) { return w.DecodeText(string(data)) }

// DecodeText is Decode for a string, whose memory the nodes share.
func (w Decoder) DecodeText(data string) (*tree.Node, error) {
	if most := cmp.Or(w.Bytes, 16<<20); len(data) > most {
		return nil, fmt.Errorf("document is larger than %s", syntax.Size(most))
	}
	p := w.scan(data)
	n, err := p.value(1, nil)
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.s) {
		return nil, fmt.Errorf("%w: unexpected text after the value", errWire)
	}
	return n, nil
}

func (w Decoder) scan(s string) *scanner {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return &scanner{s: s, depth: cmp.Or(w.Depth, 100), most: cmp.Or(w.Values, 1_000_000), omit: w.Omit}
}

// scanner is the state of decoding one text.
type scanner struct {
	s    string
	i    int
	omit [][]string
	// depth and most are the limits of depth and values; values counts the values read.
	depth, most, values int
	// cuts are the ranges of an item to omit.
	cuts  [][2]int
	maker tree.Maker
	// fields and items are stacks for the maps and lists that are not complete.
	fields []tree.Field
	items  []*tree.Node
}

func (p *scanner) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\n' || p.s[p.i] == '\t' || p.s[p.i] == '\r') {
		p.i++
	}
}

// take reads one of the wanted characters, which must be next after white space.
func (p *scanner) take(wanted string) (byte, error) {
	p.space()
	if p.i == len(p.s) || strings.IndexByte(wanted, p.s[p.i]) < 0 {
		return 0, p.bad()
	}
	p.i++
	return p.s[p.i-1], nil
}

func (p *scanner) bad() error {
	if p.i >= len(p.s) {
		return fmt.Errorf("%w: unexpected end after %d bytes", errWire, len(p.s))
	}
	return fmt.Errorf("%w: unexpected byte at offset %d", errWire, p.i)
}

// value parses a value without the parts to omit.
func (p *scanner) value(depth int, omit [][]string) (*tree.Node, error) {
	if p.space(); p.i == len(p.s) {
		return nil, p.bad()
	}
	if p.values++; p.values > p.most {
		return nil, fmt.Errorf("document has more than %d values", p.most)
	}
	switch c := p.s[p.i]; c {
	case '{', '[':
		if depth > p.depth {
			return nil, fmt.Errorf("maps and lists are nested more than %d levels deep", p.depth)
		}
		if c == '[' {
			return p.list(depth, omit)
		}
		return p.object(func(key string) (*tree.Node, error) {
			if depth == 1 && key == "metadata" {
				return p.value(depth+1, p.omit)
			}
			whole, rest := below(omit, key)
			if whole {
				return nil, p.skip()
			}
			return p.value(depth+1, rest)
		})
	case '"':
		s, err := p.text()
		if err != nil {
			return nil, err
		}
		return p.maker.Str(s), nil
	}
	return p.scalar()
}

// object parses a map, whose values are parsed by field; a nil value is left out.
func (p *scanner) object(field func(key string) (*tree.Node, error)) (*tree.Node, error) {
	if _, err := p.take("{"); err != nil {
		return nil, err
	}
	from := len(p.fields)
	defer func() { p.fields = p.fields[:from] }()
	if p.space(); p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return p.maker.Map(0), nil
	}
	for {
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if _, err := p.take(":"); err != nil {
			return nil, err
		}
		v, err := field(key)
		if err != nil {
			return nil, err
		}
		if v != nil {
			p.fields = append(p.fields, tree.Field{Key: key, Value: v})
		}
		c, err := p.take(",}")
		if err != nil {
			return nil, err
		}
		if c == '}' {
			break
		}
	}
	n := p.maker.Map(len(p.fields) - from)
	var seen tree.Index
	for _, f := range p.fields[from:] {
		// Of a duplicate key the last value counts, as in a cluster.
		if i := seen.Find(n, f.Key); i >= 0 {
			n.Fields[i].Value = f.Value
			continue
		}
		n.Fields = append(n.Fields, f)
	}
	return n, nil
}

func (p *scanner) list(depth int, omit [][]string) (*tree.Node, error) {
	from := len(p.items)
	defer func() { p.items = p.items[:from] }()
	err := p.elements(func() error {
		v, err := p.value(depth+1, omit)
		p.items = append(p.items, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := p.maker.Node()
	n.Kind, n.Items = tree.List, append([]*tree.Node(nil), p.items[from:]...)
	return n, nil
}

// elements parses a list, whose elements are parsed by each.
func (p *scanner) elements(each func() error) error {
	if _, err := p.take("["); err != nil {
		return err
	}
	if p.space(); p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return nil
	}
	for {
		p.space()
		if err := each(); err != nil {
			return err
		}
		c, err := p.take(",]")
		if err != nil || c == ']' {
			return err
		}
	}
}

// quoted returns the next string in its source form, including quotes, and whether it
// contains escapes.
func (p *scanner) quoted() (raw string, escaped bool, err error) {
	if _, err := p.take(`"`); err != nil {
		return "", false, err
	}
	from := p.i
	for {
		n := strings.IndexByte(p.s[p.i:], '"')
		if n < 0 {
			p.i = len(p.s)
			return "", false, p.bad()
		}
		p.i += n + 1
		// A quote after an odd number of backslashes is part of the string.
		slashes := 0
		for i := p.i - 2; i >= from && p.s[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 0 {
			break
		}
	}
	raw = p.s[from-1 : p.i]
	return raw, strings.IndexByte(raw, '\\') >= 0, nil
}

// isPlain reports whether a string in its source form contains no character that JSON
// requires to be escaped.
func isPlain(raw string) bool {
	for i := range len(raw) {
		if raw[i] < ' ' {
			return false
		}
	}
	return true
}

func (p *scanner) text() (string, error) {
	raw, escaped, err := p.quoted()
	if err != nil {
		return "", err
	}
	if !isPlain(raw) {
		return "", fmt.Errorf("%w: control character in a string before offset %d", errWire, p.i)
	}
	if !escaped {
		return raw[1 : len(raw)-1], nil
	}
	if s, ok := unescape(raw[1 : len(raw)-1]); ok {
		return s, nil
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return "", fmt.Errorf("%w: invalid string before offset %d", errWire, p.i)
	}
	return s, nil
}

// unescape replaces single-character escapes. It returns false if there are others.
func unescape(s string) (string, bool) {
	if !utf8.ValidString(s) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.IndexByte(s, '\\')
		if at < 0 {
			b.WriteString(s)
			return b.String(), true
		}
		if at+1 == len(s) {
			return "", false
		}
		which := strings.IndexByte(`"\/bfnrt`, s[at+1])
		if which < 0 {
			return "", false
		}
		b.WriteString(s[:at])
		b.WriteByte("\"\\/\b\f\n\r\t"[which])
		s = s[at+2:]
	}
}

func (p *scanner) scalar() (*tree.Node, error) {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte(",]} \n\t\r", p.s[p.i]) < 0 {
		p.i++
	}
	n := p.maker.Node()
	n.Plain = true
	switch word := p.s[from:p.i]; word {
	case "null":
	case "true", "false":
		n.Kind, n.Text = tree.Bool, word
	default:
		number, err := tree.ParseNumber(word)
		if err != nil || !json.Valid([]byte(word)) {
			p.i = from
			return nil, p.bad()
		}
		n.Kind, n.Text = number.Kind, number.Text
	}
	return n, nil
}

// skip skips a value and checks only its brackets and strings.
func (p *scanner) skip() error {
	if p.space(); p.i == len(p.s) {
		return p.bad()
	}
	if c := p.s[p.i]; c != '{' && c != '[' && c != '"' {
		_, err := p.scalar()
		return err
	}
	for open := 0; p.i < len(p.s); {
		switch p.s[p.i] {
		case '"':
			if _, _, err := p.quoted(); err != nil {
				return err
			}
		case '{', '[':
			open++
			p.i++
		case '}', ']':
			open--
			p.i++
		default:
			p.i++
		}
		if open == 0 {
			return nil
		}
	}
	return p.bad()
}

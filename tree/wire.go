package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Wire reads JSON as machines send it to one another: many objects at once,
// nobody to be told a line and column. It is several times as fast as Decode,
// and its nodes have no positions.
type Wire struct {
	// Limits bound each value; Aliased is not used.
	Limits Limits
	// Omit is the key of a part of an object's metadata that is passed over;
	// empty means none.
	Omit string
}

// errWire is JSON that ends too early or is none.
var errWire = errors.New("it is not complete JSON")

// Decode reads one value.
func (w Wire) Decode(data []byte) (*Node, error) { return w.DecodeText(string(data)) }

// DecodeText is Decode for text, which the nodes share.
func (w Wire) DecodeText(data string) (*Node, error) {
	if most := w.Limits.withDefaults().Bytes; len(data) > most {
		return nil, fmt.Errorf("it is larger than %s", size(most))
	}
	p := w.parser(data)
	n, err := p.value(1)
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.s) {
		return nil, fmt.Errorf("%w: something follows it", errWire)
	}
	return n, nil
}

// List takes apart a list of objects as an API server sends it: it calls yield
// for each of its items, which are not decoded yet, so that one that cannot be
// costs no other its place, and returns the rest of the list. What is to be
// omitted is null in them already, so that nobody keeps it in memory, and none
// keeps the others there. A list that is cut off is an error, after the items
// that are whole.
func (w Wire) List(data []byte, yield func(item string)) (*Node, error) {
	p := w.parser(string(data))
	return p.object(1, func(key string) (*Node, error) {
		if p.space(); key != "items" || p.i == len(p.s) || p.s[p.i] != '[' {
			return p.value(2)
		}
		return nil, p.elements(func() error {
			from := p.i
			cut, end, err := p.outline()
			switch {
			case err != nil:
				return err
			case cut == end:
				yield(strings.Clone(p.s[from:p.i]))
			default:
				yield(p.s[from:cut] + "null" + p.s[end:p.i])
			}
			return nil
		})
	})
}

// outline passes over a value and returns where in it the part to omit is.
func (p *wire) outline() (cut, end int, err error) {
	if p.omit == "" || p.i == len(p.s) || p.s[p.i] != '{' {
		return 0, 0, p.skip()
	}
	_, err = p.object(1, func(key string) (*Node, error) {
		if p.space(); key != "metadata" || p.i == len(p.s) || p.s[p.i] != '{' {
			return nil, p.skip()
		}
		return p.object(2, func(key string) (*Node, error) {
			p.space()
			from := p.i
			err := p.skip()
			if key == p.omit && err == nil {
				cut, end = from, p.i
			}
			return nil, err
		})
	})
	return cut, end, err
}

func (w Wire) parser(s string) *wire {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return &wire{s: s, limits: w.Limits.withDefaults(), omit: w.Omit}
}

// wire is where in a text a Wire is.
type wire struct {
	s      string
	i      int
	limits Limits
	omit   string
	// inMetadata says that the object being read is an object's metadata.
	inMetadata bool
	maker      Maker
	// fields and items are those of the maps and lists that are not complete.
	fields []Field
	items  []*Node
}

func (p *wire) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\n' || p.s[p.i] == '\t' || p.s[p.i] == '\r') {
		p.i++
	}
}

// take reads one of the characters, which must be next but for space.
func (p *wire) take(wanted string) (byte, error) {
	p.space()
	if p.i == len(p.s) || strings.IndexByte(wanted, p.s[p.i]) < 0 {
		return 0, p.bad()
	}
	p.i++
	return p.s[p.i-1], nil
}

func (p *wire) bad() error {
	if p.i >= len(p.s) {
		return fmt.Errorf("%w: it ends after %d bytes", errWire, len(p.s))
	}
	return fmt.Errorf("%w: byte %d is unexpected", errWire, p.i)
}

func (p *wire) value(depth int) (*Node, error) {
	if p.space(); p.i == len(p.s) {
		return nil, p.bad()
	}
	switch c := p.s[p.i]; c {
	case '{', '[':
		if depth > p.limits.Depth {
			return nil, fmt.Errorf("maps and lists are nested more than %d deep", p.limits.Depth)
		}
		if c == '[' {
			return p.list(depth)
		}
		return p.object(depth, func(key string) (*Node, error) {
			if depth == 2 && p.inMetadata && key == p.omit {
				return nil, p.skip()
			}
			p.inMetadata = depth == 1 && key == "metadata"
			return p.value(depth + 1)
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

// object reads a map, whose values field reads; one that is nil is left out.
func (p *wire) object(depth int, field func(key string) (*Node, error)) (*Node, error) {
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
		metadata := p.inMetadata
		v, err := field(key)
		p.inMetadata = metadata && depth == 2
		if err != nil {
			return nil, err
		}
		if v != nil {
			p.fields = append(p.fields, Field{Key: key, Value: v})
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
	var seen keySet
	for _, f := range p.fields[from:] {
		// Of a key given twice the last counts, as it does in a cluster.
		if i := seen.find(n, f.Key); i >= 0 {
			n.Fields[i].Value = f.Value
			continue
		}
		n.Fields = append(n.Fields, f)
	}
	return n, nil
}

func (p *wire) list(depth int) (*Node, error) {
	from := len(p.items)
	defer func() { p.items = p.items[:from] }()
	err := p.elements(func() error {
		v, err := p.value(depth + 1)
		p.items = append(p.items, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := p.maker.Node()
	n.Kind, n.Items = List, append([]*Node(nil), p.items[from:]...)
	return n, nil
}

// elements reads a list, whose elements each reads.
func (p *wire) elements(each func() error) error {
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

// quoted returns the next string as it is written, quotes included, and
// whether something in it is escaped.
func (p *wire) quoted() (raw string, escaped bool, err error) {
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
		// A quote after an odd number of backslashes is part of the text.
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

// isPlain reports whether a string as it is written holds no character that
// JSON wants escaped.
func isPlain(raw string) bool {
	for i := range len(raw) {
		if raw[i] < ' ' {
			return false
		}
	}
	return true
}

func (p *wire) text() (string, error) {
	raw, escaped, err := p.quoted()
	if err != nil {
		return "", err
	}
	if !isPlain(raw) {
		return "", fmt.Errorf("%w: a string before byte %d holds a control character", errWire, p.i)
	}
	if !escaped {
		return raw[1 : len(raw)-1], nil
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return "", fmt.Errorf("%w: a string before byte %d is not one", errWire, p.i)
	}
	return s, nil
}

func (p *wire) scalar() (*Node, error) {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte(",]} \n\t\r", p.s[p.i]) < 0 {
		p.i++
	}
	n := p.maker.Node()
	n.Plain = true
	switch word := p.s[from:p.i]; word {
	case "null":
	case "true", "false":
		n.Kind, n.Text = Bool, word
	default:
		number, err := numberNode(word)
		if err != nil || !json.Valid([]byte(word)) {
			p.i = from
			return nil, p.bad()
		}
		n.Kind, n.Text = number.Kind, number.Text
	}
	return n, nil
}

// skip passes over a value, looking only at its brackets and strings.
func (p *wire) skip() error {
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

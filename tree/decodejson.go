package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads the JSON values in doc. An *Error is final; any other error
// says that doc is not JSON.
func decodeJSON(doc []byte, line int, limits Limits) ([]*Node, error) {
	d := &jsonDecoder{dec: json.NewDecoder(bytes.NewReader(doc)), doc: doc, line: line, limits: limits}
	d.dec.UseNumber()
	var out []*Node
	for {
		tok, err := d.dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		n, err := d.value(tok, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
}

type jsonDecoder struct {
	dec    *json.Decoder
	doc    []byte
	limits Limits
	// offset and lineStart are where line, the current one, has been counted to.
	offset, lineStart, line int
}

func (d *jsonDecoder) value(tok json.Token, depth int) (*Node, error) {
	pos := d.pos(tok)
	if depth > d.limits.Depth {
		return nil, tooDeep(pos, d.limits)
	}
	switch t := tok.(type) {
	case nil:
		return &Node{Pos: pos, Plain: true}, nil
	case bool:
		n := Boolean(t)
		n.Pos, n.Plain = pos, true
		return n, nil
	case string:
		return &Node{Kind: String, Text: t, Pos: pos}, nil
	case json.Number:
		n, err := numberNode(t.String())
		if err != nil {
			return nil, &Error{Pos: pos, Msg: err.Error()}
		}
		n.Pos, n.Plain = pos, true
		return n, nil
	case json.Delim:
		if t == '[' {
			return d.list(pos, depth)
		}
		return d.object(pos, depth)
	}
	return nil, fmt.Errorf("unexpected token %v", tok)
}

func (d *jsonDecoder) list(pos Pos, depth int) (*Node, error) {
	n := &Node{Kind: List, Pos: pos}
	for d.dec.More() {
		tok, err := d.dec.Token()
		if err != nil {
			return nil, err
		}
		item, err := d.value(tok, depth+1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
	_, err := d.dec.Token()
	return n, err
}

func (d *jsonDecoder) object(pos Pos, depth int) (*Node, error) {
	n := &Node{Kind: Map, Pos: pos}
	seen := keySet{}
	for d.dec.More() {
		tok, err := d.dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("key %v is not a string", tok)
		}
		keyPos := d.pos(tok)
		if first, dup := seen.add(n, key); dup {
			return nil, duplicateKey(key, keyPos, first)
		}
		if tok, err = d.dec.Token(); err != nil {
			return nil, err
		}
		v, err := d.value(tok, depth+1)
		if err != nil {
			return nil, err
		}
		n.Fields = append(n.Fields, Field{Key: key, Value: v, Pos: keyPos})
	}
	_, err := d.dec.Token()
	return n, err
}

// pos returns where the token just read began. The decoder tells only where
// it ended, which for JSON tokens is on the same line; for a string the column
// is found by looking back for its opening quote.
func (d *jsonDecoder) pos(tok json.Token) Pos {
	end := int(d.dec.InputOffset())
	for i := d.offset; i < end; i++ {
		if d.doc[i] == '\n' {
			d.line++
			d.lineStart = i + 1
		}
	}
	d.offset = end
	start := end - 1
	switch t := tok.(type) {
	case string:
		for start--; start > d.lineStart; start-- {
			if d.doc[start] == '"' && !escaped(d.doc, start) {
				break
			}
		}
	case json.Number:
		start = end - len(t)
	case bool:
		start = end - 4
		if !t {
			start = end - 5
		}
	case nil:
		start = end - 4
	}
	return Pos{Line: d.line, Column: max(start-d.lineStart, 0) + 1}
}

// escaped reports whether the quote at i is part of the string's text.
func escaped(doc []byte, i int) bool {
	n := 0
	for i--; i >= 0 && doc[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// keySet finds duplicate keys: by looking through few, by index through many.
type keySet struct{ index map[string]int }

// add notes key, about to become the next field of n, and returns where it
// stood before, if it did.
func (s *keySet) add(n *Node, key string) (Pos, bool) {
	const few = 16
	if len(n.Fields) < few {
		if f := n.Field(key); f != nil {
			return f.Pos, true
		}
		return Pos{}, false
	}
	if s.index == nil {
		s.index = make(map[string]int, 2*few)
		for i, f := range n.Fields {
			s.index[f.Key] = i
		}
	}
	if i, ok := s.index[key]; ok {
		return n.Fields[i].Pos, true
	}
	s.index[key] = len(n.Fields)
	return Pos{}, false
}

func duplicateKey(key string, pos, first Pos) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("key %q is given twice, first on line %d", key, first.Line),
		Hint: "keep one of the two; Kubernetes would drop one without a word",
	}
}

func tooDeep(pos Pos, limits Limits) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("maps and lists are nested more than %d deep", limits.Depth),
		Hint: "flatten the document",
	}
}

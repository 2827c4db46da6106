package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

// JSON parses the JSON values in doc, which begins at a line and column. It
// returns the values before an error together with the error, or all values together
// with the error about a duplicate key. If verdict is false, doc is not JSON but may be
// YAML.
func JSON(doc []byte, line, column int, limits Limits) (nodes []*tree.Node, err *Error, verdict bool) {
	d := &jsonDecoder{dec: json.NewDecoder(bytes.NewReader(doc)), doc: doc, line: line, column: column - 1, limits: limits}
	d.dec.UseNumber()
	for {
		n, err := d.next()
		if errors.Is(err, io.EOF) || err == nil && len(nodes) > 0 && !limits.more(d.line) {
			return nodes, d.duplicate, d.duplicate != nil
		}
		if err != nil {
			e, verdict := errors.AsType[*Error](err)
			if !verdict {
				e = d.syntaxError(err, line, column)
			}
			return nodes, e, verdict
		}
		nodes = append(nodes, n)
	}
}

type jsonDecoder struct {
	dec    *json.Decoder
	doc    []byte
	limits Limits
	// offset is the byte offset up to which lines and columns have been counted; line and
	// column are that position, column from 0.
	offset, line, column int
	// values counts the values read.
	values int
	// duplicate is the first duplicate key.
	duplicate *Error
}

// next reads a whole value; io.EOF if there is none.
func (d *jsonDecoder) next() (*tree.Node, error) {
	tok, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	n, err := d.value(tok, 1)
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	return n, err
}

func (d *jsonDecoder) value(tok json.Token, depth int) (*tree.Node, error) {
	pos := d.pos(tok)
	if d.values++; d.values > d.limits.Values {
		return nil, tooMany(pos, d.limits)
	}
	switch t := tok.(type) {
	case nil:
		return &tree.Node{Pos: pos, Plain: true}, nil
	case bool:
		n := tree.Boolean(t)
		n.Pos, n.Plain = pos, true
		return n, nil
	case string:
		return &tree.Node{Kind: tree.String, Text: t, Pos: pos}, nil
	case json.Number:
		n, err := tree.ParseNumber(t.String())
		if err != nil {
			return nil, &Error{Pos: pos, Msg: err.Error(), Hint: "quote it to make it a string"}
		}
		n.Pos, n.Plain = pos, true
		return n, nil
	case json.Delim:
		if depth > d.limits.Depth {
			return nil, tooDeep(pos, d.limits)
		}
		if t == '[' {
			return d.list(pos, depth)
		}
		return d.object(pos, depth)
	}
	return nil, fmt.Errorf("unexpected token %v", tok)
}

func (d *jsonDecoder) list(pos tree.Pos, depth int) (*tree.Node, error) {
	n := &tree.Node{Kind: tree.List, Pos: pos}
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

func (d *jsonDecoder) object(pos tree.Pos, depth int) (*tree.Node, error) {
	n := &tree.Node{Kind: tree.Map, Pos: pos}
	seen := tree.Index{}
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
		if tok, err = d.dec.Token(); err != nil {
			return nil, err
		}
		v, err := d.value(tok, depth+1)
		if err != nil {
			return nil, err
		}
		if i := seen.Find(n, key); i >= 0 {
			if d.duplicate == nil {
				d.duplicate = duplicateKey(key, keyPos, n.Fields[i].Pos)
			}
			n.Fields[i].Value, n.Fields[i].Pos = v, keyPos
			continue
		}
		n.Fields = append(n.Fields, tree.Field{Key: key, Value: v, Pos: keyPos})
	}
	_, err := d.dec.Token()
	return n, err
}

// pos returns the start of the token just read. The decoder only reports its end; the
// start of a string is found by searching backwards for its quote.
func (d *jsonDecoder) pos(tok json.Token) tree.Pos {
	end := int(d.dec.InputOffset())
	start := end - 1
	switch t := tok.(type) {
	case string:
		for start--; start > d.offset; start-- {
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
	for _, c := range d.doc[d.offset:start] {
		switch {
		case c == '\n':
			d.line++
			d.column = 0
		case utf8.RuneStart(c):
			d.column++
		}
	}
	d.offset = start
	return Place(d.line, d.column+1)
}

// syntaxError adds a position and a hint to an error of the decoder.
func (d *jsonDecoder) syntaxError(e error, line, column int) *Error {
	at, msg := len(bytes.TrimRight(d.doc, " \t\r\n")), e.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](e); ok {
		// The offset is that of the character, or the one after it if the error is inside a
		// value.
		offset := syntax.Offset
		if offset > d.dec.InputOffset() {
			offset--
		}
		at = min(int(offset), at)
	}
	if errors.Is(e, io.ErrUnexpectedEOF) {
		msg = "unexpected end of input"
	}
	l, c := LineColumn(d.doc, at)
	if l == 1 {
		c += column - 1
	}
	return &Error{Pos: Place(line+l-1, c), Msg: msg, Hint: "check commas, quotes and brackets before this position"}
}

// escaped reports whether the quote at i is part of the string.
func escaped(doc []byte, i int) bool {
	n := 0
	for i--; i >= 0 && doc[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

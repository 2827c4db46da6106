package parser

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"example.dev/ingestor/document/syntax"
	"example.dev/ingestor/document/tree"
)

// parts splits a long list while it is read, so that only one item is in memory. The
// list's fields before its items are added to each part; those after them are lost.
type parts interface {
	// feed takes more text; fresh is true if it begins a line. It returns the text after
	// the list, once the list has ended.
	feed(text []byte, fresh bool) (rest []byte, ended bool)
	// end is called when there is no more text.
	end()
	// stop reports whether the consumer wants no more.
	stop() bool
	// at returns the current line.
	at() int
}

// head is what precedes the items of a list.
type head struct {
	fields []tree.Field
	limits Limits
	yield  func(*tree.Node, *Error) bool
	// stopped is true after yield returned false.
	stopped bool
}

// part yields a parsed item, wrapped in a list of its own.
func (h *head) part(nodes []*tree.Node, bad *Error, isList bool) {
	for i, n := range nodes {
		if !h.limits.Budget.document(int(n.Pos.Line)) {
			h.stopped = true
			return
		}
		list := n
		if !isList {
			list = &tree.Node{Kind: tree.List, Items: []*tree.Node{n}, Pos: n.Pos}
		}
		if len(h.fields) > 0 {
			list = &tree.Node{Kind: tree.Map, Fields: append(slices.Clip(h.fields), tree.Field{Key: itemsKey, Value: list, Pos: list.Pos}), Pos: list.Pos}
		}
		nodes[i] = list
	}
	h.stopped = h.stopped || !syntax.YieldAll(nodes, bad, h.yield)
}

func (h *head) stop() bool { return h.stopped }

func (h *head) fail(pos tree.Pos, hint, format string, args ...any) {
	h.stopped = h.stopped || !h.yield(nil, &Error{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (h *head) tooBig(line, column int) {
	h.fail(syntax.Place(line, column), "split it into several documents", "list item is larger than %s", syntax.Size(h.limits.Bytes))
}

// itemsKey is the key of the items of a list object.
const itemsKey = "items"

// partsOf returns the parts for the list whose text begins with doc on a line, and the
// remaining text for it; nil if it is not a list of objects.
func partsOf(doc []byte, line int, limits Limits, yield func(*tree.Node, *Error) bool) (parts, []byte) {
	text := bytes.TrimLeft(doc, " \t\r\n")
	if syntax.IsMarker(text, "---") {
		text = bytes.TrimLeft(text[3:], " \t\r\n")
	}
	if len(text) == 0 {
		return nil, nil
	}
	h := head{limits: limits, yield: yield}
	at := len(doc) - len(text)
	if text[0] == '[' || text[0] == '{' {
		begin, ok := h.readJSON(text)
		if !ok {
			return nil, nil
		}
		at += begin
		l, c := syntax.LineColumn(doc, at)
		return &jsonParts{head: h, inObject: text[0] == '{', line: line + l - 1, column: c}, doc[at:]
	}
	return h.readYAML(doc, line)
}

// readJSON finds the first item of a JSON list, and keeps the fields before it. YAML
// flow style is not accepted as JSON.
func (h *head) readJSON(text []byte) (begin int, ok bool) {
	if text[0] == '[' {
		return 1, beginsObject(text[1:])
	}
	for i := 1; ; {
		from := i
		key := i + blanks(text[i:])
		i = key + passJSON(text[key:])
		colon := i + blanks(text[i:])
		if i == key || text[key] != '"' || colon >= len(text) || text[colon] != ':' {
			return 0, false
		}
		i = colon + 1 + blanks(text[colon+1:])
		if string(text[key+1:colon]) == itemsKey+`"` && i < len(text) && text[i] == '[' && beginsObject(text[i+1:]) {
			before := append(bytes.TrimSuffix(bytes.TrimSpace(bytes.Clone(text[:from])), []byte(",")), '}')
			nodes, bad, _ := syntax.JSON(before, 1, 1, h.limits.document())
			if bad != nil || len(nodes) != 1 {
				return 0, false
			}
			h.fields = nodes[0].Fields
			return i + 1, true
		}
		value := i
		i += passJSON(text[i:])
		i += blanks(text[i:])
		if i == value || i >= len(text) || text[i] != ',' {
			return 0, false
		}
		i++
	}
}

// blanks returns the length of the white space at the beginning of text.
func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }

// beginsObject reports whether text begins with a JSON object.
func beginsObject(text []byte) bool {
	text = text[blanks(text):]
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = text[1+blanks(text[1:]):]
	return len(text) > 0 && text[0] == '"'
}

// passJSON returns the length of the value at the beginning of text; zero if the value
// is incomplete.
func passJSON(text []byte) int {
	var v outline
	for i, c := range text {
		switch v.next(c) {
		case itemBefore:
			return i
		case itemEnds:
			return i + 1
		}
	}
	return 0
}

// outline finds the end of a JSON value without parsing it.
type outline struct {
	depth             int
	inText, afterBack bool
	begun             bool
}

// The effects of a character on the value.
const (
	itemGoesOn = iota
	itemEnds
	// itemBefore means that the value ended before the character.
	itemBefore
)

func (o *outline) next(c byte) int {
	bare := o.begun && o.depth == 0
	o.begun = true
	switch {
	case o.afterBack:
		o.afterBack = false
	case o.inText && c == '\\':
		o.afterBack = true
	case o.inText && c == '"':
		if o.inText = false; o.depth == 0 {
			return itemEnds
		}
	case o.inText:
	case bare && bytes.IndexByte([]byte(",]} \t\r\n"), c) >= 0:
		return itemBefore
	case c == '"':
		o.inText = true
	case c == '{' || c == '[':
		o.depth++
	case c == '}' || c == ']':
		if o.depth--; o.depth <= 0 {
			return itemEnds
		}
	}
	return itemGoesOn
}

// jsonParts splits a list in JSON.
type jsonParts struct {
	head
	// inObject is true if the list is the items of an object.
	inObject bool
	// line and column are the position of the next character.
	line, column int

	state stage
	value outline
	// item is the text of the current item; large is true if it is too large to be kept.
	item                 []byte
	large                bool
	itemLine, itemColumn int
}

// stage is the position within a list.
type stage uint8

const (
	atFirst  stage = iota // before the first item
	atItem                // before an item, after a comma
	inItem                // in an item
	pastItem              // after an item
	pastList              // after the list, in its object
)

// feed scans the text for items.
func (p *jsonParts) feed(text []byte, _ bool) (rest []byte, ended bool) {
	from := 0
	for i := 0; i < len(text) && !p.stopped; i++ {
		c := text[i]
		switch p.state {
		case inItem:
		case pastList:
			if p.value.next(c) == itemEnds {
				return text[i+1:], true
			}
		case atFirst, atItem, pastItem:
			if p.between(c) {
				if !p.inObject {
					return text[i+1:], true
				}
				p.state, p.value = pastList, outline{depth: 1, begun: true}
			}
			from = i
		}
		if p.state == inItem {
			switch p.value.next(c) {
			case itemEnds:
				p.keep(text[from : i+1])
				p.flush()
			case itemBefore:
				p.keep(text[from:i])
				p.flush()
				i--
				continue
			}
		}
		switch {
		case c == '\n':
			p.line++
			p.column = 1
		case utf8.RuneStart(c):
			p.column++
		}
	}
	if p.state == inItem {
		p.keep(text[from:])
	}
	return nil, p.stopped
}

// between handles a character outside of items, and reports whether it ends the list.
func (p *jsonParts) between(c byte) (ends bool) {
	const hint = "check commas, quotes and brackets before this position"
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case c == ']':
		if p.state == atItem {
			p.fail(syntax.Place(p.line, p.column), hint, "trailing comma at the end of the list")
		}
		return true
	case c == ',' && p.state == pastItem:
		p.state = atItem
	case c == ',':
		p.fail(syntax.Place(p.line, p.column), hint, "unexpected comma in place of a list item")
	default:
		if p.state == pastItem {
			p.fail(syntax.Place(p.line, p.column), hint, "missing comma between two list items")
		}
		p.state, p.value, p.itemLine, p.itemColumn = inItem, outline{}, p.line, p.column
		p.item, p.large = p.item[:0], false
	}
	return false
}

func (p *jsonParts) keep(text []byte) {
	if p.large = p.large || len(p.item)+len(text) > p.limits.Bytes; !p.large {
		p.item = append(p.item, text...)
	}
}

func (p *jsonParts) flush() {
	p.state = pastItem
	if p.large {
		p.tooBig(p.itemLine, p.itemColumn)
		return
	}
	nodes, bad, _ := syntax.JSON(p.item, p.itemLine, p.itemColumn, p.limits.document())
	p.part(nodes, bad, false)
}

func (p *jsonParts) at() int { return p.line }

// end reports that the list is incomplete.
func (p *jsonParts) end() {
	p.fail(syntax.Place(p.line, p.column), "check commas, quotes and brackets before this position", "unexpected end of input")
}

package parser

import (
	"bytes"

	"example.dev/ingestor/document/syntax"
)

// yamlParts splits a list in YAML block style. An item cannot use an anchor of another
// item.
type yamlParts struct {
	head
	// indent is the indent of the dash of each item.
	indent   int
	inObject bool
	line     int // the next line
	past     bool
	item     []byte
	itemLine int
	large    bool
}

// readYAML finds the first item of a list, and keeps the fields before it.
func (h *head) readYAML(doc []byte, line int) (parts, []byte) {
	p := &yamlParts{line: line}
	inHead, at := true, 0
	for text := range bytes.Lines(doc) {
		word := bytes.TrimSpace(text)
		indent := len(text) - len(bytes.TrimLeft(text, " "))
		switch {
		case isMark(text):
		case isDash(text[indent:]):
			if inHead && at > 0 && !onlyMarks(doc[:at]) {
				// The list belongs to another key.
				return nil, nil
			}
			p.head, p.indent, p.itemLine = *h, indent, p.line
			return p, doc[at:]
		case !inHead:
			// The items key is not followed by items.
			return nil, nil
		case indent == 0 && isItemsKey(word):
			nodes, bad := syntax.YAML(bytes.Clone(doc[:at]), 1, h.limits.document())
			if bad != nil || len(nodes) > 1 || len(nodes) == 1 && !nodes[0].IsMap() {
				return nil, nil
			}
			if len(nodes) == 1 {
				h.fields = nodes[0].Fields
			}
			inHead, p.inObject = false, true
		}
		at += len(text)
		p.line++
	}
	return nil, nil
}

// isItemsKey reports whether a line without its indent is the key of items, followed by
// nothing but a comment.
func isItemsKey(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(itemsKey+":"))
	rest = bytes.TrimLeft(rest, " \t")
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// isDash reports whether a line without its indent begins an item.
func isDash(text []byte) bool {
	return len(text) > 0 && text[0] == '-' && (len(text) == 1 || text[1] == ' ' || text[1] == '\n' || text[1] == '\r')
}

// isMark reports whether a line is empty or only a comment, a directive or a marker.
func isMark(line []byte) bool {
	if syntax.IsMarker(line, "---") {
		line = line[3:]
	}
	word := bytes.TrimSpace(line)
	return len(word) == 0 || word[0] == '#' || line[0] == '%'
}

// onlyMarks reports whether text consists of such lines only.
func onlyMarks(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !isMark(line) {
			return false
		}
	}
	return true
}

// feed handles the text line by line.
func (p *yamlParts) feed(text []byte, fresh bool) (rest []byte, ended bool) {
	for line := range bytes.Lines(text) {
		if p.stopped {
			return nil, true
		}
		if fresh {
			p.begin(line)
		}
		if p.large = p.large || len(p.item)+len(line) > p.limits.Bytes; !p.large && !p.past {
			p.item = append(p.item, line...)
		}
		if fresh = line[len(line)-1] == '\n'; fresh {
			p.line++
		}
	}
	return nil, p.stopped
}

// begin handles the beginning of a line.
func (p *yamlParts) begin(line []byte) {
	word := bytes.TrimSpace(line)
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	switch {
	case p.past, len(word) == 0, word[0] == '#', indent > p.indent:
	case indent == p.indent && isDash(line[indent:]):
		p.flush()
	case p.inObject:
		p.flush()
		p.past = true
	}
}

func (p *yamlParts) flush() {
	item, line, large := p.item, p.itemLine, p.large
	p.item, p.itemLine, p.large = p.item[:0], p.line, false
	switch {
	case large:
		p.tooBig(line, p.indent+1)
	case len(item) > 0:
		nodes, bad := syntax.YAML(item, line, p.limits.document())
		p.part(nodes, bad, true)
	}
}

func (p *yamlParts) at() int { return p.line }

// end handles the last item.
func (p *yamlParts) end() {
	if !p.past {
		p.flush()
	}
}

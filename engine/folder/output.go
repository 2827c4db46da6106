package folder

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

// decode parses the documents of a template's output.
//
// Most of the output is values that toJson and quote wrote on one line. Parsing them as
// JSON is several times as fast as parsing them as YAML, of which JSON is a subset. So
// each value is replaced by a mark, and where the parser finds the mark as a value, the
// parsed JSON is put back. If the mark turns out to be inside other text, in a block
// scalar or in quotes, the original text is put back. Values written in the same render
// are not parsed at all: written has them by their text.
func decode(text string, written map[string]*tree.Node) ([]*tree.Node, []*parser.Error) {
	if strings.Contains(text, markOpens) {
		return parser.DecodeBytes([]byte(text))
	}
	m := marks{written: written}
	head, last := m.take(text)
	docs, errs := parser.DecodeBytes(head)
	if len(m.values) > 0 {
		for i, d := range docs {
			docs[i] = m.restore(d)
		}
		for _, e := range errs {
			e.Msg = m.text(e.Msg)
		}
	}
	return append(docs, last...), errs
}

// A mark is the number of a value between two private-use characters.
const (
	markOpens  = "\uE0A0"
	markCloses = "\uE0A1"
	// worthwhile is the minimum length of a value that is replaced by a mark.
	worthwhile = 48
	// few is the typical length in bytes of a text without its long values.
	few = 2 << 10
)

// marks are the values that were replaced in a text.
type marks struct {
	written map[string]*tree.Node
	values  []*tree.Node
	texts   []string
}

// take returns the text with marks in place of long values. Trailing documents that are
// a single-line value each, as helpers.documents writes them, are left out and returned
// separately: nothing before them can change their meaning, except for a directive.
func (m *marks) take(text string) (out []byte, last []*tree.Node) {
	out = make([]byte, 0, min(len(text), few))
	line, fresh := int32(0), true
	// The trailing documents begin at tail in out, which is negative if there are none, and
	// at first in values; marker is the position of the last marker.
	tail, first, marker := -1, 0, 0
	for len(text) > 0 {
		raw := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			raw = text[:i+1]
		}
		text = text[len(raw):]
		line++
		if isMarker(raw) {
			fresh, marker = true, len(out)
			out = append(out, raw...)
			continue
		}
		at := valueAt(raw)
		if at < 0 && fresh && raw[0] == '{' && (text == "" || isMarker(text)) {
			at = 0 // A document on one line.
		}
		fresh = false
		var n *tree.Node
		var value string
		if at >= 0 {
			value = strings.TrimRight(raw[at:], " \t\r\n")
			n = m.read(value, tree.Pos{Line: line, Column: int32(at) + 1})
		}
		switch {
		case n == nil || at > 0:
			tail = -1
		case tail < 0:
			tail, first = marker, len(m.values)
		}
		if n == nil {
			out = append(out, raw...)
			continue
		}
		out = append(out, raw[:at]...)
		out = append(out, markOpens...)
		out = strconv.AppendInt(out, int64(len(m.values)), 10)
		out = append(out, markCloses...)
		out = append(out, raw[at+len(value):]...)
		m.values, m.texts = append(m.values, n), append(m.texts, value)
	}
	if tail < 0 || out[0] == '%' || bytes.Contains(out[:tail], []byte("\n%")) {
		return out, nil
	}
	return out[:tail], m.values[first:]
}

// isMarker reports whether text begins with a line that separates documents.
func isMarker(text string) bool {
	rest, ok := strings.CutPrefix(text, "---")
	return ok && (rest == "" || rest[0] == '\n' || rest[0] == '\r')
}

// valueAt returns the position of the long value of a line, after its key or its dash,
// or -1 if there is none.
func valueAt(line string) int {
	if len(line) < worthwhile {
		return -1
	}
	for i := 2; i < len(line); i++ {
		c := line[i]
		if c != '{' && c != '[' && c != '"' {
			continue
		}
		if line[i-1] == ' ' && (line[i-2] == ':' || line[i-2] == '-') && len(line)-i >= worthwhile {
			return i
		}
		if c == '"' {
			return -1 // A quoted key, or a value of another form.
		}
	}
	return -1
}

// read parses a value that is JSON from its first byte to its last, and returns nil for
// anything else. Only the value itself has a position, not its contents.
func (m *marks) read(s string, at tree.Pos) *tree.Node {
	if n := m.written[s]; n != nil {
		here := *n // The node may be shared.
		here.Pos = at
		return &here
	}
	first, last := s[0], s[len(s)-1]
	if !(first == '{' && last == '}' || first == '[' && last == ']' || first == '"' && last == '"' && len(s) > 1) {
		return nil
	}
	n, err := wire.Decoder{}.DecodeText(s)
	if err != nil || !utf8.ValidString(s) {
		return nil
	}
	n.Pos = at
	return n
}

// restore replaces marks by their values.
func (m *marks) restore(n *tree.Node) *tree.Node {
	switch n.Kind {
	case tree.String:
		if !strings.Contains(n.Text, markOpens) {
			return n
		}
		if v := m.whole(n); v != nil {
			return v
		}
		n.Text = m.text(n.Text)
	case tree.List:
		for i, it := range n.Items {
			n.Items[i] = m.restore(it)
		}
	case tree.Map:
		for i := range n.Fields {
			f := &n.Fields[i]
			f.Key = m.text(f.Key)
			f.Value = m.restore(f.Value)
		}
	}
	return n
}

// whole returns the value of the mark n, or nil if n is more than a mark.
func (m *marks) whole(n *tree.Node) *tree.Node {
	if !n.Plain {
		return nil
	}
	number, opens := strings.CutPrefix(n.Text, markOpens)
	number, closes := strings.CutSuffix(number, markCloses)
	i, err := strconv.Atoi(number)
	if !opens || !closes || err != nil || i >= len(m.values) {
		return nil
	}
	return m.values[i]
}

// text returns s with marks replaced by their original texts.
func (m *marks) text(s string) string {
	if !strings.Contains(s, markOpens) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, markOpens)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		number, after, _ := strings.Cut(rest, markCloses)
		if i, err := strconv.Atoi(number); err == nil && i < len(m.texts) {
			b.WriteString(m.texts[i])
		}
		s = after
	}
}

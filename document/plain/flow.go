package plain

import "example.dev/ingestor/document/tree"

// flow reads a list or map in flow style and its brackets.
func (r *reader) flow(depth int) *tree.Node {
	if depth > r.depth {
		return nil
	}
	if r.doc[r.i] == '[' {
		return r.flowList(depth)
	}
	return r.flowMap(depth)
}

// space passes spaces and line feeds.
func (r *reader) space() {
	for r.at(r.i) == ' ' {
		r.i++
	}
	r.breaks()
}

// comma passes the comma after an entry, and reports whether the character after it, or
// after an entry without a comma, is acceptable.
func (r *reader) comma(closing byte) bool {
	r.space()
	if r.at(r.i) == ',' {
		r.i++
		r.space()
		return true
	}
	return r.at(r.i) == closing
}

func (r *reader) flowList(depth int) *tree.Node {
	pos, first := r.pos(r.i), len(r.items)
	r.i++
	r.space()
	for r.at(r.i) != ']' {
		item := r.flowValue(depth + 1)
		if item == nil || !r.comma(']') {
			return nil
		}
		r.items = append(r.items, item)
	}
	r.i++
	return r.madeList(first, pos)
}

func (r *reader) flowMap(depth int) *tree.Node {
	pos, first := r.pos(r.i), len(r.fields)
	r.i++
	r.space()
	for r.at(r.i) != '}' {
		keyPos := r.pos(r.i)
		key, ok := r.flowKey()
		if !ok {
			return nil
		}
		r.space()
		value := r.flowValue(depth + 1)
		if value == nil || !r.comma('}') {
			return nil
		}
		r.fields = append(r.fields, tree.Field{Key: key, Value: value, Pos: keyPos})
	}
	r.i++
	return r.madeMap(first, pos)
}

// flowKey reads a key and its colon.
func (r *reader) flowKey() (string, bool) {
	if c := r.at(r.i); c == '"' || c == '\'' {
		end := r.quoteEnd(r.i+1, c) + 1
		if end == 0 || r.at(end) != ':' || end-r.i > longestKey {
			return "", false
		}
		key, ok := r.quoted()
		r.i++
		return key, ok
	}
	end, by := r.flowEnd()
	if by != ':' || r.doc[end-1] == ' ' || end-r.i > longestKey {
		return "", false
	}
	text := r.doc[r.i:end]
	r.i = end + 1
	return r.text(text), string(text) != "<<"
}

// flowValue reads a value within a collection in flow style.
func (r *reader) flowValue(depth int) *tree.Node {
	pos := r.pos(r.i)
	switch r.at(r.i) {
	case '[', '{':
		return r.flow(depth)
	case '"', '\'':
		return r.quotedNode(pos)
	}
	end, by := r.flowEnd()
	if by != ',' {
		return nil
	}
	text := r.doc[r.i:end]
	r.i = end
	return r.typed(text, pos)
}

// flowEnds marks the characters that may end an unquoted scalar in flow style.
var flowEnds = [256]bool{
	':': true, ' ': true, '\t': true, '\n': true, 0: true,
	',': true, '[': true, ']': true, '{': true, '}': true, '?': true,
}

// flowEnd returns the end of the unquoted text at the next character, and what ends it: a
// comma (also for a closing bracket or the end of the line), a colon, or zero for anything
// else.
func (r *reader) flowEnd() (end int, by byte) {
	i := r.i
	if c, next := r.at(i), r.at(i+1); !mayBegin(c, next) || c == '-' && flowEnds[next] {
		return i, 0
	}
	for {
		c := r.at(i)
		if !flowEnds[c] {
			i++
			continue
		}
		switch c {
		case ',', ']', '}', '\n':
			return i, ','
		case ':':
			if next := r.at(i + 1); isBlank(next) {
				return i, c
			} else if flowEnds[next] {
				return i, 0
			}
			i++
		case ' ':
			from := i
			for r.at(i) == ' ' {
				i++
			}
			switch r.at(i) {
			case ',', ']', '}', '\n':
				return from, ','
			case '#':
				return from, 0
			}
		default:
			return i, 0
		}
	}
}

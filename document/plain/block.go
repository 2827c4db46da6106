package plain

import "example.dev/ingestor/document/tree"

// block reads a value that may be a map or list in block style. It is within a map or
// list at column parent.
func (r *reader) block(parent, depth int) *tree.Node {
	if r.isDash() {
		return r.list(r.col, depth)
	}
	if r.keyEnd() >= 0 {
		return r.object(r.col, depth)
	}
	return r.inline(parent, depth)
}

// object reads a map in block style, whose keys are at column col.
func (r *reader) object(col, depth int) *tree.Node {
	if depth > r.depth {
		return nil
	}
	pos, first := r.pos(r.i), len(r.fields)
	for {
		colon := r.keyEnd()
		if colon < 0 {
			return nil
		}
		keyPos := r.pos(r.i)
		key, ok := r.keyText(colon)
		if !ok {
			return nil
		}
		r.i = colon + 1
		value := r.value(col, depth+1)
		if value == nil {
			return nil
		}
		r.fields = append(r.fields, tree.Field{Key: key, Value: value, Pos: keyPos})
		if r.col < col {
			return r.madeMap(first, pos)
		}
		if r.col > col {
			return nil
		}
	}
}

// madeMap returns a map of the fields that were read since first; nil if a key is given
// twice.
func (r *reader) madeMap(first int, pos tree.Pos) *tree.Node {
	fields := r.fields[first:]
	if keyTwice(fields) {
		return nil
	}
	n := r.emptyMap(len(fields))
	n.Pos, n.Fields = pos, append(n.Fields, fields...)
	r.fields = r.fields[:first]
	return n
}

// keyTwice reports whether two fields have the same key.
func keyTwice(fields []tree.Field) bool {
	const few = 16
	if len(fields) <= few {
		for i := range fields {
			for j := range i {
				if fields[i].Key == fields[j].Key {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[string]struct{}, len(fields))
	for i := range fields {
		seen[fields[i].Key] = struct{}{}
	}
	return len(seen) < len(fields)
}

// value reads what follows the colon of a key in a map at column col.
func (r *reader) value(col, depth int) *tree.Node {
	i := r.i
	for r.at(i) == ' ' {
		i++
	}
	if c := r.at(i); c != '\n' && c != 0 && c != '#' {
		r.i = i
		return r.inline(col, depth)
	}
	pos := r.pos(r.i)
	if !r.endLine() {
		return nil
	}
	switch {
	case r.col > col:
		return r.block(col, depth)
	case r.col == col && r.isDash():
		return r.list(col, depth)
	}
	return r.null(pos)
}

// list reads a list in block style, whose dashes are at column col.
func (r *reader) list(col, depth int) *tree.Node {
	if depth > r.depth {
		return nil
	}
	pos, first := r.pos(r.i), len(r.items)
	for {
		item := r.item(col, depth+1)
		if item == nil {
			return nil
		}
		r.items = append(r.items, item)
		if r.col == col && r.isDash() {
			continue
		}
		if r.col > col {
			return nil
		}
		return r.madeList(first, pos)
	}
}

// madeList returns a list of the items that were read since first.
func (r *reader) madeList(first int, pos tree.Pos) *tree.Node {
	items := r.items[first:]
	n := r.node()
	n.Kind, n.Pos, n.Items = tree.List, pos, make([]*tree.Node, len(items))
	copy(n.Items, items)
	r.items = r.items[:first]
	return n
}

// item reads a dash at column col and what follows it.
func (r *reader) item(col, depth int) *tree.Node {
	r.i++
	i := r.i
	for r.at(i) == ' ' {
		i++
	}
	if c := r.at(i); c != '\n' && c != 0 && c != '#' {
		r.i, r.col = i, i-r.start
		return r.block(col, depth)
	}
	pos := r.pos(r.i)
	if !r.endLine() {
		return nil
	}
	if r.col > col {
		return r.block(col, depth)
	}
	return r.null(pos)
}

// null returns an omitted value.
func (r *reader) null(pos tree.Pos) *tree.Node {
	n := r.node()
	n.Pos, n.Plain = pos, true
	return n
}

// inline reads a scalar or a collection in flow style, in a map or list at column parent,
// up to the first value or key of the lines below.
func (r *reader) inline(parent, depth int) *tree.Node {
	pos := r.pos(r.i)
	var n *tree.Node
	switch r.at(r.i) {
	case '|', '>':
		return r.blockScalar(parent)
	case '[', '{':
		n = r.flow(depth)
	case '"', '\'':
		n = r.quotedNode(pos)
	default:
		return r.unquoted(parent)
	}
	if n == nil || !r.endLine() {
		return nil
	}
	return n
}

package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/document/plain"
	"example.dev/ingestor/document/tree"
)

// YAML parses the YAML in doc, whose first line is line. doc is one document, or
// several only if its lines end with something other than a newline. Documents without
// content are left out. A document with a duplicate key is among the nodes, and its
// error is returned with them.
func YAML(doc []byte, line int, limits Limits) (nodes []*tree.Node, err *Error) {
	// The parser panics on some malformed input that it should reject.
	defer func() {
		if r := recover(); r != nil {
			nodes, err = nil, &Error{Pos: Place(line, 1), Msg: fmt.Sprintf("cannot read YAML: %v", r)}
		}
	}()
	if hasTooMany(doc, limits) {
		return nil, tooMany(Place(line, 1), limits)
	}
	if n := plain.Read(doc, line, limits.Depth, resolve); n != nil {
		return []*tree.Node{n}, nil
	}
	return full(doc, line, limits)
}

// resolve types a scalar for package plain.
func resolve(n *tree.Node) bool {
	err := typed(&yaml.Node{Kind: yaml.ScalarNode, Value: n.Text}, n)
	return err == nil
}

// full is YAML with a parser for all of YAML, which also finds the errors.
func full(doc []byte, line int, limits Limits) (nodes []*tree.Node, err *Error) {
	dec := yaml.NewDecoder(bytes.NewReader(doc))
	var duplicate *Error
	for first := true; ; first = false {
		var root yaml.Node
		e := dec.Decode(&root)
		if errors.Is(e, io.EOF) {
			return nodes, duplicate
		}
		if e != nil {
			return nil, syntaxError(doc, line, e)
		}
		if !first && !limits.more(line) {
			return nodes, duplicate
		}
		if len(root.Content) == 0 {
			continue
		}
		c := &converter{offset: line - 1, limits: limits, make: tree.NewMaker(count(root.Content[0]))}
		n, bad := c.convert(root.Content[0], 1)
		if bad != nil {
			return nil, bad
		}
		if n.Kind != tree.Null {
			nodes = append(nodes, n)
		}
		if duplicate == nil {
			duplicate = c.duplicate
		}
	}
}

// converter converts the parser's nodes to tree nodes.
type converter struct {
	offset  int
	limits  Limits
	aliased int
	done    map[*yaml.Node]*tree.Node
	sizes   map[*tree.Node]int
	open    []*yaml.Node
	make    tree.Maker
	// duplicate is the first duplicate key.
	duplicate *Error
}

// count returns the number of nodes and fields of y, without aliases.
func count(y *yaml.Node) (nodes, fields int) {
	if y.Kind == yaml.MappingNode {
		fields = len(y.Content) / 2
		nodes = -fields // keys are not nodes
	}
	for _, child := range y.Content {
		n, f := count(child)
		nodes, fields = nodes+n, fields+f
	}
	return nodes + 1, fields
}

func (c *converter) pos(y *yaml.Node) tree.Pos { return Place(y.Line+c.offset, y.Column) }

func (c *converter) convert(y *yaml.Node, depth int) (*tree.Node, *Error) {
	if y.Kind == yaml.AliasNode {
		return c.alias(y, depth)
	}
	if y.Anchor == "" {
		return c.value(y, depth)
	}
	c.open = append(c.open, y)
	n, err := c.value(y, depth)
	c.open = c.open[:len(c.open)-1]
	if err != nil {
		return nil, err
	}
	if c.done == nil {
		c.done, c.sizes = map[*yaml.Node]*tree.Node{}, map[*tree.Node]int{}
	}
	c.done[y] = n
	return n, nil
}

func (c *converter) value(y *yaml.Node, depth int) (*tree.Node, *Error) {
	if y.Kind == yaml.ScalarNode {
		return c.scalar(y)
	}
	if depth > c.limits.Depth {
		return nil, tooDeep(c.pos(y), c.limits)
	}
	if y.Kind == yaml.MappingNode {
		return c.mapping(y, depth)
	}
	n := c.make.Node()
	n.Kind, n.Pos, n.Items = tree.List, c.pos(y), make([]*tree.Node, 0, len(y.Content))
	for _, it := range y.Content {
		v, err := c.convert(it, depth+1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	return n, nil
}

func (c *converter) mapping(y *yaml.Node, depth int) (*tree.Node, *Error) {
	n := c.make.Map(len(y.Content) / 2)
	n.Pos = c.pos(y)
	seen := tree.Index{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		pos := c.pos(k)
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return nil, &Error{Pos: pos, Msg: "a key must be a scalar, not a map or a list", Hint: "quote a value such as {{ x }}"}
		}
		if k.Tag == "!!merge" {
			merges = append(merges, v)
			continue
		}
		value, err := c.convert(v, depth+1)
		if err != nil {
			return nil, err
		}
		if i := seen.Find(n, k.Value); i >= 0 {
			if c.duplicate == nil {
				c.duplicate = duplicateKey(k.Value, pos, n.Fields[i].Pos)
			}
			n.Fields[i].Value, n.Fields[i].Pos = value, pos
			continue
		}
		n.Fields = append(n.Fields, tree.Field{Key: k.Value, Value: value, Pos: pos})
	}
	for _, m := range merges {
		if err := c.merge(n, &seen, m, depth); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// merge adds the entries of a "<<" value that n does not have itself.
func (c *converter) merge(n *tree.Node, seen *tree.Index, y *yaml.Node, depth int) *Error {
	from, err := c.convert(y, depth+1)
	if err != nil {
		return err
	}
	sources := []*tree.Node{from}
	if from.Kind == tree.List {
		sources = from.Items
	}
	for _, s := range sources {
		if s.Kind != tree.Map {
			return &Error{Pos: c.pos(y), Msg: "<< must be a map, or a list of maps", Hint: "quote << if it is meant as a plain key"}
		}
		for _, f := range s.Fields {
			if seen.Find(n, f.Key) < 0 {
				n.Fields = append(n.Fields, f)
			}
		}
	}
	return nil
}

// alias shares the anchored node. Memory does not grow, but the work of traversing the
// result would, so the values added by aliases are counted and limited.
func (c *converter) alias(y *yaml.Node, depth int) (*tree.Node, *Error) {
	for _, o := range c.open {
		if o == y.Alias {
			return nil, &Error{Pos: c.pos(y), Msg: fmt.Sprintf("alias *%s refers to an anchor that contains it", y.Value), Hint: "write the value out"}
		}
	}
	n, ok := c.done[y.Alias]
	if !ok {
		// The anchor is on a key, or in a merge that comes later.
		var err *Error
		if n, err = c.convert(y.Alias, depth); err != nil {
			return nil, err
		}
	}
	size, height := c.measure(n)
	if c.aliased += size; c.aliased > c.limits.Aliased {
		return nil, &Error{Pos: c.pos(y), Msg: fmt.Sprintf("aliases add more than %d values to the document", c.limits.Aliased), Hint: "use fewer nested aliases"}
	}
	if depth+height-1 > c.limits.Depth {
		return nil, tooDeep(c.pos(y), c.limits)
	}
	return n, nil
}

// textUnit is how many bytes of text count as one value for the alias limit: a long text
// costs as much to write as many short ones.
const textUnit = 64

// measure returns the size of n in values, and its height. Both are cached in one
// integer, size in the upper bits and height in the lower 16; heights are limited by the
// depth limit.
func (c *converter) measure(n *tree.Node) (size, height int) {
	if n.Kind != tree.Map && n.Kind != tree.List {
		return 1 + len(n.Text)/textUnit, 0
	}
	if s, ok := c.sizes[n]; ok {
		return s >> 16, s & 0xFFFF
	}
	size, height = 1, 1
	visit := func(child *tree.Node) {
		s, h := c.measure(child)
		size, height = min(size+s, math.MaxInt32), max(height, h+1)
	}
	for _, f := range n.Fields {
		size += len(f.Key) / textUnit
		visit(f.Value)
	}
	for _, it := range n.Items {
		visit(it)
	}
	c.sizes[n] = size<<16 | height&0xFFFF
	return size, height
}

func (c *converter) scalar(y *yaml.Node) (*tree.Node, *Error) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	n := c.make.Str(y.Value)
	n.Pos, n.Plain = c.pos(y), y.Style&quoted == 0
	if err := typed(y, n); err != nil {
		return nil, err
	}
	return n, nil
}

// typed sets the kind and the text of n, a string, to those of y.
func typed(y *yaml.Node, n *tree.Node) *Error {
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Text = tree.Null, ""
	case "!!bool":
		return boolean(y, n)
	case "!!int", "!!float":
		return number(y, n)
	}
	// Times and binary values are strings to Kubernetes.
	return nil
}

// boolean converts n to a boolean: true, TRUE, and with a tag also yes.
func boolean(y *yaml.Node, n *tree.Node) *Error {
	n.Kind = tree.Bool
	if n.Text == "true" || n.Text == "false" {
		return nil
	}
	var b bool
	if err := y.Decode(&b); err != nil {
		return &Error{Pos: n.Pos, Msg: fmt.Sprintf("%q is not a boolean", y.Value), Hint: "write true or false"}
	}
	n.Text = strconv.FormatBool(b)
	return nil
}

// number converts n to a number in any YAML notation: 12, 0x1F, 1_000, 0o17, 1.50. An
// integer keeps all its digits.
func number(y *yaml.Node, n *tree.Node) *Error {
	if tree.IsDecimal(y.Value) {
		n.Kind = tree.Int
		return nil
	}
	var v any
	if err := y.Decode(&v); err != nil {
		return nil
	}
	num, err := tree.From(v)
	if err != nil || num.Kind != tree.Int && num.Kind != tree.Float {
		// JSON has no infinities and NaNs.
		return &Error{Pos: n.Pos, Msg: fmt.Sprintf("%s cannot be written as a JSON number", y.Value), Hint: "quote it to make it a string"}
	}
	n.Kind, n.Text = num.Kind, num.Text
	return nil
}

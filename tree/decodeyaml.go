package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeYAML reads one YAML document whose first line is line. It returns nil
// for a document without content.
func decodeYAML(doc []byte, line int, limits Limits) (n *Node, err *Error) {
	// The parser panics on some malformed input it should refuse.
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, &Error{Pos: Pos{line, 1}, Msg: fmt.Sprintf("cannot read YAML: %v", r)}
		}
	}()
	var root yaml.Node
	if e := yaml.NewDecoder(bytes.NewReader(doc)).Decode(&root); e != nil {
		if errors.Is(e, io.EOF) {
			return nil, nil
		}
		return nil, syntaxError(doc, line, e)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	c := &converter{offset: line - 1, limits: limits}
	out, bad := c.convert(root.Content[0], 1)
	if bad != nil {
		return nil, bad
	}
	if out.Kind == Null {
		return nil, nil
	}
	return out, nil
}

var lineInError = regexp.MustCompile(`line (\d+): ?`)

// syntaxError gives the parser's complaint a place and a way out.
func syntaxError(doc []byte, line int, e error) *Error {
	msg := strings.TrimPrefix(e.Error(), "yaml: ")
	at := 1
	if m := lineInError.FindStringSubmatch(msg); m != nil {
		at, _ = strconv.Atoi(m[1])
		msg = strings.Replace(msg, m[0], "", 1)
	}
	lines := bytes.Split(doc, []byte("\n"))
	at = min(max(at, 1), len(lines))
	text := lines[at-1]
	column := len(text) - len(bytes.TrimLeft(text, " \t")) + 1
	return &Error{Pos: Pos{Line: line + at - 1, Column: column}, Msg: msg, Hint: syntaxHint(msg, text)}
}

func syntaxHint(msg string, text []byte) string {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t")), strings.Contains(msg, "cannot start any token"):
		return "indent with spaces, not tabs, and quote values that begin with a special character"
	case bytes.Contains(text, []byte("{{")):
		return "this looks like a template; render it first and give the tool the result"
	case strings.Contains(msg, "mapping values are not allowed"):
		return "quote a value that contains \": \", and check the indentation"
	case strings.Contains(msg, "did not find expected"), strings.Contains(msg, "could not find expected"):
		return "check the indentation and the quotes on this line and the one before it"
	}
	return "check the YAML at this line"
}

// converter turns the parser's nodes into ours.
type converter struct {
	offset  int
	limits  Limits
	aliased int
	done    map[*yaml.Node]*Node
	sizes   map[*Node]int
	open    []*yaml.Node
}

func (c *converter) pos(y *yaml.Node) Pos { return Pos{Line: y.Line + c.offset, Column: y.Column} }

func (c *converter) convert(y *yaml.Node, depth int) (*Node, *Error) {
	if depth > c.limits.Depth {
		return nil, tooDeep(c.pos(y), c.limits)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return c.alias(y, depth)
	case yaml.MappingNode, yaml.SequenceNode:
		return c.collection(y, depth)
	}
	return c.scalar(y)
}

func (c *converter) collection(y *yaml.Node, depth int) (*Node, *Error) {
	if y.Anchor != "" {
		c.open = append(c.open, y)
		defer func() { c.open = c.open[:len(c.open)-1] }()
	}
	if y.Kind == yaml.MappingNode {
		return c.mapping(y, depth)
	}
	n := &Node{Kind: List, Pos: c.pos(y), Items: make([]*Node, 0, len(y.Content))}
	for _, it := range y.Content {
		v, err := c.convert(it, depth+1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	return n, nil
}

func (c *converter) mapping(y *yaml.Node, depth int) (*Node, *Error) {
	n := &Node{Kind: Map, Pos: c.pos(y), Fields: make([]Field, 0, len(y.Content)/2)}
	seen := keySet{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return nil, &Error{Pos: c.pos(k), Msg: "a key must be a word, not a map or a list", Hint: "a value such as {{ x }} needs quotes"}
		}
		if k.Tag == "!!merge" {
			merges = append(merges, v)
			continue
		}
		if first, dup := seen.add(n, k.Value); dup {
			return nil, duplicateKey(k.Value, c.pos(k), first)
		}
		value, err := c.convert(v, depth+1)
		if err != nil {
			return nil, err
		}
		n.Fields = append(n.Fields, Field{Key: k.Value, Value: value, Pos: c.pos(k)})
	}
	for _, m := range merges {
		if err := c.merge(n, m, depth); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// merge adds the entries of a "<<" value that n does not have itself.
func (c *converter) merge(n *Node, y *yaml.Node, depth int) *Error {
	from, err := c.convert(y, depth+1)
	if err != nil {
		return err
	}
	sources := []*Node{from}
	if from.Kind == List {
		sources = from.Items
	}
	for _, s := range sources {
		if s.Kind != Map {
			return &Error{Pos: c.pos(y), Msg: "<< needs a map, or a list of maps"}
		}
		for _, f := range s.Fields {
			if !n.Has(f.Key) {
				n.Fields = append(n.Fields, f)
			}
		}
	}
	return nil
}

// alias shares the anchored node. Memory does not grow, but whoever walks the
// result would, so what aliases add is counted and bounded.
func (c *converter) alias(y *yaml.Node, depth int) (*Node, *Error) {
	for _, o := range c.open {
		if o == y.Alias {
			return nil, &Error{Pos: c.pos(y), Msg: fmt.Sprintf("alias *%s stands inside its own anchor", y.Value), Hint: "write the value out"}
		}
	}
	n, ok := c.done[y.Alias]
	if !ok {
		var err *Error
		if n, err = c.convert(y.Alias, depth); err != nil {
			return nil, err
		}
		if c.done == nil {
			c.done, c.sizes = map[*yaml.Node]*Node{}, map[*Node]int{}
		}
		c.done[y.Alias] = n
	}
	size, height := c.measure(n)
	if c.aliased += size; c.aliased > c.limits.Aliased {
		return nil, &Error{Pos: c.pos(y), Msg: fmt.Sprintf("aliases add more than %d values to the document", c.limits.Aliased), Hint: "write fewer aliases of aliases"}
	}
	if depth+height-1 > c.limits.Depth {
		return nil, tooDeep(c.pos(y), c.limits)
	}
	return n, nil
}

// measure returns how many nodes n has and how deep it is. Sizes are kept
// packed, size above and height below; heights are bounded by the depth limit.
func (c *converter) measure(n *Node) (size, height int) {
	if s, ok := c.sizes[n]; ok {
		return s >> 16, s & 0xFFFF
	}
	size, height = 1, 1
	visit := func(child *Node) {
		s, h := c.measure(child)
		size, height = min(size+s, math.MaxInt32), max(height, h+1)
	}
	for _, f := range n.Fields {
		visit(f.Value)
	}
	for _, it := range n.Items {
		visit(it)
	}
	if n.Kind == Map || n.Kind == List {
		c.sizes[n] = size<<16 | height&0xFFFF
	}
	return size, height
}

func (c *converter) scalar(y *yaml.Node) (*Node, *Error) {
	pos := c.pos(y)
	plain := y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	text := &Node{Kind: String, Text: y.Value, Pos: pos, Plain: plain}
	switch y.ShortTag() {
	case "!!null":
		return &Node{Pos: pos, Plain: plain}, nil
	case "!!bool":
		b := strings.EqualFold(y.Value, "true")
		return &Node{Kind: Bool, Text: strconv.FormatBool(b), Pos: pos, Plain: plain}, nil
	case "!!int":
		if isDecimal(y.Value) {
			return &Node{Kind: Int, Text: y.Value, Pos: pos, Plain: plain}, nil
		}
		return c.number(y, text)
	case "!!float":
		return c.number(y, text)
	}
	// Times and binary values are text to Kubernetes.
	return text, nil
}

// number reads the other ways YAML writes numbers: 0x1F, 1_000, 0o17, 1.50.
func (c *converter) number(y *yaml.Node, text *Node) (*Node, *Error) {
	var v any
	if err := y.Decode(&v); err != nil {
		return text, nil
	}
	n, err := From(v)
	if err != nil || n.Kind != Int && n.Kind != Float {
		// Infinities and not-a-numbers: JSON has no word for them.
		return nil, &Error{Pos: text.Pos, Msg: fmt.Sprintf("%s is not a number JSON can hold", y.Value), Hint: "quote it if text is meant"}
	}
	return &Node{Kind: n.Kind, Text: n.Text, Pos: text.Pos, Plain: text.Plain}, nil
}

package openapi

import (
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// check is the type that the value of a keyword must have to be copied.
type check uint8

const (
	text check = iota + 1
	count
	number
	positive
	flag
	anything
	values      // a list with entries
	words       // a list of strings
	schema      // a schema
	schemaOrTo  // a schema or a boolean
	schemas     // a list of schemas
	schemasByID // a map of schemas
)

// keywords are the keywords of an OpenAPI 3.0 schema, in the order of the document.
var keywords = [...]struct {
	name string
	want check
}{
	{"title", text},
	{"description", text},
	{"type", text},
	{"format", text},
	{"nullable", flag},
	{"deprecated", flag},
	{"enum", values},
	{"default", anything},
	{"example", anything},
	{"pattern", text},
	{"minLength", count},
	{"maxLength", count},
	{"minimum", number},
	{"exclusiveMinimum", flag},
	{"maximum", number},
	{"exclusiveMaximum", flag},
	{"multipleOf", positive},
	{"minItems", count},
	{"maxItems", count},
	{"uniqueItems", flag},
	{"minProperties", count},
	{"maxProperties", count},
	{"required", words},
	{"properties", schemasByID},
	{"additionalProperties", schemaOrTo},
	{"items", schema},
	{"oneOf", schemas},
	{"anyOf", schemas},
	{"allOf", schemas},
	{"not", schema},
}

// rank maps each keyword to its index in keywords.
var rank = func() map[string]int {
	m := make(map[string]int, len(keywords))
	for i, k := range keywords {
		m[k.name] = i
	}
	return m
}()

// The indexes of the keywords that settleType uses.
var typeAt, itemsAt, anyOfAt = rank["type"], rank["items"], rank["anyOf"]

// Schema returns a definition's schema as OpenAPI 3.0: complete, in a fixed order,
// without unknown keywords and invalid values.
func Schema(s *tree.Node) *tree.Node {
	return (&converter{make: tree.NewMaker(room(s))}).schema(s)
}

// room returns the maximum number of nodes and fields of the converted schema.
func room(s *tree.Node) (nodes, fields int) {
	if s == nil {
		return 0, 0
	}
	nodes, fields = 1, len(s.Fields)+1
	for i := range s.Fields {
		v := s.Fields[i].Value
		switch s.Fields[i].Key {
		case "properties":
			nodes, fields = nodes+1, fields+len(v.Fields)
			for j := range v.Fields {
				n, f := room(v.Fields[j].Value)
				nodes, fields = nodes+n, fields+f
			}
		case "items", "additionalProperties", "not":
			n, f := room(v)
			nodes, fields = nodes+n, fields+f
		}
	}
	return nodes, fields
}

// converter converts the schemas of one document.
type converter struct{ make tree.Maker }

func (c *converter) schema(s *tree.Node) *tree.Node {
	var slots [len(keywords)]*tree.Node
	var extensions []tree.Field
	n := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		if strings.HasPrefix(f.Key, "x-") {
			extensions = append(extensions, tree.F(f.Key, f.Value.Sorted()))
			continue
		}
		at, known := rank[f.Key]
		if !known {
			continue
		}
		if slots[at] = c.keyword(keywords[at].want, f.Value); slots[at] != nil {
			n++
		}
	}
	// One extra field leaves room for what settleType adds.
	out := c.make.Map(n + len(extensions) + 1)
	settleType(s, &slots)
	for i, v := range slots {
		if v != nil {
			add(out, keywords[i].name, v)
		}
	}
	slices.SortFunc(extensions, func(a, b tree.Field) int { return strings.Compare(a.Key, b.Key) })
	out.Fields = append(out.Fields, extensions...)
	return out
}

// settleType converts the type to one that OpenAPI knows, and adds items to an array,
// which OpenAPI requires.
func settleType(s *tree.Node, slots *[len(keywords)]*tree.Node) {
	typ, items, anyOf := &slots[typeAt], &slots[itemsAt], &slots[anyOfAt]
	if s.Get("x-kubernetes-int-or-string").IsTrue() {
		*typ = nil
		if *anyOf == nil {
			*anyOf = tree.Arr(
				tree.Obj(tree.F("type", tree.Str("integer"))),
				tree.Obj(tree.F("type", tree.Str("string"))),
			)
		}
		return
	}
	switch t := (*typ).Str(); t {
	case "", "object", "string", "integer", "number", "boolean":
	case "array":
		if *items == nil {
			*items = tree.Obj()
		}
	case "bool":
		*typ = tree.Str("boolean")
	case "int":
		*typ = tree.Str("integer")
	default:
		*typ = nil
	}
}

func add(n *tree.Node, key string, v *tree.Node) {
	n.Fields = append(n.Fields, tree.Field{Key: key, Value: v})
}

// keyword returns the value of a keyword, or nil if it is invalid.
func (c *converter) keyword(want check, v *tree.Node) *tree.Node {
	switch want {
	case text:
		return keep(v, v.Kind == tree.String)
	case flag:
		return keep(v, v.Kind == tree.Bool)
	case count:
		_, err := strconv.ParseUint(v.Scalar(), 10, 63)
		return keep(v, v.Kind == tree.Int && err == nil)
	case number:
		return keep(v, v.Kind == tree.Int || v.Kind == tree.Float)
	case positive:
		return keep(v, (v.Kind == tree.Int || v.Kind == tree.Float) && v.Text != "0" && v.Text[0] != '-')
	case anything:
		return v.Sorted()
	case values:
		return keep(v.Sorted(), v.Kind == tree.List && len(v.Items) > 0)
	case words:
		return distinct(v)
	case schema:
		if v.Kind != tree.Map {
			return nil
		}
		return c.schema(v)
	case schemaOrTo:
		if v.Kind == tree.Map {
			return c.schema(v)
		}
		return keep(v, v.Kind == tree.Bool)
	case schemas:
		return c.list(v)
	case schemasByID:
		return c.byName(v)
	}
	return nil
}

func keep(v *tree.Node, ok bool) *tree.Node {
	if !ok {
		return nil
	}
	return v
}

// distinct returns the strings of a list without duplicates; nil if there are none.
func distinct(v *tree.Node) *tree.Node {
	var out []string
	seen := make(map[string]bool, len(v.Items))
	for _, s := range v.Strings() {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return tree.Strs(out)
}

func (c *converter) list(v *tree.Node) *tree.Node {
	if v.Kind != tree.List {
		return nil
	}
	out := &tree.Node{Kind: tree.List, Items: make([]*tree.Node, 0, len(v.Items))}
	for _, it := range v.Items {
		if it.IsMap() {
			out.Items = append(out.Items, c.schema(it))
		}
	}
	return keep(out, len(out.Items) > 0)
}

func (c *converter) byName(v *tree.Node) *tree.Node {
	if v.Kind != tree.Map {
		return nil
	}
	out := c.make.Map(len(v.Fields))
	for i := range v.Fields {
		f := &v.Fields[i]
		s := f.Value
		if !s.IsMap() {
			s = tree.Obj()
		}
		out.Fields = append(out.Fields, tree.F(f.Key, c.schema(s)))
	}
	out.SortKeys()
	return out
}

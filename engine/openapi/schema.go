package openapi

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/tree"
)

// check says what the value of a keyword must be to be copied.
type check uint8

const (
	text check = iota + 1
	count
	number
	flag
	anything
	values      // a list with entries
	words       // a list of strings
	schema      // a schema
	schemaOrTo  // a schema or a boolean
	schemas     // a list of schemas
	schemasByID // a map of schemas
)

// keyword is one keyword of an OpenAPI 3.0 schema. Its place in the table is
// its place in the document.
type keyword struct {
	name string
	want check
	rank int
}

var keywords = func() map[string]keyword {
	ordered := []keyword{
		{name: "title", want: text},
		{name: "description", want: text},
		{name: "type", want: text},
		{name: "format", want: text},
		{name: "nullable", want: flag},
		{name: "deprecated", want: flag},
		{name: "enum", want: values},
		{name: "default", want: anything},
		{name: "example", want: anything},
		{name: "pattern", want: text},
		{name: "minLength", want: count},
		{name: "maxLength", want: count},
		{name: "minimum", want: number},
		{name: "exclusiveMinimum", want: flag},
		{name: "maximum", want: number},
		{name: "exclusiveMaximum", want: flag},
		{name: "multipleOf", want: number},
		{name: "minItems", want: count},
		{name: "maxItems", want: count},
		{name: "uniqueItems", want: flag},
		{name: "minProperties", want: count},
		{name: "maxProperties", want: count},
		{name: "required", want: words},
		{name: "properties", want: schemasByID},
		{name: "additionalProperties", want: schemaOrTo},
		{name: "items", want: schema},
		{name: "oneOf", want: schemas},
		{name: "anyOf", want: schemas},
		{name: "allOf", want: schemas},
		{name: "not", want: schema},
	}
	m := make(map[string]keyword, len(ordered))
	for i, k := range ordered {
		k.rank = i
		m[k.name] = k
	}
	return m
}()

// extensionRank puts extensions after all keywords.
const extensionRank = 1000

// Schema returns a definition's schema as OpenAPI 3.0 has it: complete, in a
// fixed order, without what is not a keyword or has no meaning as one.
func Schema(s *tree.Node) *tree.Node {
	out := &tree.Node{Kind: tree.Map, Fields: make([]tree.Field, 0, len(s.Fields)+1)}
	for i := range s.Fields {
		f := &s.Fields[i]
		if strings.HasPrefix(f.Key, "x-") {
			out.Fields = append(out.Fields, tree.F(f.Key, f.Value.Sorted()))
			continue
		}
		k, known := keywords[f.Key]
		if !known {
			continue
		}
		if v := convert(k.want, f.Value); v != nil {
			out.Fields = append(out.Fields, tree.F(f.Key, v))
		}
	}
	settleType(s, out)
	slices.SortFunc(out.Fields, func(a, b tree.Field) int {
		return cmp.Or(cmp.Compare(rank(a.Key), rank(b.Key)), strings.Compare(a.Key, b.Key))
	})
	return out
}

func rank(key string) int {
	if k, ok := keywords[key]; ok {
		return k.rank
	}
	return extensionRank
}

// settleType makes the type one that OpenAPI knows, and says for an array
// what it holds, which OpenAPI demands.
func settleType(s, out *tree.Node) {
	if s.Get("x-kubernetes-int-or-string").IsTrue() {
		out.Delete("type")
		if !out.Has("anyOf") {
			add(out, "anyOf", tree.Arr(
				tree.Obj(tree.F("type", tree.Str("integer"))),
				tree.Obj(tree.F("type", tree.Str("string"))),
			))
		}
		return
	}
	switch t := out.Get("type").Str(); t {
	case "", "object", "string", "integer", "number", "boolean":
	case "array":
		if !out.Has("items") {
			add(out, "items", tree.Obj())
		}
	case "bool":
		out.Set("type", tree.Str("boolean"))
	case "int":
		out.Set("type", tree.Str("integer"))
	default:
		out.Delete("type")
	}
}

func add(n *tree.Node, key string, v *tree.Node) {
	n.Fields = append(n.Fields, tree.Field{Key: key, Value: v})
}

// convert returns the value of a keyword, or nil if it is not what it must be.
func convert(want check, v *tree.Node) *tree.Node {
	switch want {
	case text:
		return keep(v, v.Kind == tree.String)
	case flag:
		return keep(v, v.Kind == tree.Bool)
	case count:
		return keep(v, v.Kind == tree.Int && v.Text[0] != '-')
	case number:
		return keep(v, v.Kind == tree.Int || v.Kind == tree.Float)
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
		return Schema(v)
	case schemaOrTo:
		if v.Kind == tree.Map {
			return Schema(v)
		}
		return keep(v, v.Kind == tree.Bool)
	case schemas:
		return list(v)
	case schemasByID:
		return byName(v)
	}
	return nil
}

func keep(v *tree.Node, ok bool) *tree.Node {
	if !ok {
		return nil
	}
	return v
}

// distinct returns the strings of a list, each once; nil if there are none.
func distinct(v *tree.Node) *tree.Node {
	var out []string
	for _, s := range v.Strings() {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return tree.Strs(out)
}

func list(v *tree.Node) *tree.Node {
	if v.Kind != tree.List || len(v.Items) == 0 {
		return nil
	}
	out := &tree.Node{Kind: tree.List, Items: make([]*tree.Node, 0, len(v.Items))}
	for _, it := range v.Items {
		if it.IsMap() {
			out.Items = append(out.Items, Schema(it))
		}
	}
	return out
}

func byName(v *tree.Node) *tree.Node {
	if v.Kind != tree.Map {
		return nil
	}
	out := &tree.Node{Kind: tree.Map, Fields: make([]tree.Field, 0, len(v.Fields))}
	for i := range v.Fields {
		f := &v.Fields[i]
		s := f.Value
		if !s.IsMap() {
			s = tree.Obj()
		}
		out.Fields = append(out.Fields, tree.F(f.Key, Schema(s)))
	}
	out.SortKeys()
	return out
}

// Package schema validates the spec of an object against the schema in the definition of
// its kind, with messages that name the fields of a form.
package schema

import (
	"bytes"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/document/tree"
)

// Schema is the schema of the spec of a kind. It may be used concurrently.
type Schema struct {
	// node is the schema in the definition; nil if the kind has no definition.
	node *tree.Node
	// compiled is nil if validation is left to the server.
	compiled *jsonschema.Schema
}

// Equal reports whether it was compiled from a schema equal to n.
func (s *Schema) Equal(n *tree.Node) bool { return s.node.Equal(n) }

// Compile compiles the schema of a definition. If that fails, validation is left
// to the server.
func Compile(n *tree.Node) *Schema {
	s := &Schema{node: n}
	if n == nil {
		return s
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, plain(n), "")))
	if err != nil {
		return s
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	const address = "spec.json"
	if err := c.AddResource(address, doc); err != nil {
		return s
	}
	if compiled, err := c.Compile(address); err == nil {
		s.compiled = compiled
	}
	return s
}

// plain converts the schema of a definition to a JSON Schema that accepts
// everything that the server accepts: fields with a default are not required.
func plain(n *tree.Node) *tree.Node {
	out := tree.Obj()
	nullable := n.Get("nullable").IsTrue()
	for _, f := range n.Fields {
		switch f.Key {
		case "type":
			if nullable && f.Value.IsString() {
				out.Set("type", tree.Strs([]string{f.Value.Str(), "null"}))
				continue
			}
			out.Set(f.Key, f.Value)
		case "enum":
			values := tree.Arr(f.Value.List()...)
			if nullable {
				values.Items = append(values.Items, tree.Nil())
			}
			out.Set(f.Key, unique(values))
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
			"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties":
			out.Set(f.Key, f.Value)
		case "items", "not":
			out.Set(f.Key, plain(f.Value))
		case "additionalProperties":
			if f.Value.IsMap() {
				out.Set(f.Key, plain(f.Value))
			}
		case "allOf", "anyOf", "oneOf":
			all := tree.Arr()
			for _, item := range f.Value.List() {
				all.Items = append(all.Items, plain(item))
			}
			if all.Len() > 0 {
				out.Set(f.Key, all)
			}
		case "properties":
			all := tree.Obj()
			for _, p := range f.Value.Fields {
				all.Set(p.Key, plain(p.Value))
			}
			out.Set(f.Key, all)
		case "required":
			var names []string
			for _, name := range f.Value.Strings() {
				if !n.Get("properties", name).Has("default") {
					names = append(names, name)
				}
			}
			out.Set(f.Key, tree.Strs(names))
		}
	}
	if n.Get("x-kubernetes-int-or-string").IsTrue() {
		out.Set("type", tree.Strs([]string{"integer", "string", "null"}))
	}
	return out
}

// unique returns a list without duplicates.
func unique(list *tree.Node) *tree.Node {
	out := tree.Arr()
next:
	for _, v := range list.Items {
		for _, o := range out.Items {
			if v.Equal(o) {
				continue next
			}
		}
		out.Items = append(out.Items, v)
	}
	return out
}

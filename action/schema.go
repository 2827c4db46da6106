package action

import "example.dev/ingestor/document/tree"

// Draft is the JSON Schema version of inputs and outputs.
const Draft = "http://json-schema.org/draft-07/schema#"

// Field is a field of an input or output.
type Field struct {
	Name, Description string
	// Type is string, number, boolean, object or array; empty means any type, or the
	// type that Schema sets.
	Type     string
	Required bool
	// Schema holds further keywords, such as items or enum.
	Schema *tree.Node
}

// Object returns the schema of an object with these fields and no others.
func Object(fields ...Field) *tree.Node {
	all := tree.Obj()
	var required []string
	for _, f := range fields {
		s := tree.Obj()
		if f.Type != "" {
			s.Set("type", tree.Str(f.Type))
		}
		if f.Schema != nil {
			for _, more := range f.Schema.Fields {
				s.Set(more.Key, more.Value)
			}
		}
		if f.Description != "" {
			s.Set("description", tree.Str(f.Description))
		}
		if f.Required {
			required = append(required, f.Name)
		}
		all.Set(f.Name, s)
	}
	o := tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", all))
	if len(required) > 0 {
		o.Set("required", tree.Strs(required))
	}
	o.Set("additionalProperties", tree.Boolean(false))
	return o
}

// Schema returns the schema of an input or output with these fields and no
// others.
func Schema(fields ...Field) *tree.Node {
	o := Object(fields...)
	o.Set("$schema", tree.Str(Draft))
	return o
}

package xrd

import "example.dev/ingestor/document/tree"

// booleanFields are the fields of a definition, and the keywords of a schema, that hold
// a boolean.
var booleanFields = map[string]bool{
	"served": true, "referenceable": true, "deprecated": true,
	"nullable": true, "uniqueItems": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "optionalOldSelf": true,
	"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
	"x-ui-hidden": true, "x-ui-advanced": true,
}

// settleBooleans converts the YAML 1.1 words for booleans, such as served: yes, where a
// boolean is expected, as kubectl does before it sends a file. Elsewhere they stay
// strings. Values from JSON and quoted strings are not converted.
func settleBooleans(n *tree.Node) {
	if n == nil {
		return
	}
	for i := range n.Items {
		settleBooleans(n.Items[i])
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		switch {
		case booleanFields[f.Key]:
			replace(&f.Value, boolean(f.Value))
		case f.Key == "default" || f.Key == "example":
			replace(&f.Value, settled(n, f.Value))
			continue
		}
		settleBooleans(f.Value)
	}
}

// settled returns a value of a schema, with booleans where the schema has them.
func settled(schema, value *tree.Node) *tree.Node {
	if value == nil {
		return nil
	}
	switch value.Kind {
	case tree.Map:
		for i := range value.Fields {
			f := &value.Fields[i]
			inner := schema.Get("properties", f.Key)
			if inner == nil {
				inner = schema.Get("additionalProperties")
			}
			if inner.IsMap() {
				replace(&f.Value, settled(inner, f.Value))
			}
		}
	case tree.List:
		for i := range value.Items {
			replace(&value.Items[i], settled(schema.Get("items"), value.Items[i]))
		}
	case tree.String:
		if schema.Get("type").Str() == "boolean" {
			return boolean(value)
		}
	}
	return value
}

// boolean returns the boolean for a YAML 1.1 word; anything else as it is.
func boolean(n *tree.Node) *tree.Node {
	if !n.IsString() || !n.Plain {
		return n
	}
	text := ""
	switch n.Text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		text = "true"
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		text = "false"
	default:
		return n
	}
	return &tree.Node{Kind: tree.Bool, Plain: true, Text: text, Pos: n.Pos}
}

// replace writes only if the value changes: a definition that was read before may be
// shared.
func replace(at **tree.Node, n *tree.Node) {
	if *at != n {
		*at = n
	}
}

package scaffolder_test

import (
	"slices"
	"strconv"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
)

// texts and numbers are candidates for the value of a field; the first valid
// one is used.
var (
	texts = []string{
		"some text", "one", "10.1.0.0/16", "5 4 * * 1", "www.example.org", "someone@example.org", "https://example.org/hook", "tiny",
	}
	numbers = []int64{0, 1, 2, 3, 5, 10, 12, 20, 100, 256, 1024, 4096}
)

// known has values for fields whose format is not in the form, because browsers
// do not know the format.
var known = map[string]string{"allowedCIDRs": "[10.0.0.0/8, 192.168.0.0/16]", "retention": "36h"}

// fill returns a value for a field of a form, different from its default if
// possible. Objects have all fields, and the first alternative of a choice is
// taken. The n-th of several values differs from the others where possible.
func fill(t *testing.T, name string, schema *tree.Node, n int) *tree.Node {
	t.Helper()
	if text, ok := known[name]; ok {
		return parse(t, text)
	}
	if schema.Has("const") {
		return schema.Get("const")
	}
	if choices := schema.Get("anyOf").List(); len(choices) > 0 && !schema.Has("type") {
		return fill(t, name, choices[0], n)
	}
	var all []*tree.Node
	switch kind := kindOf(schema); kind {
	case "object":
		return fillObject(t, schema, n)
	case "array":
		out := tree.Arr()
		for i := range int64(2) {
			out.Items = append(out.Items, fill(t, "", schema.Get("items"), int(i)+n))
		}
		return out
	case "boolean":
		all = []*tree.Node{tree.Boolean(true), tree.Boolean(false)}
	case "integer", "number":
		for _, i := range numbers {
			all = append(all, tree.Number(i))
		}
	case "string":
		for _, s := range texts {
			all = append(all, tree.Str(s))
		}
	default:
		t.Fatalf("no value is known for %s of type %q: %s", name, kind, tree.AppendJSON(nil, schema, ""))
	}
	if schema.Has("enum") {
		all = slices.Clone(schema.Get("enum").List())
	}
	all = slices.DeleteFunc(all, func(v *tree.Node) bool {
		problems, err := validation.Check(schema, v, nil)
		return err != nil || len(problems) > 0 || v.Equal(schema.Get("default"))
	})
	if len(all) == 0 {
		t.Fatalf("no value is valid for %s: %s", name, tree.AppendJSON(nil, schema, ""))
	}
	return all[n%len(all)]
}

// kindOf returns the type of a field, ignoring null.
func kindOf(schema *tree.Node) string {
	for _, kind := range schema.Get("type").List() {
		if kind.Str() != "null" {
			return kind.Str()
		}
	}
	return schema.Get("type").Str()
}

// fillObject returns a value for an object: with fields, a map, or free-form.
func fillObject(t *testing.T, schema *tree.Node, n int) *tree.Node {
	t.Helper()
	out := fillPage(t, schema, n)
	switch more := schema.Get("additionalProperties"); {
	case more.IsMap():
		for i := range 2 {
			out.Set("key-"+strconv.Itoa(i), fill(t, "", more, i+n))
		}
	case more.IsTrue():
		return parse(t, `{text: "yes", number: 0, nested: {list: [1, two, {three: 3.5}], empty: ""}, no: false}`)
	}
	return out
}

// fillPage returns values for the fields of a page or an object.
func fillPage(t *testing.T, schema *tree.Node, n int) *tree.Node {
	t.Helper()
	out := tree.Obj()
	parts := []*tree.Node{schema}
	if choices := schema.Get("oneOf").List(); len(choices) > 0 {
		parts = append(parts, choices[0])
	}
	for _, part := range parts {
		properties := part.Get("properties")
		if properties == nil {
			continue
		}
		for _, f := range properties.Fields {
			out.Set(f.Key, fill(t, f.Key, f.Value, n))
		}
	}
	return out
}

// required returns only the required values of a page.
func required(schema, filled *tree.Node) *tree.Node {
	out := tree.Obj()
	keep := func(part *tree.Node) {
		for _, key := range part.Get("required").Strings() {
			out.Set(key, filled.Get(key))
		}
	}
	keep(schema)
	if choices := schema.Get("oneOf").List(); len(choices) > 0 {
		keep(choices[0])
	}
	return out
}

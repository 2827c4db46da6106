package judge

import (
	"slices"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
)

// set is a deterministic way to fill forms.
type set struct {
	name string
	// all fills every property, otherwise only required ones.
	all bool
	// delivery is the value for the choice of delivery.
	delivery string
	// likes are tried first, by type.
	likes map[string][]*tree.Node
	// wrong uses the first value of likes even if it is invalid.
	wrong bool
}

const odd = "${{ parameters.name }} {{ x }} {% if %} {# no #} \"quoted\" 'single' \\ back\tslash/ <b>&amp; größe 😀 \u2028 end "

// falsySet is the set of values that are false in a condition, null where
// allowed.
const falsySet = "falsy"

// sets are all sets. Their values are valid for the form, except for wrong
// ones.
var sets = []set{
	{name: "all", all: true, delivery: "apply"},
	{name: "proposed", all: true, delivery: "change-request"},
	{name: "required", delivery: "apply"},
	{name: falsySet, all: true, delivery: "apply", likes: falsy},
	{name: "odd", all: true, delivery: "change-request", likes: map[string][]*tree.Node{
		"string":  {tree.Str(odd), tree.Str("null"), tree.Str("0")},
		"integer": {tree.Number(-1), tree.Number(9007199254740991), tree.Number(1)},
		"boolean": {tree.Boolean(false)},
		"anything": {tree.Obj(tree.F("2", tree.Str("two")), tree.F("10", tree.Nil()), tree.F("a.b/c d", tree.Arr(tree.Nil(), tree.Obj(), tree.Arr(), tree.Str(odd))),
			tree.F("", tree.Str("")), tree.F("${{ parameters.name }}", tree.Boolean(true)), tree.F("n", &tree.Node{Kind: tree.Float, Text: "0.1"}))},
	}},
	{name: "nothing", delivery: "apply", wrong: true, likes: falsy},
	{name: "falsy-anyway", all: true, delivery: "change-request", wrong: true, likes: falsy},
	{name: "wrong-types", all: true, delivery: "apply", wrong: true, likes: map[string][]*tree.Node{
		"string":   {tree.Number(7)},
		"integer":  {&tree.Node{Kind: tree.Float, Text: "1.5"}},
		"boolean":  {tree.Str("yes")},
		"array":    {tree.Obj(tree.F("0", tree.Str("a")))},
		"object":   {tree.Arr(tree.Str("a"))},
		"anything": {tree.Nil()},
	}},
}

var falsy = map[string][]*tree.Node{
	"string": {tree.Str("")}, "integer": {tree.Number(0)}, "boolean": {tree.Boolean(false)},
	"array": {tree.Arr()}, "object": {tree.Obj()}, "anything": {tree.Obj()},
}

// plausible are tried next.
var plausible = map[string][]*tree.Node{
	"string": {tree.Str("some-text"), tree.Str("a"), tree.Str("shop.example.org"), tree.Str("0 3 * * *"), tree.Str("ann@example.org"),
		tree.Str("https://example.org/hook"), tree.Str("10.1.0.0/16")},
	"integer": {tree.Number(3), tree.Number(30), tree.Number(4096)},
	"boolean": {tree.Boolean(true)},
	"anything": {tree.Obj(tree.F("image", tree.Obj(tree.F("tag", tree.Str("1.0")), tree.F("pull", tree.Boolean(false)))),
		tree.F("list", tree.Arr(tree.Number(0), tree.Str("two"), tree.Nil(), &tree.Node{Kind: tree.Float, Text: "1.5"})))},
}

// fill fills a form.
func (s set) fill(t *testing.T, form *tree.Node) *tree.Node {
	t.Helper()
	out := tree.Obj()
	for _, page := range validation.Pages(form) {
		s.object(t, out, page)
		if s.wrong {
			continue
		}
		found, err := validation.Check(page, out, nil)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if len(found) > 0 {
			t.Fatalf("%s: values are invalid: %s", s.name, found[0].Stack)
		}
	}
	return out
}

// object fills the properties of an object.
func (s set) object(t *testing.T, out, schema *tree.Node) {
	t.Helper()
	required := schema.Get("required").Strings()
	if p := schema.Get("properties"); p.IsMap() {
		for _, f := range p.Fields {
			if s.all || !s.wrong && slices.Contains(required, f.Key) {
				out.Set(f.Key, s.value(t, f.Key, f.Value))
			}
		}
	}
	if one := schema.Get("oneOf").List(); len(one) > 0 {
		s.object(t, out, one[0])
	}
	if d := schema.Get("dependencies"); d.IsMap() {
		for _, f := range d.Fields {
			for _, branch := range f.Value.Get("oneOf").List() {
				if slices.Contains(branch.Get("properties", f.Key, "enum").Strings(), out.Get(f.Key).Str()) {
					branch = branch.Clone()
					branch.Get("properties").Delete(f.Key)
					s.object(t, out, branch)
				}
			}
		}
	}
}

// value returns a value for a property.
func (s set) value(t *testing.T, name string, schema *tree.Node) *tree.Node {
	t.Helper()
	if name == "delivery" {
		return tree.Str(s.delivery)
	}
	kind := schema.Get("type").Str()
	if list := schema.Get("anyOf").List(); kind == "" && len(list) > 0 {
		return s.value(t, name, list[len(s.delivery)%len(list)])
	}
	more := schema.Get("additionalProperties")
	if more.IsTrue() || kind == "" {
		kind = "anything"
	}
	var candidates []*tree.Node
	if types := schema.Get("type").Strings(); len(types) > 0 {
		kind = types[0]
		if s.name == falsySet && slices.Contains(types, "null") {
			candidates = append(candidates, tree.Nil())
		}
	}
	candidates = append(candidates, s.likes[kind]...)
	if enum := schema.Get("enum").List(); len(enum) > 0 {
		candidates = append(candidates, enum[len(enum)-1])
	}
	switch {
	case kind == "array":
		candidates = append(candidates, tree.Arr(s.value(t, "", schema.Get("items"))))
	case kind == "object" && more.IsMap():
		candidates = append(candidates, tree.Obj(tree.F("key-1", s.value(t, "", more)), tree.F("2", s.value(t, "", more))))
	case kind == "object":
		out := tree.Obj()
		s.object(t, out, schema)
		candidates = append(candidates, out)
	default:
		candidates = append(candidates, plausible[kind]...)
	}
	for _, c := range candidates {
		problems, err := validation.Check(schema, c, nil)
		if s.wrong || err == nil && len(problems) == 0 {
			return c
		}
	}
	t.Fatalf("%s: no valid value for %s: %s", s.name, name, tree.AppendJSON(nil, schema, ""))
	return nil
}

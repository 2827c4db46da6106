package form

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
)

// TestEverySpecHasValues draws a schema and a spec that is valid for it. The
// values of the form that make the spec are accepted by the pages, and make
// exactly the spec.
func TestEverySpecHasValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]string{modern, modernCluster, legacy, legacyClaim}).Draw(r, "kind")
		drawn := drawObject(r, 3)
		if drawn.schema.Get("properties").Len() == 1 {
			// A lone wrapper that is left out comes back empty.
			drawn.schema.Set("required", tree.Strs([]string{drawn.schema.Get("properties").Fields[0].Key}))
		}
		schema := drawn.schema
		d, v := define(t, kind, object(schema))
		opts := Options{GitOps: rapid.Bool().Draw(r, "gitops"), Compositions: rapid.SampledFrom([][]string{nil, {"a", "b"}}).Draw(r, "compositions")}
		f, err := compilePages(Compile(d, v, opts))
		if err != nil {
			r.Fatalf("%v\n%s", err, text(schema))
		}
		shuffledD, shuffledV := define(t, kind, object(shuffled(schema, rand.New(rand.NewPCG(1, 2)))))
		if bytesOf(f.Form) != bytesOf(Compile(shuffledD, shuffledV, opts)) {
			r.Fatalf("form depends on the order of keys of\n%s", text(schema))
		}
		spec := drawn.value(r)
		values := withMetadata(f.Values(spec))
		if opts.GitOps {
			values.Set(ParamDelivery, tree.Str(DeliverApply))
		}
		if err := f.validate(values); err != nil {
			r.Fatalf("%v\nschema:\n%s\nspec:\n%s", err, text(schema), text(spec))
		}
		manifest, err := render(f.Manifest, values)
		if err != nil {
			r.Fatal(err)
		}
		if got := manifest.Get("spec"); !got.Equal(spec) {
			r.Fatalf("schema:\n%s\nspec:\n%s\nmade:\n%s", text(schema), text(spec), text(got))
		}
	})
}

// drawn is a schema with a way to draw values that are valid for it.
type drawn struct {
	schema *tree.Node
	value  func(*rapid.T) *tree.Node
}

// drawSchema draws any schema, objects at most depth deep.
func drawSchema(r *rapid.T, depth int) drawn {
	kinds := []func(*rapid.T) drawn{drawString, drawInteger, drawNumber, drawBoolean, drawEnum, drawIntOrString, drawFree, drawPattern}
	if depth > 0 {
		inner := func(r *rapid.T) drawn { return drawSchema(r, depth-1) }
		kinds = append(kinds,
			func(r *rapid.T) drawn { return drawObject(r, depth-1) },
			func(r *rapid.T) drawn { return drawChoice(r, depth-1) },
			func(r *rapid.T) drawn { return drawArray(r, inner) },
			func(r *rapid.T) drawn { return drawMap(r, inner) },
		)
	}
	d := rapid.SampledFrom(kinds).Draw(r, "kind of schema")(r)
	if rapid.IntRange(0, 5).Draw(r, "nullable") == 0 {
		value := d.value
		d.schema.Set("nullable", tree.Boolean(true))
		d.value = func(r *rapid.T) *tree.Node {
			if rapid.Bool().Draw(r, "null") {
				return tree.Nil()
			}
			return value(r)
		}
	}
	if rapid.IntRange(0, 3).Draw(r, "default") == 0 {
		d.schema.Set("default", d.value(r))
	}
	drawHints(r, d.schema)
	return d
}

func drawHints(r *rapid.T, s *tree.Node) {
	hints := map[string]*tree.Node{
		"x-ui-hidden":      tree.Boolean(true),
		"x-ui-advanced":    tree.Boolean(true),
		"x-ui-order":       tree.Number(3),
		"x-ui-field":       tree.Str("Picker"),
		"x-ui-options":     tree.Obj(tree.F("rows", tree.Number(5))),
		"x-ui-placeholder": tree.Str("such as this"),
		"title":            tree.Str("A title"),
		"description":      tree.Str("A sentence. And <another>."),
		"x-kubernetes-validations": tree.Arr(tree.Obj(
			tree.F("rule", tree.Str("self == oldSelf")), tree.F("message", tree.Str("Is fixed.")))),
	}
	for range rapid.IntRange(0, 2).Draw(r, "hints") {
		key := rapid.SampledFrom([]string{"x-ui-hidden", "x-ui-advanced", "x-ui-order", "x-ui-field", "x-ui-options", "x-ui-placeholder",
			"title", "description", "x-kubernetes-validations"}).Draw(r, "hint")
		s.Set(key, hints[key])
	}
}

// names are property names, many of which have a special meaning elsewhere.
var names = []string{
	"size", "region", "name", "namespace", "owner", "spec", "spec_name", "composition", "delivery", "type", "properties", "required", "enum", "title",
	"description", "default", "items", "pattern", "oneOf", "a-b", "a.b", `a"b`, "größe", "true", "null", "if", "1st", "", "a}}b", "dbURL", "someRef",
}

// drawObject draws an object with some properties, of which some are required.
func drawObject(r *rapid.T, depth int) drawn {
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID[string]).Draw(r, "names")
	props, inner := tree.Obj(), map[string]drawn{}
	var required []string
	for _, key := range keys {
		d := drawSchema(r, depth)
		inner[key] = d
		props.Set(key, d.schema)
		if rapid.Bool().Draw(r, "required") {
			required = append(required, key)
		}
	}
	s := typed("object")
	s.Set("properties", props)
	s.Set("required", tree.Strs(required))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		out := tree.Obj()
		for _, key := range keys {
			// A required field may be added to the schema afterwards.
			if contains(s.Get("required"), key) || rapid.Bool().Draw(r, "given") {
				out.Set(key, inner[key].value(r))
			}
		}
		return out
	}}
}

func contains(list *tree.Node, s string) bool {
	for _, it := range list.Strings() {
		if it == s {
			return true
		}
	}
	return false
}

// drawChoice draws an object of which exactly one, or at least one, property is
// required.
func drawChoice(r *rapid.T, depth int) drawn {
	d := drawObject(r, depth)
	d.schema.Delete("required")
	props := d.schema.Get("properties")
	junctor := rapid.SampledFrom([]string{"oneOf", "anyOf"}).Draw(r, "junctor")
	branches := tree.Arr()
	for _, p := range props.Fields {
		branches.Items = append(branches.Items, tree.Obj(tree.F("required", tree.Strs([]string{p.Key}))))
	}
	d.schema.Set(junctor, branches)
	all := d.value
	d.value = func(r *rapid.T) *tree.Node {
		chosen := rapid.IntRange(0, len(props.Fields)-1).Draw(r, "chosen")
		d.schema.Set("required", tree.Strs([]string{props.Fields[chosen].Key}))
		out := all(r)
		d.schema.Delete("required")
		for i, p := range props.Fields {
			if junctor == "oneOf" && i != chosen {
				out.Delete(p.Key)
			}
		}
		return out
	}
	return d
}

func typed(name string) *tree.Node { return tree.Obj(tree.F("type", tree.Str(name))) }

func drawArray(r *rapid.T, item func(*rapid.T) drawn) drawn {
	d := item(r)
	s := typed("array")
	low := rapid.IntRange(0, 2).Draw(r, "minItems")
	high := low + rapid.IntRange(0, 2).Draw(r, "more items")
	s.Set("items", d.schema)
	s.Set("minItems", tree.Number(int64(low)))
	s.Set("maxItems", tree.Number(int64(high)))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		out := tree.Arr()
		for range rapid.IntRange(low, high).Draw(r, "items") {
			out.Items = append(out.Items, d.value(r))
		}
		return out
	}}
}

func drawMap(r *rapid.T, value func(*rapid.T) drawn) drawn {
	d := value(r)
	s := typed("object")
	s.Set("additionalProperties", d.schema)
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		out := tree.Obj()
		for _, key := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(r, "keys") {
			out.Set(key, d.value(r))
		}
		return out
	}}
}

func drawString(r *rapid.T) drawn {
	s := typed("string")
	high := rapid.IntRange(0, 8).Draw(r, "maxLength")
	s.Set("maxLength", tree.Number(int64(high)))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node { return tree.Str(rapid.StringN(0, high, -1).Draw(r, "text")) }}
}

func drawPattern(r *rapid.T) drawn {
	cases := []struct {
		pattern string
		matches []string
	}{
		{`^[a-z]+$`, []string{"a", "abc"}}, {`(?i)^ab$`, []string{"AB", "aB"}}, {`^[[:alpha:]]\d$`, []string{"x1"}},
		{`(?m)^x$`, []string{"y\nx"}}, {`\A[\w-.]+\z`, []string{"a-b.c"}}, {`^\p{Lu}`, []string{"Äb"}}, {``, []string{"", "any"}},
	}
	c := rapid.SampledFrom(cases).Draw(r, "pattern")
	s := typed("string")
	s.Set("pattern", tree.Str(c.pattern))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node { return tree.Str(rapid.SampledFrom(c.matches).Draw(r, "match")) }}
}

func drawInteger(r *rapid.T) drawn {
	s := typed("integer")
	low := rapid.Int64Range(-5, 5).Draw(r, "minimum")
	s.Set("minimum", tree.Number(low*3))
	s.Set("maximum", tree.Number(low*3+9))
	s.Set("multipleOf", tree.Number(3))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		return tree.Number(3 * rapid.Int64Range(low, low+3).Draw(r, "integer"))
	}}
}

func drawNumber(r *rapid.T) drawn {
	s := typed("number")
	exclusive := rapid.Bool().Draw(r, "exclusive")
	s.Set("minimum", tree.Number(0))
	s.Set("exclusiveMinimum", tree.Boolean(exclusive))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		n, err := tree.From(rapid.Float64Range(0.001, 1e9).Draw(r, "number"))
		if err != nil {
			panic(err)
		}
		return n
	}}
}

func drawBoolean(*rapid.T) drawn {
	return drawn{schema: typed("boolean"), value: func(r *rapid.T) *tree.Node { return tree.Boolean(rapid.Bool().Draw(r, "boolean")) }}
}

func drawEnum(r *rapid.T) drawn {
	choices := tree.Arr()
	for range rapid.IntRange(1, 4).Draw(r, "choices") {
		choices.Items = append(choices.Items, drawAny(r, 1))
	}
	return drawn{schema: tree.Obj(tree.F("enum", choices)), value: func(r *rapid.T) *tree.Node {
		return rapid.SampledFrom(choices.Items).Draw(r, "choice")
	}}
}

func drawIntOrString(*rapid.T) drawn {
	s := tree.Obj(tree.F("x-kubernetes-int-or-string", tree.Boolean(true)))
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		if rapid.Bool().Draw(r, "is a number") {
			return tree.Number(rapid.Int64().Draw(r, "number"))
		}
		return tree.Str(rapid.String().Draw(r, "text"))
	}}
}

// drawFree draws a schema that accepts anything of its type.
func drawFree(r *rapid.T) drawn {
	shape := rapid.SampledFrom([]string{"any", "object", "array", "open"}).Draw(r, "free")
	s := typed(shape)
	switch shape {
	case "any":
		s = tree.Obj(tree.F("x-kubernetes-preserve-unknown-fields", tree.Boolean(true)))
	case "open":
		s = typed("object")
		s.Set("x-kubernetes-preserve-unknown-fields", tree.Boolean(true))
	}
	return drawn{schema: s, value: func(r *rapid.T) *tree.Node {
		switch shape {
		case "any":
			return drawAny(r, 2)
		case "array":
			return tree.Arr(drawAny(r, 1))
		}
		return tree.Obj(tree.F(rapid.String().Draw(r, "key"), drawAny(r, 1)))
	}}
}

// drawAny draws any value.
func drawAny(r *rapid.T, depth int) *tree.Node {
	switch kind := rapid.IntRange(0, 4+2*min(depth, 1)).Draw(r, "kind of value"); kind {
	case 0:
		return tree.Nil()
	case 1:
		return tree.Boolean(rapid.Bool().Draw(r, "boolean"))
	case 2:
		return tree.Number(rapid.Int64().Draw(r, "integer"))
	case 3:
		n, err := tree.From(rapid.Float64Range(-1e6, 1e6).Draw(r, "number"))
		if err != nil {
			panic(err)
		}
		return n
	case 5:
		return tree.Arr(drawAny(r, depth-1), drawAny(r, depth-1))
	case 6:
		return tree.Obj(tree.F(fmt.Sprint("k", kind), drawAny(r, depth-1)))
	}
	return tree.Str(rapid.String().Draw(r, "text"))
}

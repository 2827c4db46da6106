package form

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// FuzzCompile uses any document as a schema. The result is always a form: pages
// that are JSON Schemas, a manifest that can be rendered, and the same bytes
// for any order of keys.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`{type: object, required: [a], properties: {a: {type: string, pattern: "(?i)^a", enum: [a, null]}, name: {type: integer, minimum: 0, exclusiveMinimum: true}}}`,
		`{properties: {spec: {properties: {parameters: {type: object, properties: {size: {type: integer, default: 0}}}}}}}`,
		`{x-kubernetes-preserve-unknown-fields: true, additionalProperties: {type: array, items: {x-kubernetes-int-or-string: true, nullable: true}}}`,
		`{oneOf: [{required: [a]}, {required: [b], title: x}], not: {required: [c]}, anyOf: [{pattern: "(?m)^x"}], allOf: [{properties: {a: {minLength: 1}}}],
		properties: {a: {}, b: {enum: [1, 1, {x: y}]}, c: {type: object, nullable: true, oneOf: [{required: [x]}]}}}`,
		`{description: "A. B.", x-kubernetes-validations: [{rule: self == oldSelf}], properties: {a: {x-ui-hidden: true, x-ui-order: 1, x-ui-options: {a: b}, x-ui-field: c}}}`,
		`{properties: {properties: {properties: {properties: {type: object}}}, "a\"b}}": {type: [string], items: {}, enum: []}}}`,
		`{properties: {a: {type: number, multipleOf: 0.1, maximum: 1e400, format: int32}, b: {type: array, uniqueItems: true, minItems: 99999999999999999999}}}`,
		"a: &a {properties: {b: {type: string}}}\nproperties: {x: *a, y: {<<: *a, nullable: true}}",
		`[]`, `text`, `{}`,
	} {
		f.Add([]byte(seed), uint8(0))
	}
	kinds := []string{modern, modernCluster, legacy, legacyClaim, legacyDefaults}
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		docs, _ := parser.DecodeBytes(data)
		if len(docs) == 0 {
			return
		}
		schema := docs[0]
		if choice&0x80 == 0 {
			schema = object(schema)
		}
		opts := Options{GitOps: choice&0x40 != 0, Repository: "https://github.com/a/b"}
		if choice&0x20 != 0 {
			opts.Compositions = []string{"a", "b"}
		}
		if err := holds(kinds[int(choice&0x1F)%len(kinds)], schema, docs[0], opts); err != nil {
			t.Error(err)
		}
	})
}

// TestAnySchemaHasForm draws what FuzzCompile rarely finds: all keywords of a
// schema, each with a valid or an invalid value.
func TestAnySchemaHasForm(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spec := drawAnything(r, 4)
		schema := tree.Obj(tree.F("properties", tree.Obj(tree.F("spec", spec))))
		if err := holds(rapid.SampledFrom([]string{modern, legacyClaim}).Draw(r, "kind"), schema, spec, Options{Compositions: []string{"a", "b"}}); err != nil {
			r.Fatalf("%v\n%s", err, text(schema))
		}
	})
}

// drawAnything draws a schema that may be invalid.
func drawAnything(r *rapid.T, depth int) *tree.Node {
	if depth == 0 || rapid.IntRange(0, 9).Draw(r, "nonsense") == 0 {
		return drawAny(r, 1)
	}
	out := tree.Obj()
	for range rapid.IntRange(1, 5).Draw(r, "keywords") {
		key := rapid.SampledFrom(schemaKeywords).Draw(r, "keyword")
		switch key {
		case "properties":
			props := tree.Obj()
			for range rapid.IntRange(0, 3).Draw(r, "properties") {
				props.Set(rapid.SampledFrom(names).Draw(r, "name"), drawAnything(r, depth-1))
			}
			out.Set(key, props)
		case "items", "additionalProperties", "not":
			out.Set(key, drawAnything(r, depth-1))
		case "oneOf", "anyOf", "allOf":
			out.Set(key, tree.Arr(drawAnything(r, depth-1), drawAnything(r, depth-1)))
		case "required", "enum":
			out.Set(key, tree.Arr(drawWord(r), drawWord(r), drawAny(r, 1)))
		default:
			out.Set(key, drawWord(r))
		}
	}
	return out
}

// drawWord draws a value that is valid for some keyword.
func drawWord(r *rapid.T) *tree.Node {
	word := rapid.SampledFrom([]string{
		"object", "array", "string", "integer", "number", "boolean", "true", "size", "name", "x", "", "date", "uri", "(?i)a", "(?m)^a$", "(?=a)", `[\w-.]`, "A. B.",
	})
	return rapid.OneOf(
		rapid.Map(word, tree.Str), rapid.Map(word, tree.Str), rapid.Map(word, tree.Str),
		rapid.Map(rapid.Bool(), tree.Boolean),
		rapid.Map(rapid.Int64Range(-2, 5), tree.Number),
		rapid.SampledFrom([]*tree.Node{
			tree.Nil(), tree.Obj(), tree.Arr(), {Kind: tree.Float, Text: "0.5"}, {Kind: tree.Float, Text: "-1e+300"},
			{Kind: tree.Int, Text: "99999999999999999999"}, tree.Obj(tree.F("rule", tree.Str("self == oldSelf"))),
		}),
	).Draw(r, "word")
}

var schemaKeywords = []string{
	"type", "type", "type", "properties", "properties", "items", "additionalProperties", "required", "enum", "default", "nullable", "pattern", "format",
	"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
	"minProperties", "maxProperties", "oneOf", "anyOf", "allOf", "not", "title", "description", "x-kubernetes-int-or-string",
	"x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations", "x-ui-hidden", "x-ui-advanced", "x-ui-order", "x-ui-field", "x-ui-options", "$ref", "$id",
}

// holds checks what must hold for the form of any schema.
func holds(kind string, schema, spec *tree.Node, opts Options) error {
	f, again := formOf(kind, schema, opts), formOf(kind, shuffled(schema, rand.New(rand.NewPCG(1, 2))), opts)
	if bytesOf(f) != bytesOf(again) {
		return fmt.Errorf("form depends on the order of keys:\n%s\nor:\n%s", bytesOf(f), bytesOf(again))
	}
	if _, err := compilePages(f); err != nil {
		return fmt.Errorf("%w\n%s", err, text(f.Pages))
	}
	_, err := render(f.Manifest, withMetadata(f.Values(spec)))
	return err
}

func formOf(kind string, schema *tree.Node, opts Options) *Form {
	docs, _ := parser.DecodeBytes([]byte(flat(kind)))
	n := docs[0].Clone()
	n.Get("spec").Set("versions", tree.Arr(tree.Obj(tree.F("name", tree.Str("v1")), tree.F("schema", tree.Obj(tree.F("openAPIV3Schema", schema))))))
	d := xrd.NewDefinition(n, xrd.Origin{})
	return Compile(d, d.Preferred(), opts)
}

package openapi

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// FuzzSchema uses any document as a schema. The result is always valid OpenAPI;
// only defaults and patterns of the schema may violate its own rules.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{type: object, required: [a, a], properties: {a: {type: array}, b: {type: bool, enum: [true, true], default: 5}}}`,
		`{oneOf: [{type: text}, a], not: {}, anyOf: [], allOf: [{$ref: "#/x"}], x-kubernetes-int-or-string: true}`,
		`{type: integer, minimum: 1e400, multipleOf: 0, maximum: 99999999999999999999, minLength: 99999999999999999999, format: int32}`,
		`{additionalProperties: {additionalProperties: false}, items: [], example: {a: 1}, nullable: 1, deprecated: true, pattern: "(?=a)"}`,
		`{properties: {properties: {properties: {"": null, "a/b~c": {discriminator: {propertyName: x}, xml: 1, externalDocs: 2, readOnly: true}}}}}`,
		`[]`, `text`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, _ := parser.DecodeBytes(data)
		if len(docs) == 0 {
			return
		}
		d, v := define(t, modern, `{name: v1}`)
		v.Schema = tree.Obj(tree.F("properties", tree.Obj(tree.F("spec", docs[0]), tree.F("status", docs[0]))))
		doc := Document(d, v, Info{Title: "T", Version: "v1"})
		if _, err := load(doc, openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableExamplesValidation(), openapi3.DisableSchemaPatternValidation()); err != nil {
			t.Errorf("%v\n%s", err, written(doc))
		}
	})
}

package openapi

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

func TestPaths(t *testing.T) {
	cases := map[string]struct {
		reason     string
		kind       string
		path       string
		parameters []string
		component  string
		namespaced bool
	}{
		"namespaced":  {"v2 is Namespaced by default, and its paths have a namespace.", modern, "/apis/example.org/v1/namespaces/{namespace}/widgets", []string{"namespace"}, "Widget", true},
		"cluster":     {"v2 with scope Cluster has no namespace in its paths.", modernCluster, "/apis/example.org/v1/widgets", nil, "Widget", false},
		"claim":       {"v1 with a claim describes the claim, which is namespaced.", legacyClaim, "/apis/example.org/v1/namespaces/{namespace}/widgets", []string{"namespace"}, "Widget", true},
		"composite":   {"v1 without a claim describes the composite, which is cluster-scoped.", legacy, "/apis/example.org/v1/xwidgets", nil, "XWidget", false},
		"no plural":   {"A missing plural is derived from the kind.", `{apiVersion: apiextensions.crossplane.io/v2, spec: {group: g.io, names: {kind: Thing}}}`, "/apis/g.io/v1/namespaces/{namespace}/things", []string{"namespace"}, "Thing", true},
		"strange one": {"A kind with characters that component names do not allow is changed.", `{apiVersion: apiextensions.crossplane.io/v2, spec: {group: g.io, scope: Cluster, names: {kind: "Ä b/c", plural: things}}}`, "/apis/g.io/v1/things", nil, "bc", false},
		"no name":     {"A kind without any allowed character gets a default component name.", `{apiVersion: apiextensions.crossplane.io/v2, spec: {group: g.io, scope: Cluster, names: {kind: 日本, plural: things}}}`, "/apis/g.io/v1/things", nil, "Resource", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, v := define(t, tc.kind, `{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}`)
			api, err := load(Document(d, v, Info{Title: "T", Version: "v1"}))
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff([]string{tc.path}, api.Paths.InMatchingOrder()); diff != "" {
				t.Errorf("%s\npaths: -want +got:\n%s", tc.reason, diff)
			}
			post := api.Paths.Value(tc.path).Post
			var parameters []string
			for _, p := range post.Parameters {
				parameters = append(parameters, p.Value.Name)
			}
			if diff := cmp.Diff(tc.parameters, parameters); diff != "" {
				t.Errorf("%s\nparameters: -want +got:\n%s", tc.reason, diff)
			}
			body := post.RequestBody.Value.Content["application/yaml"].Schema
			if diff := cmp.Diff("#/components/schemas/"+tc.component, body.Ref); diff != "" {
				t.Errorf("%s\nbody: -want +got:\n%s", tc.reason, diff)
			}
			meta := body.Value.Properties["metadata"].Value
			if _, ok := meta.Properties["namespace"]; ok != tc.namespaced {
				t.Errorf("%s\nmetadata has a namespace: %v", tc.reason, ok)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	d, v := define(t, modernCluster, `{name: v1beta1, deprecated: true, schema: {openAPIV3Schema: {type: object, description: A widget., required: [spec],
		properties: {status: {type: object, properties: {phase: {type: string}}}, spec: {type: object, required: [size, size], properties: {size: {type: integer, enum: [1, 2]},
		net: {type: object, required: [cidr], properties: {zones: {type: array, items: {type: object, properties: {id: {type: string}}}}, cidr: {type: string}}}}}}}}}`)
	got := Document(d, v, Info{Title: "Widget API", Description: "Makes widgets.", Version: "v1beta1", Kind: "REST"})
	want := `openapi: 3.0.0
info:
  title: Widget API
  description: Makes widgets.
  version: v1beta1
  x-api-kind: REST
paths:
  /apis/example.org/v1beta1/widgets:
    post:
      operationId: createWidget
      summary: Create Widget
      deprecated: true
      requestBody:
        required: true
        content:
          application/yaml:
            schema:
              $ref: "#/components/schemas/Widget"
      responses:
        "201":
          description: Widget created
          content:
            application/json:
              schema:
                $ref: "#/components/schemas/Widget"
        "400":
          description: The request is not valid YAML or JSON
        "401":
          description: The caller is not known
        "403":
          description: The caller may not create the resource
        "409":
          description: A resource of that name exists already
        "422":
          description: The resource does not match its schema
components:
  schemas:
    Widget:
      type: object
      description: A widget.
      required:
        - apiVersion
        - kind
        - metadata
        - spec
      properties:
        apiVersion:
          type: string
          enum:
            - example.org/v1beta1
        kind:
          type: string
          enum:
            - Widget
        metadata:
          type: object
          required:
            - name
          properties:
            name:
              type: string
            labels:
              type: object
              additionalProperties:
                type: string
            annotations:
              type: object
              additionalProperties:
                type: string
        spec:
          type: object
          required:
            - size
          properties:
            net:
              type: object
              required:
                - cidr
              properties:
                cidr:
                  type: string
                zones:
                  type: array
                  items:
                    type: object
                    properties:
                      id:
                        type: string
            size:
              type: integer
              enum:
                - 1
                - 2
        status:
          type: object
          properties:
            phase:
              type: string
`
	if diff := cmp.Diff(want, written(got)); diff != "" {
		t.Errorf("complete document in a fixed order (-want +got):\n%s", diff)
	}
	if _, err := load(got); err != nil {
		t.Error(err)
	}
}

func TestDocumentWithoutSchema(t *testing.T) {
	cases := map[string]struct{ reason, version string }{
		"no schema": {"A version without a schema has a document.", `{name: v1}`},
		"no spec":   {"A version without spec has a document.", `{name: v1, schema: {openAPIV3Schema: {type: object}}}`},
		"bad spec":  {"A version whose spec is not a schema has a document.", `{name: v1, schema: {openAPIV3Schema: {required: [spec], properties: {spec: text}}}}`},
		"open":      {"A version that accepts anything has a document.", `{name: v1, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, v := define(t, modern, tc.version)
			if _, err := load(Document(d, v, Info{Title: "T", Version: "v1"})); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	cases := map[string]struct{ reason, in, want string }{
		"order":          {"Keywords have a fixed order, independent of the source.", `{x-b: 1, items: {type: string}, type: array, description: d, title: t, x-a: 2}`, `{title: t, description: d, type: array, items: {type: string}, x-a: 2, x-b: 1}`},
		"properties":     {"All properties are sorted by name.", `{type: object, properties: {b: {type: string}, a: {properties: {z: {type: string}, y: {}}}}}`, `{type: object, properties: {a: {properties: {"y": {}, z: {type: string}}}, b: {type: string}}}`},
		"no items":       {"An array always has items, as OpenAPI requires.", `{type: array}`, `{type: array, items: {}}`},
		"bad items":      {"Invalid items are replaced.", `{type: array, items: text}`, `{type: array, items: {}}`},
		"bad types":      {"Types that OpenAPI does not know are corrected or left out.", `{properties: {a: {type: bool}, b: {type: int}, c: {type: text}, d: {type: [string]}, e: {type: "null"}}}`, `{properties: {a: {type: boolean}, b: {type: integer}, c: {}, d: {}, e: {}}}`},
		"unknown":        {"Unknown keywords are left out.", `{type: string, const: a, $ref: "#/x", $schema: y, if: {}, examples: [a], patternProperties: {}, definitions: {}}`, `{type: string}`},
		"extensions":     {"x-kubernetes-* and other extensions are kept.", `{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: r, message: m}]}`, `{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{message: m, rule: r}]}`},
		"int or string":  {"x-kubernetes-int-or-string becomes anyOf.", `{x-kubernetes-int-or-string: true, type: string}`, `{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}`},
		"own anyOf":      {"An existing anyOf is kept.", `{x-kubernetes-int-or-string: true, anyOf: [{type: integer, minimum: 1}, {type: string}]}`, `{anyOf: [{type: integer, minimum: 1}, {type: string}], x-kubernetes-int-or-string: true}`},
		"formats":        {"A format that the form does not know is kept in the API document.", `{type: string, format: cidr}`, `{type: string, format: cidr}`},
		"enum":           {"Enums keep their values and types.", `{enum: [a, 1, 1.5, true, null, ""]}`, `{enum: [a, 1, 1.5, true, null, ""]}`},
		"defaults":       {"Defaults are kept exactly.", `{properties: {a: {type: boolean, default: false}, b: {type: integer, default: 0}, c: {type: string, default: ""}, d: {type: object, default: {}}}}`, `{properties: {a: {type: boolean, default: false}, b: {type: integer, default: 0}, c: {type: string, default: ""}, d: {type: object, default: {}}}}`},
		"constraints":    {"Constraints are kept.", `{type: number, minimum: 0, exclusiveMinimum: true, maximum: 5, multipleOf: 0.5, nullable: true}`, `{type: number, nullable: true, minimum: 0, exclusiveMinimum: true, maximum: 5, multipleOf: 0.5}`},
		"nonsense":       {"Invalid constraints are left out.", `{type: string, minLength: -1, maxLength: x, pattern: 5, enum: [], required: text, nullable: "yes", minimum: a, title: 5, maxProperties: 99999999999999999999}`, `{type: string}`},
		"junctors":       {"oneOf, anyOf and not are kept.", `{oneOf: [{required: [a]}, text], anyOf: [{type: string}], allOf: [], not: {type: object}}`, `{oneOf: [{required: [a]}], anyOf: [{type: string}], not: {type: object}}`},
		"empty junctors": {"oneOf and anyOf without valid branches are left out.", `{oneOf: [text], anyOf: []}`, `{}`},
		"maps":           {"Maps of schemas and of any values are kept.", `{properties: {a: {additionalProperties: {type: array}}, b: {additionalProperties: false}, c: {additionalProperties: text}}}`, `{properties: {a: {additionalProperties: {type: array, items: {}}}, b: {additionalProperties: false}, c: {}}}`},
		"required":       {"required lists each field once.", `{required: [b, a, b, 5], properties: {a: {}, b: {}}}`, `{required: [b, a], properties: {a: {}, b: {}}}`},
		"names":          {"Properties named like keywords are properties.", `{properties: {type: {type: string}, required: {type: boolean}, properties: {properties: {enum: {enum: [x]}}}, x-y: {type: string}}}`, `{properties: {properties: {properties: {enum: {enum: [x]}}}, required: {type: boolean}, type: {type: string}, x-y: {type: string}}}`},
		"not a schema":   {"A property that is not a schema accepts any value.", `{properties: {a: null, b: text}}`, `{properties: {a: {}, b: {}}}`},
		"deprecated":     {"deprecated is kept.", `{type: string, deprecated: true}`, `{type: string, deprecated: true}`},
		"multiples":      {"A multipleOf that is zero or negative is left out.", `{allOf: [{multipleOf: 0}, {multipleOf: -0.5}, {multipleOf: 0.5}]}`, `{allOf: [{}, {}, {multipleOf: 0.5}]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Schema(yaml(t, tc.in))
			if diff := cmp.Diff(written(yaml(t, tc.want)), written(got)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			d, v := define(t, modern, `{name: v1, schema: {openAPIV3Schema: {properties: {spec: `+tc.in+`}}}}`)
			if _, err := load(Document(d, v, Info{Title: "T", Version: "v1"})); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

// shuffled returns n with the keys of every map in another order.
func shuffled(n *tree.Node, random *rand.Rand) *tree.Node {
	out := *n
	out.Fields = make([]tree.Field, len(n.Fields))
	for i, at := range random.Perm(len(n.Fields)) {
		out.Fields[i] = tree.F(n.Fields[at].Key, shuffled(n.Fields[at].Value, random))
	}
	out.Items = nil
	for _, it := range n.Items {
		out.Items = append(out.Items, shuffled(it, random))
	}
	return &out
}

// TestCorpus writes the document of every version of every real definition,
// the malformed ones too, and checks it. Defaults, examples and patterns are
// the definitions' own: those that break their own schema are counted.
func TestCorpus(t *testing.T) {
	definitions := corpus(t)
	random := rand.New(rand.NewPCG(1, 2))
	documents, broken := 0, 0
	for _, d := range definitions {
		again := xrd.NewDefinition(shuffled(d.Node, random), d.Origin)
		for i, v := range d.Versions {
			doc := Document(d, v, Info{Title: "T", Version: v.Name})
			documents++
			if _, err := load(doc); err != nil {
				broken++
				t.Logf("%s, version %s: %s", d.Origin.File, v.Name, firstLine(err))
				if _, err := load(doc, openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableExamplesValidation(), openapi3.DisableSchemaPatternValidation()); err != nil {
					t.Errorf("%s, version %s: %v", d.Origin.File, v.Name, err)
				}
			}
			if diff := cmp.Diff(written(doc), written(Document(again, again.Versions[i], Info{Title: "T", Version: v.Name}))); diff != "" {
				t.Errorf("%s, version %s: document depends on the order of keys (-as written +shuffled):\n%s", d.Origin.File, v.Name, diff)
			}
		}
	}
	t.Logf("%d documents, %d with defaults, examples or patterns that violate their own schema", documents, broken)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

package form

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// TestDefects checks bugs of other programs, each under its name. Bugs that are
// not about forms are tested elsewhere.
func TestDefects(t *testing.T) {
	runForms(t, map[string]formCase{
		"top-level required lost": {
			reason: "Top-level required fields are kept, with and without a wrapper.",
			spec:   `{type: object, required: [parameters], properties: {parameters: {type: object, required: [region], properties: {region: {type: string}, size: {type: string}}}}}`,
			page: `
				required: [region]
				properties:
				  region: {title: Region, type: string}
				  size: {title: Size, type: string}
			`,
			values:  `{region: eu}`,
			want:    `{parameters: {region: eu}}`,
			refused: []string{`{size: small}`},
		},
		"enum values turned to null": {
			reason: "Enum values that look like other types keep their type.",
			spec:   `{type: object, properties: {a: {type: string, enum: ["no", "on", "1.10", "0x1F", "~"]}, b: {type: number, enum: [1.10, 0]}, c: {type: boolean, enum: [true]}}}`,
			page: `
				properties:
				  a: {title: A, type: string, enum: ["no", "on", "1.10", "0x1F", "~"]}
				  b: {title: B, type: number, enum: [1.1, 0]}
				  c: {title: C, type: boolean, enum: [true]}
			`,
			values:  `{a: "1.10", b: 1.1, c: true}`,
			refused: []string{`{a: null}`, `{b: null}`, `{c: false}`},
		},
		"default false and 0 dropped": {
			reason: "Defaults that are false, zero or empty are kept.",
			spec:   `{type: object, properties: {a: {type: boolean, default: false}, b: {type: integer, default: 0}, c: {type: number, default: 0.0}, d: {type: string, default: ""}}}`,
			page: `
				properties:
				  a: {title: A, type: boolean, default: false}
				  b: {title: B, type: integer, default: 0}
				  c: {title: C, type: number, default: 0}
				  d: {title: D, type: string, default: ""}
			`,
			values: `{a: false, b: 0, c: 0, d: ""}`,
		},
		"HTML escaping": {
			reason: "Titles, patterns and descriptions are not HTML-escaped.",
			spec:   `{type: object, properties: {a: {type: string, title: "R&D's <x>", description: "a < b && \"c\" > 'd'", pattern: "^<[^>]+>&$", default: "<a>&"}}}`,
			page: `
				properties:
				  a: {title: R&D's <x>, description: "a < b && \"c\" > 'd'", type: string, default: "<a>&", pattern: "^<[^>]+>&$"}
			`,
			values:  `{a: "<a>&"}`,
			refused: []string{`{a: "&lt;a&gt;&amp;"}`},
		},
		"children of nested objects lost": {
			reason: "Children of objects in arrays in maps in objects are kept.",
			spec:   `{type: object, properties: {a: {type: object, properties: {b: {type: object, additionalProperties: {type: array, items: {type: object, required: [c], properties: {c: {type: integer}}}}}}}, z: {type: string}}}`,
			page: `
				properties:
				  a:
				    title: A
				    type: object
				    properties:
				      b: {title: B, type: object, additionalProperties: {type: array, items: {type: object, required: [c], properties: {c: {title: C, type: integer}}}}}
				  z: {title: Z, type: string}
			`,
			values:  `{a: {b: {x: [{c: 1}]}}}`,
			refused: []string{`{a: {b: {x: [{}]}}}`},
		},
		"a switch with a required sibling": {
			reason: "A switch with a required sibling can be submitted on, off or unset.",
			spec:   `{type: object, properties: {backup: {type: object, required: [enabled, keep], properties: {enabled: {type: boolean, default: false}, keep: {type: integer}}}, size: {type: integer}}}`,
			page: `
				properties:
				  backup:
				    title: Backup
				    type: object
				    required: [keep]
				    properties: {enabled: {title: Enabled, description: "Default: false", type: boolean}, keep: {title: Keep, type: integer}}
				  size: {title: Size, type: integer}
			`,
			values: `{size: 1}`,
		},
		"a required object in an optional one": {
			reason: "A browser creates required objects by itself; here it does so only after a field beside the object is filled in.",
			spec:   `{type: object, properties: {bucket: {type: object, required: [keys], properties: {keys: {type: object, required: [id], properties: {id: {type: string}}}, region: {type: string}}}, size: {type: integer}}}`,
			page: `
				properties:
				  bucket:
				    title: Bucket
				    type: object
				    properties:
				      keys: {title: Keys, type: object, required: [id], properties: {id: {title: ID, type: string}}}
				      region: {title: Region, type: string}
				    dependencies: {region: [keys]}
				  size: {title: Size, type: integer}
			`,
			values:  `{bucket: {keys: {id: x}, region: r}}`,
			refused: []string{`{bucket: {region: r}}`, `{bucket: {keys: {}}}`},
		},
		"fields swallowed": {
			reason: "Fields may be named owner, clusters and repoUrl.",
			spec:   `{type: object, required: [owner], properties: {clusters: {type: array, items: {type: string}}, owner: {type: string}, repoUrl: {type: string}}}`,
			page: `
				required: [spec_owner]
				properties:
				  spec_owner: {title: Owner, type: string}
				  clusters: {title: Clusters, type: array, items: {type: string}}
				  repoUrl: {title: Repo URL, type: string}
			`,
			values: `{spec_owner: me, clusters: [a], repoUrl: github.com}`,
			want:   `{owner: me, clusters: [a], repoUrl: github.com}`,
			rules:  []string{RuleRenamed},
		},
		"null items left in arrays": {
			reason: "An item that was added and left empty is refused, not submitted as null.",
			spec:   `{type: object, properties: {a: {type: array, items: {type: string}}, b: {type: array, items: {type: object, properties: {x: {type: string}}}}}}`,
			page: `
				properties:
				  a: {title: A, type: array, items: {type: string}}
				  b: {title: B, type: array, items: {type: object, properties: {x: {title: X, type: string}}}}
			`,
			values:  `{a: [], b: [{}]}`,
			refused: []string{`{a: [null]}`, `{a: [x, null]}`, `{b: [null]}`},
		},
	})
}

func TestUnservedVersion(t *testing.T) {
	n := yaml(t, dedent(`
		apiVersion: apiextensions.crossplane.io/v2
		spec:
		  group: example.org
		  names: {kind: Widget, plural: widgets}
		  versions:
		    - {name: v1alpha1, served: false, referenceable: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {old: {type: string}}}}}}}
		    - {name: v1beta1, served: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {beta: {type: string}}}}}}}
		    - {name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {new: {type: string}}}}}}}
	`))
	d := xrd.NewDefinition(n, xrd.Origin{})
	f := check(t, Compile(d, d.Preferred(), Options{}))
	if !f.Pages.Items[1].Get("properties").Has("new") {
		t.Errorf("form is not that of the served version:\n%s", text(f.Pages))
	}
	if diff := cmp.Diff("example.org/v1", f.Manifest.Get("apiVersion").Str()); diff != "" {
		t.Errorf("manifest: -want +got:\n%s", diff)
	}
}

func TestNothingUndefined(t *testing.T) {
	f := compileSpec(t, legacyClaim, sized, Options{GitOps: true, Compositions: []string{"a", "b"}})
	got := text(rendered(t, f.Form, yaml(t, `{name: a, namespace: b, delivery: apply}`)))
	if strings.Contains(got, "undefined") || strings.Contains(got, "null") || strings.Contains(got, "repo") {
		t.Errorf("manifest contains undefined values:\n%s", got)
	}
}

// TestEveryEditArrives makes many single edits of a schema, and checks that
// each changes the form.
func TestEveryEditArrives(t *testing.T) {
	base := dedent(`
		type: object
		required: [name]
		properties:
		  name: {type: string}
		  size: {type: integer, minimum: 1, default: 2, description: How large.}
		  tier: {type: string, enum: [a, b], pattern: "^[a-z]$"}
		  zone: {type: object, properties: {id: {type: string, maxLength: 5}}}
	`)
	edits := map[string]struct{ reason, old, new string }{
		"required":     {"a field is no longer required", "required: [name]", "required: []"},
		"also":         {"another field is required", "[name]", "[name, tier]"},
		"type":         {"type", "type: integer", "type: number"},
		"bound":        {"bound", "minimum: 1", "minimum: 0"},
		"default":      {"default", "default: 2", "default: 0"},
		"text":         {"description", "How large.", "How big."},
		"value":        {"enum value", "[a, b]", "[a, c]"},
		"more values":  {"additional enum value", "[a, b]", "[a, b, c]"},
		"pattern":      {"pattern", "^[a-z]$", "^[a-y]$"},
		"nested":       {"nested bound", "maxLength: 5", "maxLength: 6"},
		"renamed":      {"field name", "id:", "name:"},
		"another":      {"additional field", "zone:", "x: {type: string}\n  zone:"},
		"hint":         {"hint", "minimum: 1", "minimum: 1, x-ui-placeholder: many"},
		"order":        {"order", "enum:", "x-ui-order: 1, enum:"},
		"nullable":     {"nullable", "maxLength: 5", "maxLength: 5, nullable: true"},
		"a validation": {"validation rule", "maxLength: 5", "maxLength: 5, x-kubernetes-validations: [{rule: self == oldSelf}]"},
	}
	before := text(compileSpec(t, modern, base, Options{}).Pages)
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(base, e.old, e.new, 1)
			if edited == base {
				t.Fatalf("%s: edit changes nothing", e.reason)
			}
			if after := text(compileSpec(t, modern, edited, Options{}).Pages); after == before {
				t.Errorf("edit does not change the form: %s", e.reason)
			}
		})
	}
}

// TestCompileKeepsInput checks that Compile does not change the definition,
// which may be shared.
func TestCompileKeepsInput(t *testing.T) {
	d, v := define(t, legacyDefaults, object(yaml(t, dedent(`
		type: object
		oneOf: [{required: [b]}, {required: [a]}]
		properties:
		  b: {type: string, enum: [x], nullable: true}
		  a: {type: object, default: {b: 1, a: 2}, properties: {d: {type: string, pattern: '(?=x)', description: One. Two.}, c: {type: string}}}
	`))))
	before := d.Node.Clone()
	Compile(d, v, Options{Compositions: []string{"a", "b"}, GitOps: true})
	if diff := cmp.Diff(string(tree.AppendJSON(nil, before, " ")), string(tree.AppendJSON(nil, d.Node, " "))); diff != "" {
		t.Errorf("definition was changed: -before +after:\n%s", diff)
	}
}

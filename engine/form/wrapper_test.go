package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrapper(t *testing.T) {
	runForms(t, map[string]formCase{
		"required": {
			reason: "A single wrapper object is shown without its nesting, and restored in the manifest.",
			spec: `
				type: object
				required: [parameters]
				properties:
				  parameters: {type: object, description: What to make., required: [size, name], properties: {size: {type: integer}, name: {type: string}, zone: {type: string}}}
			`,
			page: `
				description: What to make.
				required: [spec_name, size]
				properties:
				  spec_name: {title: Name, type: string}
				  size: {title: Size, type: integer}
				  zone: {title: Zone, type: string}
			`,
			values:  `{size: 1, spec_name: x}`,
			want:    `{parameters: {size: 1, name: x}}`,
			refused: []string{`{size: 1}`},
			rules:   []string{RuleRenamed},
		},
		"optional": {
			reason: "An optional wrapper is unwrapped too; left empty it becomes an empty object.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, default: {}, properties: {size: {type: integer, default: 3}}}
			`,
			page: `
				properties:
				  size: {title: Size, description: "Default: 3", type: integer, ui:placeholder: "3"}
			`,
			want: `{parameters: {}}`,
		},
		"beside the machinery": {
			reason: "Fields of Crossplane do not count as siblings of a wrapper.",
			kind:   legacyClaim,
			spec: `
				type: object
				properties:
				  compositionSelector: {type: object, properties: {matchLabels: {type: object, additionalProperties: {type: string}}}}
				  forProvider: {type: object, properties: {region: {type: string}}}
			`,
			page: `
				properties:
				  region: {title: Region, type: string}
			`,
			values: `{region: eu}`,
			want:   `{forProvider: {region: eu}}`,
		},
		"once": {
			reason: "Only the outer wrapper is unwrapped.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, properties: {database: {type: object, properties: {size: {type: integer}}}}}
			`,
			page: `
				properties:
				  database: {title: Database, type: object, properties: {size: {title: Size, type: integer}}}
			`,
			values: `{database: {size: 1}}`,
			want:   `{parameters: {database: {size: 1}}}`,
		},
		"two": {
			reason: "Two objects are not a wrapper.",
			spec: `
				type: object
				properties:
				  a: {type: object, properties: {x: {type: string}}}
				  b: {type: object, properties: {x: {type: string}}}
			`,
			page: `
				properties:
				  a: {title: A, type: object, properties: {x: {title: X, type: string}}}
				  b: {title: B, type: object, properties: {x: {title: X, type: string}}}
			`,
			values: `{a: {x: "1"}}`,
		},
		"reference": {
			reason: "A reference is one field: left empty it is absent, not an empty object.",
			spec: `
				type: object
				properties:
				  writeConnectionSecretToRef: {type: object, properties: {name: {type: string}}}
			`,
			page: `
				properties:
				  writeConnectionSecretToRef: {title: Write Connection Secret To Ref, type: object, properties: {name: {title: Name, type: string}}}
			`,
		},
		"whole default": {
			reason: "An object with a default is not unwrapped.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, default: {size: 3}, properties: {size: {type: integer}}}
			`,
			page: `
				properties:
				  parameters: {title: Parameters, type: object, default: {size: 3}, properties: {size: {title: Size, type: integer}}}
			`,
		},
		"not a wrapper": {
			reason: "A map, an open object and an object with x-ui-field are not unwrapped.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, additionalProperties: {type: string}}
			`,
			page: `
				properties:
				  parameters: {title: Parameters, type: object, additionalProperties: {type: string}}
			`,
			values: `{parameters: {a: x}}`,
		},
		"open": {
			reason: "An object that accepts undeclared fields is not unwrapped, because it needs a field for them.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer}}}
			`,
			page: `
				properties:
				  parameters: {title: Parameters, type: object, properties: {size: {title: Size, type: integer}}, additionalProperties: true}
			`,
			values: `{parameters: {size: 1, more: x}}`,
		},
		"own field": {
			reason: "An object with a custom field is not unwrapped.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, x-ui-field: MyEditor, properties: {size: {type: integer}}}
			`,
			page: `
				properties:
				  parameters: {title: Parameters, type: object, properties: {size: {title: Size, type: integer}}, ui:field: MyEditor}
			`,
			values: `{parameters: {size: 1}}`,
		},
	})
}

func TestInjected(t *testing.T) {
	runForms(t, map[string]formCase{
		"legacy": {
			reason: "Fields that Crossplane injects are never in the form.",
			kind:   legacyClaim,
			spec: `
				type: object
				required: [compositionRef, size]
				properties:
				  claimRef: {type: object}
				  compositeDeletePolicy: {type: string}
				  compositionRef: {type: object, properties: {name: {type: string}}}
				  compositionRevisionRef: {type: object}
				  compositionRevisionSelector: {type: object}
				  compositionSelector: {type: object}
				  compositionUpdatePolicy: {type: string}
				  crossplane: {type: string}
				  environmentConfigRefs: {type: array}
				  publishConnectionDetailsTo: {type: object}
				  resourceRef: {type: object}
				  resourceRefs: {type: array, items: {type: object}}
				  size: {type: integer}
				  writeConnectionSecretToRef: {type: object}
			`,
			page: `
				required: [size]
				properties:
				  size: {title: Size, type: integer}
				  crossplane: {title: Crossplane, type: string}
			`,
			values: `{crossplane: mine, size: 1}`,
			rules:  []string{RuleMachinery},
		},
		"modern": {
			reason: "In v2 all of these fields are under spec.crossplane, and the old names are ordinary fields.",
			spec: `
				type: object
				properties:
				  compositionRef: {type: string}
				  crossplane: {type: object, properties: {compositionRef: {type: object}}}
				  writeConnectionSecretToRef: {type: object, properties: {name: {type: string}}}
			`,
			page: `
				properties:
				  compositionRef: {title: Composition Ref, type: string}
				  writeConnectionSecretToRef: {title: Write Connection Secret To Ref, type: object, properties: {name: {title: Name, type: string}}}
			`,
			values: `{compositionRef: mine, writeConnectionSecretToRef: {name: x}}`,
		},
		"nothing else": {
			reason: "A spec with only injected fields has no fields in the form.",
			kind:   legacy,
			spec:   `{type: object, properties: {compositionRef: {type: object}}}`,
			page:   `none`,
		},
		"declared empty": {
			reason: "A spec that is declared without fields has no fields in the form.",
			spec:   `{type: object, properties: {}}`,
			page:   `none`,
		},
	})
	d, v := define(t, modern, yaml(t, `{type: object, properties: {spec: `+sized+`, status: {type: object, properties: {phase: {type: string}}}}}`))
	f := check(t, Compile(d, v, Options{}))
	if diff := cmp.Diff("properties:\n  size:\n    title: Size\n    type: integer\n", kindPage(f.Form)); diff != "" {
		t.Errorf("form has fields of the status: -want +got:\n%s", diff)
	}
}

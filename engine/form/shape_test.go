package form

import "testing"

func TestShapes(t *testing.T) {
	runForms(t, map[string]formCase{
		"nested": {
			reason: "Nested objects keep all children.",
			spec: `
				type: object
				properties:
				  net: {type: object, properties: {dns: {type: object, properties: {zone: {type: string}, ttl: {type: integer}}}, cidr: {type: string}}}
				  size: {type: integer}
			`,
			page: `
				properties:
				  net:
				    title: Net
				    type: object
				    properties:
				      cidr: {title: CIDR, type: string}
				      dns: {title: DNS, type: object, properties: {ttl: {title: TTL, type: integer}, zone: {title: Zone, type: string}}}
				  size: {title: Size, type: integer}
			`,
			values: `{net: {dns: {ttl: 5}}}`,
		},
		"arrays": {
			reason: "Arrays of objects and of arrays keep all children.",
			spec: `
				type: object
				properties:
				  grid: {type: array, items: {type: array, items: {type: array, items: {type: integer}}}}
				  ports: {type: array, items: {type: object, properties: {port: {type: integer}, tags: {type: array, items: {type: string}}}}}
				  tags: {type: array, items: {type: string, description: A tag. Short.}}
			`,
			page: `
				properties:
				  grid: {title: Grid, type: array, items: {type: array, items: {type: array, items: {type: integer}}}}
				  ports:
				    title: Ports
				    type: array
				    items: {type: object, properties: {port: {title: Port, type: integer}, tags: {title: Tags, type: array, items: {type: string}}}}
				  tags: {title: Tags, type: array, items: {description: A tag., type: string, ui:options: {details: Short.}}}
			`,
			values:  `{grid: [[[1, 2], []], []], ports: [{port: 1, tags: [a]}, {}], tags: [a, ""]}`,
			refused: []string{`{grid: [[1]]}`, `{grid: [[[null]]]}`, `{tags: [null]}`, `{ports: [null]}`},
		},
		"maps": {
			reason: "Maps of scalars, objects, arrays and maps become additionalProperties.",
			spec: `
				type: object
				properties:
				  arrays: {type: object, additionalProperties: {type: array, items: {type: integer}}}
				  maps: {type: object, additionalProperties: {type: object, additionalProperties: {type: boolean}}}
				  objects: {type: object, additionalProperties: {type: object, required: [id], properties: {id: {type: string}}}}
				  scalars: {additionalProperties: {type: string}}
			`,
			page: `
				properties:
				  arrays: {title: Arrays, type: object, additionalProperties: {type: array, items: {type: integer}}}
				  maps: {title: Maps, type: object, additionalProperties: {type: object, additionalProperties: {type: boolean}}}
				  objects: {title: Objects, type: object, additionalProperties: {type: object, required: [id], properties: {id: {title: ID, type: string}}}}
				  scalars: {title: Scalars, type: object, additionalProperties: {type: string}}
			`,
			values:  `{arrays: {a: [1], b: []}, maps: {a: {x: true}}, objects: {a: {id: x}}, scalars: {"a.b/c": "1", "": x}}`,
			refused: []string{`{arrays: {a: [x]}}`, `{maps: {a: {x: 1}}}`, `{scalars: {a: 1}}`},
		},
		"inferred": {
			reason: "A schema without a type has the type that its keywords imply.",
			spec: `
				properties:
				  a: {properties: {x: {type: string}}}
				  b: {items: {type: string}}
				  c: {additionalProperties: {type: integer}}
			`,
			page: `
				properties:
				  a: {title: A, type: object, properties: {x: {title: X, type: string}}}
				  b: {title: B, type: array, items: {type: string}}
				  c: {title: C, type: object, additionalProperties: {type: integer}}
			`,
			values:  `{a: {x: "1"}, b: [x], c: {y: 1}}`,
			refused: []string{`{a: text}`, `{b: text}`, `{c: text}`},
		},
		"free objects": {
			reason: "An object without properties, or one that preserves unknown fields, becomes YAML text that is parsed into an object.",
			spec: `
				type: object
				properties:
				  bare: {type: object}
				  bool: {type: object, additionalProperties: true}
				  empty: {type: object, properties: {}, required: [x]}
				  open: {type: object, x-kubernetes-preserve-unknown-fields: true}
				  raw: {x-kubernetes-preserve-unknown-fields: true}
				  resource: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
			`,
			page: `
				properties:
				  bare: {title: Bare, type: object, additionalProperties: true, ui:field: YamlText}
				  bool: {title: Bool, type: object, additionalProperties: true, ui:field: YamlText}
				  empty: {title: Empty, type: object, required: [x], additionalProperties: true, ui:field: YamlText}
				  open: {title: Open, type: object, additionalProperties: true, ui:field: YamlText}
				  raw: {title: Raw, type: [object, array, string, number, boolean, "null"], ui:field: YamlText}
				  resource: {title: Resource, type: object, additionalProperties: true, ui:field: YamlText}
			`,
			values:  `{bare: {a: {b: [1, null]}}, bool: {}, empty: {x: 1}, open: {a: 1}, raw: [1], resource: {kind: A}}`,
			refused: []string{`{bare: text}`, `{open: "a: 1"}`, `{empty: {}}`, `{bool: []}`},
		},
		"declared and open": {
			reason: "An object that preserves unknown fields beside declared ones asks for the declared ones and accepts others.",
			spec: `
				type: object
				properties:
				  helm: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {chart: {type: string}}}
				  size: {type: integer}
			`,
			page: `
				properties:
				  helm: {title: Helm, type: object, properties: {chart: {title: Chart, type: string}}, additionalProperties: true}
				  size: {title: Size, type: integer}
			`,
			values: `{helm: {chart: x, values: {a: 1}}}`,
		},
		"free arrays": {
			reason: "An array without items becomes YAML text that is parsed into an array.",
			spec: `
				type: object
				properties:
				  any: {type: array, minItems: 1}
				  bad: {type: array, items: [{type: string}]}
				  open: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}
			`,
			page: `
				properties:
				  any: {title: Any, type: array, minItems: 1, items: {}, ui:field: YamlText}
				  bad: {title: Bad, type: array, items: {}, ui:field: YamlText}
				  open: {title: Open, type: array, items: {type: [object, array, string, number, boolean, "null"], ui:field: YamlText}}
			`,
			values:  `{any: [1, a], bad: [x], open: [{a: 1}, text]}`,
			refused: []string{`{any: []}`, `{any: text}`},
		},
		"unknown": {
			reason: "A property with an empty schema accepts any value, including null.",
			spec: `
				type: object
				properties:
				  a: {}
				  b: null
				  c: text
			`,
			page: `
				properties:
				  a: {title: A, type: [object, array, string, number, boolean, "null"], ui:field: YamlText}
				  b: {title: B, type: [object, array, string, number, boolean, "null"], ui:field: YamlText}
				  c: {title: C, type: [object, array, string, number, boolean, "null"], ui:field: YamlText}
			`,
			values: `{a: null, b: 1, c: {x: y}}`,
		},
	})
}

func TestIntOrString(t *testing.T) {
	runForms(t, map[string]formCase{
		"plain": {
			reason: "x-kubernetes-int-or-string becomes anyOf integer and string.",
			spec: `
				type: object
				properties:
				  a: {x-kubernetes-int-or-string: true}
				  b: {x-kubernetes-int-or-string: true, type: string, anyOf: [{type: integer}, {type: string}], pattern: "^[0-9]+%$", minimum: 1}
				  c: {x-kubernetes-int-or-string: true, nullable: true, enum: [1, auto], default: auto}
			`,
			page: `
				properties:
				  a: {title: A, anyOf: [{type: integer, title: Number}, {type: string, title: Text}]}
				  b: {title: B, anyOf: [{type: integer, title: Number, minimum: 1}, {type: string, title: Text, pattern: "^[0-9]+%$"}]}
				  c: {title: C, enum: [1, auto, null], default: auto, anyOf: [{type: integer, title: Number}, {type: string, title: Text}, {type: "null", title: None}]}
			`,
			values:  `{a: 80, b: 50%, c: null}`,
			refused: []string{`{a: true}`, `{a: 1.5}`, `{b: x}`, `{b: 0}`, `{c: 2}`},
		},
		"inside": {
			reason: "x-kubernetes-int-or-string works in items and map values.",
			spec: `
				type: object
				properties:
				  list: {type: array, items: {x-kubernetes-int-or-string: true}}
				  map: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
			`,
			page: `
				properties:
				  list: {title: List, type: array, items: {anyOf: [{type: integer, title: Number}, {type: string, title: Text}]}}
				  map: {title: Map, type: object, additionalProperties: {anyOf: [{type: integer, title: Number}, {type: string, title: Text}]}}
			`,
			values:  `{list: [1, a], map: {a: 1, b: "1"}}`,
			refused: []string{`{list: [null]}`},
		},
	})
}

func TestNullable(t *testing.T) {
	runForms(t, map[string]formCase{
		"every type": {
			reason: "A nullable field accepts null without changing the widget.",
			spec: `
				type: object
				properties:
				  array: {type: array, nullable: true, items: {type: string, nullable: true}}
				  boolean: {type: boolean, nullable: true}
				  free: {type: object, nullable: true}
				  integer: {type: integer, nullable: true, minimum: 1}
				  map: {type: object, nullable: true, additionalProperties: {type: number, nullable: true}}
				  object: {type: object, nullable: true, properties: {a: {type: string}}}
				  string: {type: string, nullable: true, pattern: "^a"}
				  strict: {type: string, nullable: false}
			`,
			page: `
				properties:
				  array: {title: Array, type: [array, "null"], items: {type: [string, "null"]}}
				  boolean: {title: Boolean, type: [boolean, "null"]}
				  free: {title: Free, type: [object, "null"], additionalProperties: true, ui:field: YamlText}
				  integer: {title: Integer, type: [integer, "null"], minimum: 1}
				  map: {title: Map, type: [object, "null"], additionalProperties: {type: [number, "null"]}}
				  object: {title: Object, type: [object, "null"], properties: {a: {title: A, type: string}}}
				  strict: {title: Strict, type: string}
				  string: {title: String, type: [string, "null"], pattern: ^a}
			`,
			values:  `{array: null, boolean: null, free: null, integer: null, map: null, object: null, string: null}`,
			refused: []string{`{strict: null}`, `{string: b}`, `{integer: 0}`},
		},
		"values": {
			reason: "Each nullable item or value may be null.",
			spec: `
				type: object
				properties:
				  array: {type: array, items: {type: string, nullable: true}}
				  map: {type: object, additionalProperties: {type: number, nullable: true}}
			`,
			page: `
				properties:
				  array: {title: Array, type: array, items: {type: [string, "null"]}}
				  map: {title: Map, type: object, additionalProperties: {type: [number, "null"]}}
			`,
			values: `{array: [null, a], map: {a: null, b: 1.5}}`,
		},
		"wrapper": {
			reason: "A nullable wrapper is shown as a field and not unwrapped.",
			spec: `
				type: object
				properties:
				  parameters: {type: object, nullable: true, properties: {size: {type: integer}}}
			`,
			page: `
				properties:
				  parameters: {title: Parameters, type: [object, "null"], properties: {size: {title: Size, type: integer}}}
			`,
			values: `{parameters: null}`,
		},
	})
}

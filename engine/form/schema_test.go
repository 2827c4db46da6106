package form

import "testing"

func TestRequired(t *testing.T) {
	runForms(t, map[string]formCase{
		"top level": {
			reason: "Required is kept at its level; optional fields that are left empty are absent.",
			spec: `
				type: object
				required: [size, region]
				properties:
				  region: {type: string}
				  size: {type: integer}
				  zone: {type: string}
			`,
			page: `
				required: [region, size]
				properties:
				  region: {title: Region, type: string}
				  size: {title: Size, type: integer}
				  zone: {title: Zone, type: string}
			`,
			values:  `{region: eu, size: 3}`,
			refused: []string{`{region: eu}`, `{}`},
		},
		"nested": {
			reason: "Required is kept in objects, items and map values.",
			spec: `
				type: object
				properties:
				  disk: {type: object, required: [gb], properties: {gb: {type: integer}, kind: {type: string}}}
				  users: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}
				  zones: {type: object, additionalProperties: {type: object, required: [id], properties: {id: {type: string}}}}
			`,
			page: `
				properties:
				  disk: {title: Disk, type: object, required: [gb], properties: {gb: {title: GB, type: integer}, kind: {title: Kind, type: string}}}
				  users: {title: Users, type: array, items: {type: object, required: [id], properties: {id: {title: ID, type: string}}}}
				  zones: {title: Zones, type: object, additionalProperties: {type: object, required: [id], properties: {id: {title: ID, type: string}}}}
			`,
			values:  `{disk: {gb: 1}, users: [{id: a}], zones: {a: {id: x}}}`,
			refused: []string{`{disk: {kind: ssd}}`, `{users: [{}]}`, `{zones: {a: {}}}`},
		},
		"optional object": {
			reason: "An optional object with a required field can be left out as a whole.",
			spec: `
				type: object
				properties:
				  backup: {type: object, required: [enabled, keep], properties: {enabled: {type: boolean}, keep: {type: integer}}}
				  size: {type: integer}
			`,
			page: `
				properties:
				  backup: {title: Backup, type: object, required: [enabled, keep], properties: {enabled: {title: Enabled, type: boolean}, keep: {title: Keep, type: integer}}}
				  size: {title: Size, type: integer}
			`,
			values: `{size: 1}`,
		},
		"undeclared": {
			reason: "A required field that is not declared cannot be filled in, and is reported.",
			spec: `
				type: object
				required: [ghost, size, size]
				properties:
				  size: {type: integer}
			`,
			page: `
				required: [size]
				properties:
				  size: {title: Size, type: integer}
			`,
			values: `{size: 1}`,
		},
	})
}

func TestEnum(t *testing.T) {
	runForms(t, map[string]formCase{
		"strings": {
			reason: "An enum of strings keeps its exact values, including the empty string.",
			spec: `
				type: object
				properties:
				  tier: {type: string, enum: ["", small, "true", "1", "null"]}
			`,
			page: `
				properties:
				  tier: {title: Tier, type: string, enum: ["", small, "true", "1", "null"]}
			`,
			values:  `{tier: ""}`,
			refused: []string{`{tier: 1}`, `{tier: true}`, `{tier: null}`},
		},
		"numbers": {
			reason: "An enum of numbers keeps its exact types.",
			spec: `
				type: object
				properties:
				  count: {type: integer, enum: [0, 1, 3]}
				  ratio: {type: number, enum: [0.5, 1, 1.5]}
			`,
			page: `
				properties:
				  count: {title: Count, type: integer, enum: [0, 1, 3]}
				  ratio: {title: Ratio, type: number, enum: [0.5, 1, 1.5]}
			`,
			values:  `{count: 0, ratio: 0.5}`,
			refused: []string{`{count: "0"}`, `{count: 2}`, `{ratio: "0.5"}`},
		},
		"null": {
			reason: "An enum with null offers null as a choice.",
			spec: `
				type: object
				properties:
				  only: {enum: [null]}
				  tier: {type: string, nullable: true, enum: [a, null]}
			`,
			page: `
				properties:
				  only: {title: Only, enum: [null]}
				  tier: {title: Tier, type: [string, "null"], enum: [a, null]}
			`,
			values:  `{tier: null, only: null}`,
			refused: []string{`{tier: "null"}`, `{only: ""}`},
		},
		"mixed": {
			reason: "An enum of mixed types keeps its exact values and types, and has no type.",
			spec: `
				type: object
				properties:
				  any: {enum: [a, 1, 1.5, true, null, "", [x], {b: 1, a: 2}]}
				  same: {enum: [a, b]}
			`,
			page: `
				properties:
				  any: {title: Any, enum: [a, 1, 1.5, true, null, "", [x], {a: 2, b: 1}]}
				  same: {title: Same, type: string, enum: [a, b]}
			`,
			values:  `{any: {a: 2, b: 1}, same: a}`,
			refused: []string{`{any: "1"}`, `{any: false}`, `{same: 1}`},
		},
		"nullable": {
			reason: "A nullable field accepts null in addition to the values of its enum.",
			spec: `
				type: object
				properties:
				  tier: {type: string, nullable: true, enum: [a, b]}
			`,
			page: `
				properties:
				  tier: {title: Tier, type: [string, "null"], enum: [a, b, null]}
			`,
			values:  `{tier: null}`,
			refused: []string{`{tier: c}`},
		},
		"twice": {
			reason: "A duplicate enum value is offered once, because duplicates make the page invalid.",
			spec: `
				type: object
				properties:
				  a: {type: string, enum: [x, y, x], allOf: [{enum: [x, x]}]}
				  b: {enum: [null, {p: 1, q: 2}, {q: 2, p: 1}, null], nullable: true}
			`,
			page: `
				properties:
				  a: {title: A, type: string, enum: [x, "y"], allOf: [{enum: [x]}]}
				  b: {title: B, enum: [null, {p: 1, q: 2}]}
			`,
			values: `{a: x, b: {p: 1, q: 2}}`,
		},
		"in items": {
			reason: "Enums in items and map values are exact too.",
			spec: `
				type: object
				properties:
				  modes: {type: array, items: {type: string, enum: [r, w]}}
				  zones: {type: object, additionalProperties: {type: integer, enum: [1, 2]}}
			`,
			page: `
				properties:
				  modes: {title: Modes, type: array, items: {type: string, enum: [r, w]}}
				  zones: {title: Zones, type: object, additionalProperties: {type: integer, enum: [1, 2]}}
			`,
			values:  `{modes: [r, w], zones: {a: 2}}`,
			refused: []string{`{modes: [x]}`, `{zones: {a: 3}}`},
		},
	})
}

func TestDefault(t *testing.T) {
	runForms(t, map[string]formCase{
		"falsy": {
			reason: `The defaults false, 0, "", [] and {} are kept exactly.`,
			spec: `
				type: object
				properties:
				  count: {type: integer, default: 0}
				  labels: {type: object, additionalProperties: {type: string}, default: {}}
				  list: {type: array, items: {type: string}, default: []}
				  on: {type: boolean, default: false}
				  ratio: {type: number, default: 0.5}
				  text: {type: string, default: ""}
			`,
			page: `
				properties:
				  count: {title: Count, type: integer, default: 0}
				  labels: {title: Labels, type: object, default: {}, additionalProperties: {type: string}}
				  list: {title: List, type: array, default: [], items: {type: string}}
				  "on": {title: "On", type: boolean, default: false}
				  ratio: {title: Ratio, type: number, default: 0.5}
				  text: {title: Text, type: string, default: ""}
			`,
			values: `{count: 0, labels: {}, list: [], "on": false, ratio: 0, text: ""}`,
		},
		"nested": {
			reason: "Defaults of objects and arrays are kept exactly, with their keys in order.",
			spec: `
				type: object
				properties:
				  disk: {type: object, default: {kind: ssd, gb: 10}, properties: {gb: {type: integer, default: 5}, kind: {type: string}}}
				  zones: {type: array, default: [b, a], items: {type: string}}
			`,
			page: `
				properties:
				  disk:
				    title: Disk
				    type: object
				    default: {gb: 10, kind: ssd}
				    properties: {gb: {title: GB, type: integer, default: 5}, kind: {title: Kind, type: string}}
				  zones: {title: Zones, type: array, default: [b, a], items: {type: string}}
			`,
		},
		"null": {
			reason: "A null default is kept only in nullable fields.",
			spec: `
				type: object
				properties:
				  a: {type: string, default: null}
				  b: {type: string, default: null, nullable: true}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				  b: {title: B, type: [string, "null"], default: null}
			`,
		},
		"free": {
			reason: "The default of a field that is shown as YAML is kept exactly.",
			spec: `
				type: object
				properties:
				  any: {x-kubernetes-preserve-unknown-fields: true, default: text}
				  open: {type: object, default: {a: [1]}}
				  port: {x-kubernetes-int-or-string: true, default: 80}
			`,
			page: `
				properties:
				  any: {title: Any, type: [object, array, string, number, boolean, "null"], default: text, ui:field: YamlText}
				  open: {title: Open, type: object, default: {a: [1]}, additionalProperties: true, ui:field: YamlText}
				  port: {title: Port, default: 80, anyOf: [{type: integer, title: Number}, {type: string, title: Text}]}
			`,
			values: `{any: [1], open: {b: null}, port: http}`,
		},
		"switch": {
			reason: "A form with a switch that is off by default and a required sibling can be submitted with the switch on or off.",
			spec: `
				type: object
				required: [enabled, size]
				properties:
				  enabled: {type: boolean, default: false}
				  size: {type: integer}
			`,
			page: `
				required: [size]
				properties:
				  enabled: {title: Enabled, type: boolean, default: false}
				  size: {title: Size, type: integer}
			`,
			values: `{enabled: false, size: 1}`,
		},
	})
}

func TestConstraints(t *testing.T) {
	runForms(t, map[string]formCase{
		"numbers": {
			reason: "minimum, maximum and multipleOf are kept; exclusive bounds become numbers.",
			spec: `
				type: object
				properties:
				  a: {type: integer, minimum: 0, maximum: 10}
				  b: {type: number, minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true}
				  c: {type: integer, minimum: -5, exclusiveMinimum: false, multipleOf: 5}
				  d: {type: number, multipleOf: 0}
				  e: {type: number, multipleOf: 0.5}
			`,
			page: `
				properties:
				  a: {title: A, type: integer, minimum: 0, maximum: 10}
				  b: {title: B, type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}
				  c: {title: C, type: integer, minimum: -5, multipleOf: 5}
				  d: {title: D, type: number}
				  e: {title: E, type: number, multipleOf: 0.5}
			`,
			values:  `{a: 0, b: 0.5, c: -5, d: 1.1, e: 1.5}`,
			refused: []string{`{a: -1}`, `{a: 11}`, `{b: 0}`, `{b: 1}`, `{c: 3}`, `{e: 0.7}`, `{a: 1.5}`},
		},
		"text": {
			reason: "minLength, maxLength and pattern are kept.",
			spec: `
				type: object
				properties:
				  a: {type: string, minLength: 0, maxLength: 3, pattern: "^[a-z]*$"}
				  b: {type: string, minLength: 1, maxLength: -1, pattern: ""}
			`,
			page: `
				properties:
				  a: {title: A, type: string, minLength: 0, maxLength: 3, pattern: "^[a-z]*$"}
				  b: {title: B, type: string, minLength: 1}
			`,
			values:  `{a: "", b: x}`,
			refused: []string{`{a: abcd}`, `{a: A}`, `{b: ""}`},
		},
		"lists and maps": {
			reason: "minItems, maxItems, uniqueItems, minProperties and maxProperties are kept; a set has unique items.",
			spec: `
				type: object
				properties:
				  a: {type: array, minItems: 0, maxItems: 2, uniqueItems: true, items: {type: string}}
				  b: {type: array, minItems: 1, uniqueItems: false, items: {type: string}}
				  s: {type: array, x-kubernetes-list-type: set, items: {type: string}}
				  c: {type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: string}}
				  d: {type: object, minProperties: 1, properties: {x: {type: string}, y: {type: string}}}
				  e: {type: object, minProperties: 1}
			`,
			page: `
				properties:
				  a: {title: A, type: array, minItems: 0, maxItems: 2, uniqueItems: true, items: {type: string}}
				  b: {title: B, type: array, minItems: 1, items: {type: string}}
				  c: {title: C, type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: string}}
				  d: {title: D, type: object, minProperties: 1, properties: {x: {title: X, type: string}, "y": {title: "Y", type: string}}}
				  e: {title: E, type: object, minProperties: 1, additionalProperties: true, ui:field: YamlText}
				  s: {title: S, type: array, uniqueItems: true, items: {type: string}}
			`,
			values:  `{a: [], b: [x, x], c: {k: v}, d: {x: "1"}, e: {any: 1}, s: [x, y]}`,
			refused: []string{`{a: [x, x]}`, `{s: [x, x]}`, `{a: [x, y, z]}`, `{b: []}`, `{c: {}}`, `{c: {a: a, b: b, c: c}}`, `{d: {}}`, `{e: {}}`},
		},
		"formats": {
			reason: "A format is kept if browsers support it; an unknown one is left out.",
			spec: `
				type: object
				properties:
				  a: {type: string, format: date-time}
				  b: {type: string, format: duration}
				  c: {type: string, format: cidr}
				  d: {type: integer, format: int64}
				  e: {type: string, format: ipv4}
			`,
			page: `
				properties:
				  a: {title: A, type: string, format: date-time}
				  b: {title: B, type: string}
				  c: {title: C, type: string}
				  d: {title: D, type: integer, format: int64}
				  e: {title: E, type: string, format: ipv4}
			`,
			values:  `{a: "2024-01-02T03:04:05Z", b: 1h30m, c: 10.0.0.0/8, d: 9223372036854775807, e: 10.0.0.1}`,
			refused: []string{`{a: yesterday}`, `{e: 10.0.0}`},
		},
		"nonsense": {
			reason: "An invalid constraint would make the whole page invalid, and is left out.",
			spec: `
				type: object
				properties:
				  a: {type: string, minLength: "1", maxLength: 1.5, pattern: 5, format: 3, enum: []}
				  b: {type: integer, minimum: "0", multipleOf: -1}
				  c: {type: array, minItems: x, uniqueItems: "yes", items: {type: string}}
				  d: {type: strange, title: 5, description: [x]}
				  e: {type: bool}
				  f: {type: int}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				  b: {title: B, type: integer}
				  c: {title: C, type: array, items: {type: string}}
				  d: {title: D, type: [object, array, string, number, boolean, "null"], ui:field: YamlText}
				  e: {title: E, type: boolean}
				  f: {title: F, type: integer}
			`,
			values: `{a: long text, b: -3, c: [x, x], d: [free], e: true, f: 1}`,
		},
	})
}

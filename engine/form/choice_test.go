package form

import "testing"

func TestChoice(t *testing.T) {
	runForms(t, map[string]formCase{
		"oneOf": {
			reason: "oneOf of required groups becomes a choice with its own fields.",
			spec: `
				type: object
				required: [size]
				oneOf: [{required: [userID]}, {required: [userName, domain]}]
				properties:
				  domain: {type: string}
				  size: {type: integer}
				  userID: {type: integer}
				  userName: {type: string, title: Login}
			`,
			page: `
				required: [size]
				properties:
				  size: {title: Size, type: integer}
				oneOf:
				  - {title: User ID, required: [userID], properties: {userID: {title: User ID, type: integer}}}
				  - {title: Login and Domain, required: [userName, domain], properties: {userName: {title: Login, type: string}, domain: {title: Domain, type: string}}}
			`,
			values:  `{size: 1, userName: a, domain: b}`,
			refused: []string{`{size: 1}`, `{size: 1, userID: 1, userName: a, domain: b}`, `{size: 1, userName: a}`, `{size: 1, userID: text}`},
		},
		"shared": {
			reason: "oneOf whose groups share a field becomes a choice, with the fields on the page.",
			spec: `
				type: object
				oneOf: [{required: [a, b]}, {required: [a, c], title: Second way}]
				properties:
				  a: {type: string}
				  b: {type: string}
				  c: {type: string}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				  b: {title: B, type: string}
				  c: {title: C, type: string}
				oneOf: [{title: A and B, required: [a, b]}, {title: Second way, required: [a, c]}]
			`,
			values:  `{a: x, c: z}`,
			refused: []string{`{a: x}`, `{a: x, b: y, c: z}`},
		},
		"anyOf": {
			reason: "anyOf of required groups becomes a choice that allows several groups.",
			spec: `
				type: object
				anyOf: [{required: [a]}, {required: [name]}]
				properties:
				  a: {type: string}
				  name: {type: string}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				  spec_name: {title: Name, type: string}
				anyOf: [{title: A, required: [a]}, {title: Name, required: [spec_name]}]
			`,
			values:  `{a: x, spec_name: y}`,
			want:    `{a: x, name: y}`,
			refused: []string{`{}`},
			rules:   []string{RuleRenamed},
		},
		"nested": {
			reason: "A choice inside items works like one on the page.",
			spec: `
				type: object
				properties:
				  members:
				    type: array
				    items: {type: object, oneOf: [{required: [id]}, {required: [name]}], properties: {id: {type: integer}, name: {type: string}, role: {type: string}}}
			`,
			page: `
				properties:
				  members:
				    title: Members
				    type: array
				    items:
				      type: object
				      properties: {role: {title: Role, type: string}}
				      oneOf:
				        - {title: ID, required: [id], properties: {id: {title: ID, type: integer}}}
				        - {title: Name, required: [name], properties: {name: {title: Name, type: string}}}
			`,
			values:  `{members: [{id: 1, role: x}, {name: a}]}`,
			refused: []string{`{members: [{}]}`, `{members: [{id: 1, name: a}]}`},
		},
		"absent": {
			reason: "A group that cannot be filled in is not offered as a choice: an empty one would make every other choice fail.",
			kind:   legacy,
			spec: `
				type: object
				oneOf: [{required: [a]}, {required: [ghost]}, {required: [compositionRef]}]
				properties:
				  a: {type: string}
				  compositionRef: {type: object, properties: {name: {type: string}}}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				oneOf: [{title: A, required: [a]}]
			`,
			values: `{a: x}`,
		},
		"two choices": {
			reason: "A field that is named by two choices keeps its title in both.",
			spec: `
				type: object
				oneOf: [{required: [a]}, {required: [b]}]
				anyOf: [{required: [a]}, {required: [c]}]
				properties:
				  a: {type: string, title: First}
				  b: {type: string}
				  c: {type: string}
			`,
			page: `
				properties:
				  c: {title: C, type: string}
				oneOf: [{title: First, required: [a], properties: {a: {title: First, type: string}}}, {title: B, required: [b], properties: {b: {title: B, type: string}}}]
				anyOf: [{title: First, required: [a]}, {title: C, required: [c]}]
			`,
			values:  `{a: x}`,
			refused: []string{`{b: x}`},
		},
		"passed through": {
			reason: "All other conditions are kept if they are valid.",
			spec: `
				type: object
				not: {required: [legacy]}
				allOf: [{properties: {name: {minLength: 2, description: no captions here}}}]
				properties:
				  address: {type: string, oneOf: [{format: ipv4}, {format: ipv6}], anyOf: [{minLength: 4}, {pattern: '(?i)^ab'}]}
				  legacy: {type: string}
				  name: {type: string}
				  port: {type: integer, not: {enum: [22, 23]}}
				  raw: {anyOf: [{type: string}, {type: array, items: {type: string}}]}
				  rule: {type: object, additionalProperties: {type: string}, not: {maxProperties: 1}}
			`,
			page: `
				properties:
				  address: {title: Address, type: string, oneOf: [{format: ipv4}, {format: ipv6}], anyOf: [{minLength: 4}, {pattern: "^[Aa][Bb]"}]}
				  legacy: {title: Legacy, type: string}
				  spec_name: {title: Name, type: string}
				  port: {title: Port, type: integer, not: {enum: [22, 23]}}
				  raw:
				    title: Raw
				    type: [object, array, string, number, boolean, "null"]
				    ui:field: YamlText
				    anyOf: [{type: string}, {type: array, items: {type: string}}]
				  rule: {title: Rule, type: object, additionalProperties: {type: string}, not: {maxProperties: 1}}
				allOf: [{properties: {spec_name: {minLength: 2}}}]
				not: {required: [legacy]}
			`,
			values:  `{address: "2001:db8::1", spec_name: ab, port: 80, raw: [a], rule: {a: a, b: b}}`,
			want:    `{address: "2001:db8::1", name: ab, port: 80, raw: [a], rule: {a: a, b: b}}`,
			refused: []string{`{spec_name: a}`, `{legacy: x}`, `{port: 22}`, `{address: x}`, `{raw: [1]}`, `{rule: {a: a}}`},
			rules:   []string{RuleRenamed},
		},
		"nullable": {
			reason: "Null passes every condition of a nullable field.",
			spec: `
				type: object
				properties:
				  a: {type: object, nullable: true, oneOf: [{required: [x]}, {required: [z]}], properties: {x: {type: string}, z: {type: string}}}
				  b: {type: string, nullable: true, anyOf: [{enum: [p]}, {enum: [q]}], allOf: [{enum: [p, q]}], not: {maxLength: 0}}
				  c: {nullable: true, oneOf: [{minLength: 1}, {type: array}]}
			`,
			page: `
				properties:
				  a:
				    title: A
				    type: [object, "null"]
				    properties: {}
				    oneOf:
				      - {title: X, required: [x], properties: {x: {title: X, type: string}}, type: object}
				      - {title: Z, required: [z], properties: {z: {title: Z, type: string}}, type: object}
				      - {title: None, type: "null"}
				  b:
				    title: B
				    type: [string, "null"]
				    anyOf: [{enum: [p], type: string}, {enum: [q], type: string}, {title: None, type: "null"}]
				    allOf: [{anyOf: [{enum: [p, q]}, {title: None, type: "null"}]}]
				    not: {maxLength: 0, type: string}
				  c:
				    title: C
				    type: [object, array, string, number, boolean, "null"]
				    ui:field: YamlText
				    oneOf: [{minLength: 1, type: [object, array, string, number, boolean]}, {type: array}, {title: None, type: "null"}]
			`,
			values:  `{a: null, b: null, c: null}`,
			refused: []string{`{a: {}}`, `{a: {x: x, z: z}}`, `{b: ""}`, `{b: r}`, `{c: ""}`},
		},
		"not checkable": {
			reason: "A condition that a browser cannot check completely is left out if a part of it would refuse valid values.",
			spec: `
				type: object
				properties:
				  a: {type: string, not: {pattern: '(?m)^x'}}
				  b: {type: string, oneOf: [{pattern: '(?m)^x'}, {minLength: 5}]}
				  c: {type: string, not: {format: cidr}, anyOf: [{pattern: '(?m)^x'}, {minLength: 5}]}
				  d: {type: string, not: {}, oneOf: [], anyOf: text, allOf: [text]}
				  e: {type: string, allOf: [{not: {format: cidr}}, {oneOf: [{format: cidr}, {maxLength: 3}]}, {items: true}]}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
				  b: {title: B, type: string}
				  c: {title: C, type: string}
				  d: {title: D, type: string}
				  e: {title: E, type: string}
			`,
			values: `{a: a, b: b, c: c, d: d, e: eeee}`,
		},
	})
}

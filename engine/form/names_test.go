package form

import "testing"

func TestNames(t *testing.T) {
	runForms(t, map[string]formCase{
		"keywords": {
			reason: "Properties named type, description, title, properties, default, required or enum are ordinary properties.",
			spec: `
				type: object
				required: [type, required]
				properties:
				  default: {type: string}
				  description: {type: string}
				  enum: {type: array, items: {type: string}}
				  items: {type: string}
				  properties: {type: object, properties: {properties: {type: string}, type: {type: string}}}
				  required: {type: boolean}
				  title: {type: string}
				  type: {type: string}
			`,
			page: `
				required: [required, type]
				properties:
				  required: {title: Required, type: boolean}
				  type: {title: Type, type: string}
				  default: {title: Default, type: string}
				  description: {title: Description, type: string}
				  enum: {title: Enum, type: array, items: {type: string}}
				  items: {title: Items, type: string}
				  properties: {title: Properties, type: object, properties: {properties: {title: Properties, type: string}, type: {title: Type, type: string}}}
				  title: {title: Title, type: string}
			`,
			values:  `{type: a, required: false, properties: {type: x, properties: y}, default: d, description: e, enum: [f], items: g, title: h}`,
			refused: []string{`{type: a}`, `{type: 1, required: true}`},
		},
		"nested keywords": {
			reason: "The same names work inside objects, items and map values.",
			spec: `
				type: object
				properties:
				  a: {type: object, required: [type], properties: {type: {type: string}, default: {type: integer, default: 0}, name: {type: string}, owner: {type: string}}}
				  b: {type: array, items: {type: object, properties: {type: {type: string}, items: {type: string}, enum: {type: string, enum: [x]}}}}
			`,
			page: `
				properties:
				  a:
				    title: A
				    type: object
				    required: [type]
				    properties:
				      type: {title: Type, type: string}
				      default: {title: Default, description: "Default: 0", type: integer, ui:placeholder: "0"}
				      name: {title: Name, type: string}
				      owner: {title: Owner, type: string}
				  b:
				    title: B
				    type: array
				    items: {type: object, properties: {enum: {title: Enum, type: string, enum: [x]}, items: {title: Items, type: string}, type: {title: Type, type: string}}}
			`,
			values: `{a: {type: x, default: 1, name: n, owner: o}, b: [{type: t, items: i, enum: x}]}`,
		},
		"our own": {
			reason: "A field with a reserved name is renamed in the form and mapped back in the manifest.",
			spec: `
				type: object
				required: [name, owner]
				properties:
				  clusters: {type: string}
				  name: {type: string}
				  namespace: {type: string}
				  owner: {type: string}
				  repoUrl: {type: string}
				  spec: {type: string}
			`,
			page: `
				required: [spec_name, spec_owner]
				properties:
				  spec_name: {title: Name, type: string}
				  spec_owner: {title: Owner, type: string}
				  clusters: {title: Clusters, type: string}
				  spec_namespace: {title: Namespace, type: string}
				  repoUrl: {title: Repo URL, type: string}
				  spec_spec: {title: Spec, type: string}
			`,
			values:  `{spec_name: a, spec_namespace: b, spec_owner: c, spec_spec: d, clusters: e, repoUrl: f, owner: group:default/team, name: me}`,
			want:    `{name: a, namespace: b, owner: c, spec: d, clusters: e, repoUrl: f}`,
			refused: []string{`{owner: x, name: me}`},
			rules:   []string{RuleRenamed, RuleRenamed, RuleRenamed, RuleRenamed},
		},
		"pages not there": {
			reason: "Names of pages that this form does not have are reserved too, so that a name depends only on the definition.",
			spec: `
				type: object
				properties:
				  composition: {type: string}
				  delivery: {type: string}
				  gitBranch: {type: string}
			`,
			page: `
				properties:
				  spec_composition: {title: Composition, type: string}
				  spec_delivery: {title: Delivery, type: string}
				  spec_gitBranch: {title: Git Branch, type: string}
			`,
			values: `{spec_composition: a, spec_delivery: b, spec_gitBranch: c}`,
			want:   `{composition: a, delivery: b, gitBranch: c}`,
			rules:  []string{RuleRenamed, RuleRenamed, RuleRenamed},
		},
		"taken": {
			reason: "spec_name and name stay different fields.",
			spec: `
				type: object
				properties:
				  name: {type: string}
				  spec_name: {type: string}
				  spec_spec_spec_name: {type: string}
			`,
			page: `
				properties:
				  spec_spec_name: {title: Name, type: string}
				  spec_name: {title: Spec Name, type: string}
				  spec_spec_spec_name: {title: Spec Spec Spec Name, type: string}
			`,
			values: `{spec_spec_name: a, spec_name: b, spec_spec_spec_name: c}`,
			want:   `{name: a, spec_name: b, spec_spec_spec_name: c}`,
			rules:  []string{RuleRenamed},
		},
		"odd": {
			reason: "Names may contain dashes, dots, quotes, braces, line breaks, Unicode, digits, and keywords of the template language.",
			spec: `
				type: object
				properties:
				  "": {type: string}
				  "1st": {type: string}
				  "a\nb": {type: string}
				  'a"b': {type: string}
				  'a\b': {type: string}
				  "a}}b": {type: string}
				  a-b: {type: string}
				  a.b: {type: string}
				  "none": {type: string}
				  "true": {type: string}
				  größe: {type: string}
				  if: {type: string}
				  "it's": {type: string}
				  日本: {type: string}
			`,
			page: `
				properties:
				  "": {type: string}
				  "1st": {title: "1st", type: string}
				  "a\nb": {title: "A B (a\nb)", type: string}
				  "a\"b": {title: "A B (a\"b)", type: string}
				  a-b: {title: A B (a-b), type: string}
				  a.b: {title: A B (a.b), type: string}
				  "a\\b": {title: "A B (a\\b)", type: string}
				  "a}}b": {title: "A B (a}}b)", type: string}
				  "größe": {title: "Größe", type: string}
				  if: {title: If, type: string}
				  it's: {title: It S, type: string}
				  none: {title: None, type: string}
				  "true": {title: "True", type: string}
				  "日本": {title: "日本", type: string}
			`,
			values: `{"": a, 1st: b, "a\nb": c, 'a"b': d, 'a\b': e, "a}}b": f, a-b: g, a.b: h, "none": i, "true": j, größe: k, if: l, "it's": m, 日本: n}`,
		},
	})
}

func TestTitles(t *testing.T) {
	runForms(t, map[string]formCase{
		"from the schema": {
			reason: "The title comes from the schema, or else from the key; items and map values have no title.",
			spec: `
				type: object
				properties:
				  a: {type: string, title: " Own title "}
				  dbURL: {type: string, title: ""}
				  list: {type: array, items: {type: string, title: Entry}}
				  map: {type: object, additionalProperties: {type: string, title: Value}}
			`,
			page: `
				properties:
				  a: {title: Own title, type: string}
				  dbURL: {title: DB URL, type: string}
				  list: {title: List, type: array, items: {title: Entry, type: string}}
				  map: {title: Map, type: object, additionalProperties: {title: Value, type: string}}
			`,
			values: `{a: x}`,
		},
	})
	cases := map[string]struct{ reason, in, want string }{
		"camel":         {"A change of case starts a new word.", "storageClass", "Storage Class"},
		"acronym":       {"An acronym is one word.", "storageGB", "Storage GB"},
		"two acronyms":  {"An acronym may be in lower case.", "dbURL", "DB URL"},
		"brand":         {"A brand name is one word.", "PostgreSQLDatabase", "PostgreSQL Database"},
		"small brand":   {"A brand name may be in lower case.", "postgresql", "PostgreSQL"},
		"before word":   {"An acronym ends before a capitalized word.", "VPCName", "VPC Name"},
		"plural":        {"The plural of an acronym is one word.", "subnetIDs", "Subnet IDs"},
		"small plural":  {"A brand name may be in lower case.", "subnetIds", "Subnet IDs"},
		"dashes":        {"Separators become spaces.", "multi-az_mode.x", "Multi AZ Mode X"},
		"kind":          {"Kinds of definitions are split in the same way.", "XSQLInstance", "XSQL Instance"},
		"digits":        {"Digits stay with their word.", "ipv4Cidr", "IPv4 CIDR"},
		"s3":            {"An acronym with a digit is recognized at the beginning.", "s3Bucket", "S3 Bucket"},
		"k8s":           {"An acronym may have a digit inside.", "k8sVersion", "K8s Version"},
		"one letter":    {"A single letter is a word.", "a", "A"},
		"unicode":       {"Non-ASCII letters are kept.", "größeGB", "Größe GB"},
		"only marks":    {"A name without letters is unchanged.", "--", "--"},
		"github":        {"A brand name that was split at its capitals is joined.", "gitHubRepo", "GitHub Repo"},
		"not a brand":   {"A word that only looks like an acronym is not one.", "ios", "Ios"},
		"long acronyms": {"A run of capitals is split before the last word.", "enableHTTPSOnly", "Enable HTTPS Only"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Humanise(tc.in); got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

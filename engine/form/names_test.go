package form

import "testing"

func TestNames(t *testing.T) {
	runForms(t, map[string]formCase{
		"keywords": {
			reason: "property named type, description, title, properties, default, required, enum: a property like any other",
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
			reason: "the same names inside objects, items and map values",
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
			reason: "a field that collides with one of ours is renamed in the form and mapped back in the manifest",
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
			reason: "names of pages that this form does not have are kept free all the same, so that a name depends on the definition alone",
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
			reason: "spec_name beside name: both keep apart",
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
			reason: "names with dashes, dots, quotes, braces, line breaks, unicode, digits, and words of the template language",
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
			reason: "title: from the schema; else the key, humanised; items and map values have none of their own",
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
		"camel":         {"a change of case begins a word", "storageClass", "Storage Class"},
		"acronym":       {"an acronym stays whole", "storageGB", "Storage GB"},
		"two acronyms":  {"the first may be written small", "dbURL", "DB URL"},
		"brand":         {"a brand stays whole", "PostgreSQLDatabase", "PostgreSQL Database"},
		"small brand":   {"even written small", "postgresql", "PostgreSQL"},
		"before word":   {"an acronym ends before a word", "VPCName", "VPC Name"},
		"plural":        {"the plural of an acronym is one word", "subnetIDs", "Subnet IDs"},
		"small plural":  {"even written small", "subnetIds", "Subnet IDs"},
		"dashes":        {"separators are spaces", "multi-az_mode.x", "Multi AZ Mode X"},
		"kind":          {"kinds of definitions too", "XSQLInstance", "XSQL Instance"},
		"digits":        {"digits stay with their word", "ipv4Cidr", "IPv4 CIDR"},
		"s3":            {"even at the beginning", "s3Bucket", "S3 Bucket"},
		"k8s":           {"and inside", "k8sVersion", "K8s Version"},
		"one letter":    {"one letter is a word", "a", "A"},
		"unicode":       {"other letters are kept", "größeGB", "Größe GB"},
		"only marks":    {"what has no letters stays as it is", "--", "--"},
		"github":        {"a brand taken apart at its capitals is put together", "gitHubRepo", "GitHub Repo"},
		"not a brand":   {"a word that only looks like an acronym", "ios", "Ios"},
		"long acronyms": {"a run of capitals", "enableHTTPSOnly", "Enable HTTPS Only"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Humanise(tc.in); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

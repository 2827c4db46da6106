package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidations(t *testing.T) {
	runForms(t, map[string]formCase{
		"help": {
			reason: "The message of a CEL rule, or else the rule itself, becomes help; self == oldSelf marks the field as immutable.",
			spec: `
				type: object
				properties:
				  a: {type: string, x-kubernetes-validations: [{rule: self != '', message: "Must not be <empty> & \"blank\"."}, {rule: self.size() < 5}]}
				  b: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: Is fixed.}]}
				  c: {type: string, x-kubernetes-validations: [{rule: "self==oldSelf"}, {messageExpression: x}, text]}
				  d: {type: string, x-kubernetes-validations: text}
			`,
			page: `
				properties:
				  a: {title: A, type: string, ui:help: "Must not be <empty> & \"blank\".\nMust satisfy: self.size() < 5"}
				  b: {title: B, type: string, ui:help: Is fixed., ui:options: {immutable: true}}
				  c: {title: C, type: string, ui:help: Cannot be changed after creation., ui:options: {immutable: true}}
				  d: {title: D, type: string}
			`,
			values: `{a: x, b: x, c: x, d: x}`,
		},
		"deep": {
			reason: "CEL messages in nested objects, items and map values are shown at the field of the rule.",
			spec: `
				type: object
				properties:
				  list: {type: array, items: {type: string, x-kubernetes-validations: [{rule: r, message: Of an item.}]}}
				  map: {type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: r, message: Of a value.}]}}
				  object: {type: object, x-kubernetes-validations: [{rule: r, message: Of an object.}], properties: {x: {type: string}}}
			`,
			page: `
				properties:
				  list: {title: List, type: array, items: {type: string, ui:help: Of an item.}}
				  map: {title: Map, type: object, additionalProperties: {type: string, ui:help: Of a value.}}
				  object: {title: Object, type: object, properties: {x: {title: X, type: string}}, ui:help: Of an object.}
			`,
			values: `{list: [x], map: {a: x}, object: {x: "1"}}`,
		},
		"page": {
			reason: "CEL messages of spec and of its wrapper are shown on the page.",
			spec: `
				type: object
				description: Of spec. More.
				x-kubernetes-validations: [{rule: r, message: Of spec itself.}]
				properties:
				  parameters:
				    type: object
				    x-kubernetes-validations: [{rule: r, message: Of the wrapper.}]
				    properties: {size: {type: integer}}
			`,
			page: `
				description: "Of spec.\nOf spec itself.\nOf the wrapper."
				properties:
				  size: {title: Size, type: integer}
			`,
			values: `{size: 1}`,
			want:   `{parameters: {size: 1}}`,
		},
	})
}

func TestHints(t *testing.T) {
	runForms(t, map[string]formCase{
		"each": {
			reason: "x-ui-hidden, x-ui-advanced, x-ui-field, x-ui-options and x-ui-placeholder are converted to form options.",
			spec: `
				type: object
				properties:
				  a: {type: string, x-ui-hidden: true, default: x}
				  b: {type: string, x-ui-advanced: true}
				  c: {type: string, x-ui-field: EntityPicker, x-ui-options: {z: 1, allowed: [b, a]}}
				  d: {type: integer, x-ui-placeholder: "5432"}
				  e: {type: integer, x-ui-placeholder: 5432}
				  f: {type: object, x-ui-field: MyEditor}
			`,
			page: `
				properties:
				  a: {title: A, type: string, default: x, ui:widget: hidden}
				  c: {title: C, type: string, ui:field: EntityPicker, ui:options: {allowed: [b, a], z: 1}}
				  d: {title: D, type: integer, ui:placeholder: "5432"}
				  e: {title: E, type: integer, ui:placeholder: "5432"}
				  f: {title: F, type: object, additionalProperties: true, ui:field: MyEditor}
				  b: {title: B, type: string, ui:options: {advanced: true}}
			`,
			values: `{a: x, b: x, c: x, d: 1, e: 1, f: {a: 1}}`,
		},
		"off": {
			reason: "A hint that is off or invalid is ignored.",
			spec: `
				type: object
				properties:
				  a: {type: string, x-ui-hidden: false, x-ui-advanced: false, x-ui-field: 5, x-ui-options: text, x-ui-placeholder: "", x-ui-order: soon}
			`,
			page: `
				properties:
				  a: {title: A, type: string}
			`,
			values: `{a: x}`,
		},
		"example": {
			reason: "The example of a text or a number is shown, unless there is a placeholder or the value is a secret.",
			spec: `
				type: object
				properties:
				  a: {type: string, example: 10.0.0.0/16}
				  b: {type: integer, example: 3}
				  c: {type: string, example: x, x-ui-placeholder: "y"}
				  d: {type: string, format: password, example: hunter2}
				  e: {type: object, example: {x: 1}, properties: {x: {type: integer}}}
				  f: {type: boolean, example: true}
				  g: {type: string, example: [x]}
			`,
			page: `
				properties:
				  a: {title: A, type: string, examples: [10.0.0.0/16]}
				  b: {title: B, type: integer, examples: [3]}
				  c: {title: C, type: string, ui:placeholder: "y"}
				  d: {title: D, type: string, format: password, ui:widget: password}
				  e: {title: E, type: object, properties: {x: {title: X, type: integer}}}
				  f: {title: F, type: boolean}
				  g: {title: G, type: string}
			`,
			values: `{a: x}`,
		},
		"nested": {
			reason: "Hints work at every level.",
			spec: `
				type: object
				properties:
				  list: {type: array, items: {type: object, properties: {a: {type: string, x-ui-placeholder: x}, b: {type: string, x-ui-hidden: true}}}}
				  object: {type: object, x-ui-advanced: true, properties: {z: {type: string, x-ui-order: 1}, y: {type: string}}}
			`,
			page: `
				properties:
				  list:
				    title: List
				    type: array
				    items: {type: object, properties: {a: {title: A, type: string, ui:placeholder: x}, b: {title: B, type: string, ui:widget: hidden}}}
				  object: {title: Object, type: object, properties: {z: {title: Z, type: string}, "y": {title: "Y", type: string}}, ui:options: {advanced: true}}
			`,
			values: `{list: [{a: x}]}`,
		},
		"other": {
			reason: "Other x-* extensions are not in the form.",
			spec: `
				type: object
				properties:
				  a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], x-vendor: 1, x-ui-unknown: 1, items: {type: string, x-foo: {}}}
			`,
			page: `
				properties:
				  a: {title: A, type: array, items: {type: string}}
			`,
			values: `{a: [x]}`,
		},
		"hidden and required": {
			reason: "A required field that is hidden and has no default cannot be filled in, and is reported.",
			spec: `
				type: object
				required: [a, b]
				properties:
				  a: {type: string, x-ui-hidden: true}
				  b: {type: string, x-ui-hidden: true, default: ""}
			`,
			page: `
				required: [a]
				properties:
				  a: {title: A, type: string, ui:widget: hidden}
				  b: {title: B, type: string, default: "", ui:widget: hidden}
			`,
			values: `{a: x, b: ""}`,
		},
	})
}

func TestDescriptions(t *testing.T) {
	runForms(t, map[string]formCase{
		"untouched": {
			reason: "Descriptions, titles, patterns and enums are not HTML-escaped.",
			spec: `
				type: object
				properties:
				  a: {type: string, title: "A <b> & \"c\" 'd'", description: "Use <name> & \"x\" 'y' {{ z }} ${{ w }}", pattern: "^[<>&'\"]*$", enum: ["<", "&", "'", "\""]}
			`,
			page: `
				properties:
				  a:
				    title: "A <b> & \"c\" 'd'"
				    description: "Use <name> & \"x\" 'y' {{ z }} ${{ w }}"
				    type: string
				    enum: ["<", "&", "'", "\""]
				    pattern: "^[<>&'\"]*$"
			`,
			values: `{a: "<"}`,
		},
		"sentences": {
			reason: "The first sentence of a description becomes help, the rest becomes details with its line breaks.",
			spec: `
				type: object
				properties:
				  a: {type: string, description: "First line\ncontinued. Second sentence.\nThird."}
				  b: {type: string, description: "Size, e.g. 10Gi. At most 1.5 Ti."}
				  c: {type: string, description: "  "}
			`,
			page: `
				properties:
				  a: {title: A, description: "First line\ncontinued.", type: string, ui:options: {details: "Second sentence.\nThird."}}
				  b: {title: B, description: "Size, e.g. 10Gi.", type: string, ui:options: {details: At most 1.5 Ti.}}
				  c: {title: C, type: string}
			`,
			values: `{a: x}`,
		},
	})
}

func TestFirstSentence(t *testing.T) {
	cases := map[string]struct {
		reason      string
		in          string
		first, rest string
	}{
		"one":          {"A single sentence is used as a whole.", "Size in GB.", "Size in GB.", ""},
		"no stop":      {"A text without a full stop is used as a whole.", "Size in GB", "Size in GB", ""},
		"two":          {"A sentence ends at a full stop before a capital letter.", "Size. In GB.", "Size.", "In GB."},
		"question":     {"Question and exclamation marks end a sentence.", "Really? Yes! No.", "Really?", "Yes! No."},
		"abbreviation": {"An abbreviation does not end a sentence.", "Region, e.g. Frankfurt. Required.", "Region, e.g. Frankfurt.", "Required."},
		"in brackets":  {"An abbreviation in brackets does not end a sentence.", "Disks (i.e. Volumes) count. Yes.", "Disks (i.e. Volumes) count.", "Yes."},
		"lower case":   {"A full stop before a lower-case letter does not end a sentence.", "Version 1. x is old. New.", "Version 1. x is old.", "New."},
		"number":       {"A decimal point does not end a sentence.", "At most 1.5 GB. More fails.", "At most 1.5 GB.", "More fails."},
		"host":         {"A dot inside a host name does not end a sentence.", "Like db.example.com. Or not.", "Like db.example.com.", "Or not."},
		"line break":   {"A full stop at the end of a line ends a sentence.", "First.\nSecond.", "First.", "Second."},
		"wrapped":      {"A line break alone does not end a sentence.", "First\nline. Second.", "First\nline.", "Second."},
		"paragraph":    {"An empty line ends a sentence.", "Title\n\nText. More.", "Title", "Text. More."},
		"space":        {"Surrounding white space is removed.", " \n A. B \n", "A.", "B"},
		"unicode":      {"Capital letters of other scripts are recognized.", "Größe. Über alles.", "Größe.", "Über alles."},
		"empty":        {"An empty text stays empty.", "", "", ""},
		"dots":         {"Dots alone are a sentence.", "...", "...", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first, rest := FirstSentence(tc.in)
			if diff := cmp.Diff([]string{tc.first, tc.rest}, []string{first, rest}); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

package structural_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/xrd/structural"
)

// floods is a definition with lists and maps of any length.
const floods = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: places.example.org}
spec:
  group: example.org
  names: {kind: Place, plural: places}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              zones: {type: array, items: {type: string, enum: [a, b]}}
              tags: {type: object, additionalProperties: {type: object, required: [v], properties: {v: {type: integer, maximum: 3}}}}
              any: {type: array, items: {type: string}, anyOf: [{items: {enum: [a]}}]}
              either: {type: array, items: {type: string}, anyOf: [{items: {enum: [a]}}, {items: {maxLength: 3}}]}
              one: {type: array, items: {type: string}, oneOf: [{items: {enum: [a]}}, {items: {enum: [b]}}]}
              all: {type: array, items: {type: string}, allOf: [{items: {pattern: "^a"}}, {items: {pattern: "b$"}}, {items: {maxLength: 3}}]}
              none: {type: array, items: {type: string}, not: {items: {enum: [a]}}}
              each: {type: array, items: {type: string, not: {enum: [c]}}}
              deep: {type: object, additionalProperties: {type: array, items: {type: string}, oneOf: [{items: {enum: [a]}}, {items: {maxLength: 3}, minItems: 1}]}}
              note: {type: string}
          status:
            type: object
            anyOf: [{properties: {zones: {items: {enum: [a]}}}}]
            properties: {zones: {type: array, items: {type: string}}}
`

// TestFlood checks that an object with very many errors is refused in a short time, with the
// first of them, and that all others are validated as ever.
func TestFlood(t *testing.T) {
	definitions, _ := read(t, floods)
	k, err := structural.NewKind(definitions[0], "v1", false)
	if err != nil {
		t.Fatal(err)
	}
	object := func(spec string) map[string]any {
		_, others := read(t, "apiVersion: example.org/v1\nkind: Place\nmetadata: {name: a, namespace: b}\nspec: "+spec+"\n")
		out, err := structural.Object(others[0])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	repeat := func(value string, n int) string { return strings.TrimSuffix(strings.Repeat(value+",", n), ",") }
	many := func(format string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	cases := map[string]struct {
		reason    string
		spec, old string
		problems  int
		first     string
		flood     bool
	}{
		"Types":      {"Each wrong type is an error.", "{zones: [" + repeat("1", 20_000) + "]}", "", 101, "spec.zones[0]", true},
		"Enum":       {"So is a value that is not allowed.", "{zones: [" + repeat("a", 600) + "," + repeat("c", 20_000) + "]}", "", 101, "spec.zones[600]", true},
		"Map":        {"Maps count too.", "{tags: {" + many("k%05d: {v: 9}", 5000) + "}}", "", 101, "spec.tags.k00000.v", true},
		"Missing":    {"A missing field is an error.", "{tags: {" + many("k%05d: {}", 5000) + "}}", "", 101, "spec.tags.k00000.v", true},
		"Few":        {"Few errors are found by the validator itself.", "{zones: [" + repeat("a", 20_000) + "," + repeat("c", 50) + "]}", "", 50, "spec.zones[20000]", false},
		"None":       {"A large object without errors is accepted.", "{zones: [" + repeat("a", 20_000) + "]}", "", 0, "", false},
		"AnyOf":      {"A branch has errors too.", "{any: [" + repeat("c", 20_000) + "]}", "", 101, "", true},
		"AnyOfOther": {"Errors of one alternative do not count if another one accepts the value.", "{either: [" + repeat("c", 20_000) + "]}", "", 0, "", false},
		"AnyOfFew":   {"Few errors of a branch are found by the validator.", "{any: [" + repeat("a", 20_000) + "," + repeat("c", 10) + "]}", "", 11, "", false},
		"OneOfNone":  {"No alternative accepts the value.", "{one: [" + repeat("c", 20_000) + "]}", "", 101, "", true},
		"OneOf":      {"Of two alternatives, one accepts the value.", "{one: [" + repeat("b", 20_000) + "]}", "", 0, "", false},
		"OneOfBoth":  {"Both do.", "{one: []}", "", 1, "", false},
		"AllOf":      {"A value with two errors has more of them.", "{all: [" + repeat("xxxx", 200) + "]}", "", 101, "spec.all[0]", true},
		"AllOfValid": {"All branches accept the value.", "{all: [" + repeat("ab", 20_000) + "]}", "", 0, "", false},
		"Not":        {"The errors of what must not be valid are none.", "{none: [" + repeat("c", 20_000) + "]}", "", 0, "", false},
		"NotValid":   {"It must not be valid.", "{none: [" + repeat("a", 20_000) + "]}", "", 1, "", false},
		"NotEach":    {"Each value is refused by not.", "{each: [" + repeat("c", 20_000) + "]}", "", 101, "", true},
		"Discarded":  {"Many small lists have few errors each, all of which are discarded.", "{deep: {" + many("k%05d: ["+repeat("c", 90)+"]", 1500) + "}}", "", 0, "", false},
		"Unchanged":  {"An update may keep a flood.", "{note: b, zones: [" + repeat("c", 20_000) + "]}", "{note: a, zones: [" + repeat("c", 20_000) + "]}", 0, "", false},
		"Appended":   {"A list that changes is validated as a whole.", "{zones: [" + repeat("c", 20_001) + "]}", "{zones: [" + repeat("c", 20_000) + "]}", 101, "spec.zones[0]", true},
		"Update":     {"A flood of new errors is one in an update.", "{zones: [" + repeat("1", 20_000) + "]}", "{zones: [a]}", 101, "spec.zones[0]", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old := map[string]any(nil)
			if tc.old != "" {
				old = object(tc.old)
			}
			begin := time.Now()
			v := k.Validate(t.Context(), object(tc.spec), old)
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("%s: validation took %v", tc.reason, took)
			}
			if len(v.Problems) != tc.problems {
				t.Fatalf("%s: %d problems, want %d", tc.reason, len(v.Problems), tc.problems)
			}
			if tc.problems > 0 && v.Problems[0].Field != tc.first {
				t.Errorf("%s: first problem is %s, want %s", tc.reason, v.Problems[0], tc.first)
			}
			if tc.flood != (tc.problems > 0 && v.Problems[tc.problems-1].Detail == structural.TooManyErrors) {
				t.Errorf("%s: last problem is %s", tc.reason, v.Problems[tc.problems-1])
			}
		})
	}
}

package diff

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
)

// definition returns a definition with a version v1 that has the fields of spec.
func definition(t *testing.T, fields string) *xrd.Definition {
	t.Helper()
	return parse(t, `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: buckets.example.org}
spec:
  group: example.org
  names: {kind: Bucket, plural: buckets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: `+fields+"\n")
}

func parse(t *testing.T, text string) *xrd.Definition {
	t.Helper()
	all := parseSet(t, text)
	if len(all.Definitions) != 1 {
		t.Fatalf("%d definitions and %v in\n%s", len(all.Definitions), all.Findings, text)
	}
	return all.Definitions[0]
}

func parseSet(t *testing.T, text string) *xrd.Set {
	t.Helper()
	var set xrd.Set
	if err := set.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil {
		t.Fatal(err)
	}
	return &set
}

// compare returns the changes from one definition to another.
func compare(t *testing.T, older, newer *xrd.Definition) []Change {
	t.Helper()
	changes, err := Compare(t.Context(), older, newer)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// summary returns changes as short lines.
func summary(changes []Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", c.Rule, c.Severity, c.Field, c.Message)))
	}
	return out
}

func TestFields(t *testing.T) {
	object := func(properties string) string { return "{type: object, properties: {" + properties + "}}" }
	a := func(schema string) string { return object("a: " + schema) }
	cases := map[string]struct {
		reason   string
		old, new string
		want     []string
	}{
		"Same":              {"Equal schemas have no changes.", a("{type: string}"), a("{type: string}"), []string{}},
		"Removed":           {"Values are dropped.", object("a: {type: string}, b: {type: string}"), a("{type: string}"), []string{"DIF020 error spec.b: field removed"}},
		"RemovedKept":       {"Unknown fields are kept, so nothing is lost.", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", "{type: object, x-kubernetes-preserve-unknown-fields: true}", []string{"DIF035 warning spec.a: field removed; its values are kept, but no longer checked"}},
		"Added":             {"An optional field refuses nothing.", a("{type: string}"), object("a: {type: string}, b: {type: string}"), []string{"DIF021 info spec.b: optional field added"}},
		"AddedAnything":     {"Any value is still accepted.", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {x-kubernetes-preserve-unknown-fields: true, description: text}}}", []string{"DIF021 info spec.a: optional field added"}},
		"AddedChecked":      {"An object may already have the field.", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", []string{"DIF036 error spec.a: field added where any value was kept"}},
		"Required":          {"Objects without it are refused.", a("{type: string}"), "{type: object, required: [a], properties: {a: {type: string}}}", []string{"DIF022 error spec.a: newly required, without a default"}},
		"RequiredNew":       {"A new field can be required too.", object("b: {type: string}"), "{type: object, required: [a], properties: {a: {type: string}, b: {type: string}}}", []string{"DIF022 error spec.a: newly required, without a default"}},
		"RequiredDefault":   {"A default fills it in.", a("{type: string, default: x}"), "{type: object, required: [a], properties: {a: {type: string, default: x}}}", []string{`DIF023 info spec.a: newly required; the default "x" fills it in`}},
		"Optional":          {"Fewer required fields refuse nothing.", "{type: object, required: [a], properties: {a: {type: string}}}", a("{type: string}"), []string{"DIF038 info spec.a: no longer required"}},
		"EnumNarrowed":      {"Objects with the value are refused.", a("{type: string, enum: [small, large]}"), a("{type: string, enum: [large]}"), []string{`DIF024 error spec.a: enum value "small" removed`}},
		"EnumWidened":       {"crdify warns of new values; here they refuse nothing.", a("{type: string, enum: [large]}"), a("{type: string, enum: [small, large]}"), []string{`DIF038 info spec.a: enum value "small" added`}},
		"EnumReplaced":      {"A removal with an addition is still a removal.", a("{type: string, enum: [x]}"), a("{type: string, enum: [y]}"), []string{`DIF024 error spec.a: enum value "x" removed`, `DIF038 info spec.a: enum value "y" added`}},
		"EnumNew":           {"Other values were accepted.", a("{type: string}"), a("{type: string, enum: [x]}"), []string{`DIF025 error spec.a: only these values are accepted: "x"`}},
		"EnumGone":          {"Any value is accepted.", a("{type: string, enum: [x]}"), a("{type: string}"), []string{"DIF038 info spec.a: enum removed: any value is accepted"}},
		"Type":              {"Values of the old type are refused.", a("{type: string}"), a("{type: integer}"), []string{"DIF026 error spec.a: type changed from string to integer"}},
		"TypeWidened":       {"An integer is a number.", a("{type: integer}"), a("{type: number}"), []string{"DIF038 info spec.a: type changed from integer to number"}},
		"IntOrString":       {"Both types are accepted.", a("{type: integer}"), a("{x-kubernetes-int-or-string: true}"), []string{"DIF038 info spec.a: type changed from integer to integer or string"}},
		"IntOrStringGone":   {"Strings are refused.", a("{x-kubernetes-int-or-string: true}"), a("{type: integer}"), []string{"DIF026 error spec.a: type changed from integer or string to integer"}},
		"Maximum":           {"A lower maximum refuses values.", a("{type: integer, maximum: 9}"), a("{type: integer, maximum: 5}"), []string{"DIF027 error spec.a: maximum changed from 9 to 5"}},
		"MaximumRaised":     {"A higher maximum refuses nothing.", a("{type: integer, maximum: 5}"), a("{type: integer, maximum: 9}"), []string{"DIF038 info spec.a: maximum changed from 5 to 9"}},
		"MinLength":         {"A new bound refuses values.", a("{type: string}"), a("{type: string, minLength: 3}"), []string{"DIF027 error spec.a: minLength changed from none to 3"}},
		"MinLengthZero":     {"No text is shorter than nothing.", a("{type: string}"), a("{type: string, minLength: 0}"), []string{}},
		"Exclusive":         {"The bound itself is refused.", a("{type: integer, maximum: 5}"), a("{type: integer, maximum: 5, exclusiveMaximum: true}"), []string{"DIF027 error spec.a: exclusiveMaximum: 5 is no longer accepted"}},
		"ExclusiveHigher":   {"The old bound is still accepted.", a("{type: integer, maximum: 10}"), a("{type: integer, maximum: 20, exclusiveMaximum: true}"), []string{"DIF038 info spec.a: maximum changed from 10 to 20"}},
		"ExclusiveLower":    {"The old bound is still accepted.", a("{type: integer, minimum: 10}"), a("{type: integer, minimum: 5, exclusiveMinimum: true}"), []string{"DIF038 info spec.a: minimum changed from 10 to 5"}},
		"ExclusiveTighter":  {"The bound is reported once.", a("{type: integer, maximum: 10}"), a("{type: integer, maximum: 5, exclusiveMaximum: true}"), []string{"DIF027 error spec.a: maximum changed from 10 to 5"}},
		"MultipleOf":        {"crdify has no rule for it.", a("{type: integer}"), a("{type: integer, multipleOf: 2}"), []string{"DIF027 error spec.a: multipleOf changed from none to 2"}},
		"Pattern":           {"It cannot be decided.", a("{type: string, pattern: '^a'}"), a("{type: string, pattern: '^ab'}"), []string{"DIF028 error spec.a: pattern changed from ^a to ^ab"}},
		"Format":            {"An API server checks it.", a("{type: string}"), a("{type: string, format: date}"), []string{"DIF028 error spec.a: format changed from none to date"}},
		"FormatUnknown":     {"An API server ignores it.", a("{type: string}"), a("{type: string, format: colour}"), []string{"DIF038 info spec.a: format changed from none to colour"}},
		"Rule":              {"It cannot be decided.", a("{type: string}"), a("{type: string, x-kubernetes-validations: [{rule: self != 'x', message: not x}]}"), []string{"DIF029 error spec.a: validation rule may refuse objects: not x"}},
		"RuleUpdates":       {"A rule that reads oldSelf refuses updates only.", a("{type: integer}"), a("{type: integer, x-kubernetes-validations: [{rule: self == oldSelf || self <= 5, message: at most 5}]}"), []string{"DIF039 warning spec.a: validation rule may refuse updates: at most 5"}},
		"RuleUpdatesText":   {"oldSelf in a text is not the old value.", a("{type: string}"), a("{type: string, x-kubernetes-validations: [{rule: self != 'oldSelf'}]}"), []string{"DIF029 error spec.a: validation rule may refuse objects: self != 'oldSelf'"}},
		"RuleUpdatesField":  {"A field may have the name.", a("{type: object, properties: {oldSelf: {type: string}}}"), a("{type: object, properties: {oldSelf: {type: string}}, x-kubernetes-validations: [{rule: self.oldSelf != 'x'}]}"), []string{"DIF029 error spec.a: validation rule may refuse objects: self.oldSelf != 'x'"}},
		"RuleOptional":      {"With optionalOldSelf, a rule applies to new objects too.", a("{type: integer}"), a("{type: integer, x-kubernetes-validations: [{rule: oldSelf.hasValue() || self <= 5, optionalOldSelf: true}]}"), []string{"DIF029 error spec.a: validation rule may refuse objects: oldSelf.hasValue() || self <= 5"}},
		"RuleNowOptional":   {"It applied to updates only.", a("{type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}"), a("{type: integer, x-kubernetes-validations: [{rule: self == oldSelf, optionalOldSelf: true}]}"), []string{"DIF029 error spec.a: validation rule applied to updates only, and now may refuse objects: self == oldSelf"}},
		"RuleNoLongerAll":   {"It applies to fewer requests.", a("{type: integer, x-kubernetes-validations: [{rule: self == oldSelf, optionalOldSelf: true}]}"), a("{type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}"), []string{"DIF038 info spec.a: validation rule applies to updates only: self == oldSelf"}},
		"RuleText":          {"The rule is the same.", a("{type: string, x-kubernetes-validations: [{rule: self != 'x', message: a}]}"), a("{type: string, x-kubernetes-validations: [{rule: self != 'x', message: b}]}"), []string{"DIF060 info spec.a: text of a validation rule changed"}},
		"RuleGone":          {"Fewer rules refuse less.", a("{type: string, x-kubernetes-validations: [{rule: self != 'x'}]}"), a("{type: string}"), []string{"DIF038 info spec.a: validation rule removed: self != 'x'"}},
		"Unknown":           {"Unknown fields are dropped.", a("{type: object, x-kubernetes-preserve-unknown-fields: true}"), a("{type: object}"), []string{"DIF030 error spec.a: unknown fields are no longer kept"}},
		"Map":               {"Entries are dropped.", a("{type: object, additionalProperties: {type: string}}"), a("{type: object, properties: {b: {type: string}}}"), []string{"DIF030 error spec.a: entries with any name are no longer kept"}},
		"MapEntry":          {"What is inside of a map is compared.", a("{type: object, additionalProperties: {type: string}}"), a("{type: object, additionalProperties: {type: string, maxLength: 3}}"), []string{"DIF027 error spec.a[*]: maxLength changed from none to 3"}},
		"Item":              {"What is inside of a list is compared.", a("{type: array, items: {type: string, enum: [x, y]}}"), a("{type: array, items: {type: string, enum: [x]}}"), []string{`DIF024 error spec.a[*]: enum value "y" removed`}},
		"Set":               {"Duplicates are refused.", a("{type: array, items: {type: string}}"), a("{type: array, x-kubernetes-list-type: set, items: {type: string}}"), []string{"DIF031 error spec.a: list type changed from atomic to set"}},
		"Atomic":            {"Nothing is refused, but apply replaces the list.", a("{type: array, x-kubernetes-list-type: set, items: {type: string}}"), a("{type: array, items: {type: string}}"), []string{"DIF037 warning spec.a: list type changed from set to atomic"}},
		"Branches":          {"It cannot be decided.", object("a: {type: string}, b: {type: string}"), "{type: object, oneOf: [{required: [a]}, {required: [b]}], properties: {a: {type: string}, b: {type: string}}}", []string{"DIF032 error spec: oneOf added: it may refuse objects"}},
		"Null":              {"Nulls are dropped or refused.", a("{type: string, nullable: true}"), a("{type: string}"), []string{"DIF033 error spec.a: null is no longer accepted"}},
		"Embedded":          {"No rule is about it, so it may refuse.", a("{type: object, x-kubernetes-preserve-unknown-fields: true}"), a("{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}"), []string{`DIF034 error spec.a: changed from {} to {"x-kubernetes-embedded-resource":true}`}},
		"Default":           {"Existing objects keep their value.", a("{type: string, default: x}"), a("{type: string, default: y}"), []string{`DIF040 warning spec.a: default changed from "x" to "y"`}},
		"DefaultAdded":      {"Existing objects get it when they are read.", a("{type: string}"), a("{type: string, default: y}"), []string{`DIF041 warning spec.a: default "y" added`}},
		"DefaultGone":       {"New objects have no value.", a("{type: string, default: x}"), a("{type: string}"), []string{`DIF042 warning spec.a: default "x" removed`}},
		"DefaultOfRequired": {"Objects without it were accepted, and now are refused.", "{type: object, required: [a], properties: {a: {type: string, default: x}}}", "{type: object, required: [a], properties: {a: {type: string}}}", []string{`DIF022 error spec.a: required, and its default "x" is removed`}},
		"Texts":             {"Only forms show them.", a("{type: string, title: A}"), a("{type: string, title: B, description: text}"), []string{"DIF060 info spec.a: description changed", "DIF060 info spec.a: title changed"}},
		"Order":             {"Only forms show it.", object("a: {type: string}, b: {type: string}"), object("b: {type: string}, a: {type: string}"), []string{"DIF061 info spec: order of 2 fields changed"}},
		"Hint":              {"Only forms read it.", a("{type: string}"), a("{type: string, x-ui-advanced: true}"), []string{"DIF062 info spec.a: x-ui-advanced changed from none to true"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := summary(compare(t, definition(t, tc.old), definition(t, tc.new)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

const legacy = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xbuckets.example.org}
spec:
  group: example.org
  names: {kind: XBucket, plural: xbuckets}
  claimNames: {kind: Bucket, plural: buckets}
  connectionSecretKeys: [user, password]
  defaultCompositionRef: {name: one}
  versions:
  - {name: v1alpha1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}
  - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}
`

func TestDefinitions(t *testing.T) {
	cases := map[string]struct {
		reason string
		// edits are pairs of old and new text.
		edits []string
		want  []string
	}{
		"Claims":        {"Claims are no longer served.", []string{"  claimNames: {kind: Bucket, plural: buckets}\n", ""}, []string{"DIF006 error : claims of kind Bucket are no longer offered"}},
		"ClaimNames":    {"Claims have another kind.", []string{"kind: Bucket, plural: buckets", "kind: Pail, plural: pails"}, []string{"DIF007 error : claims changed from Bucket (buckets) to Pail (pails)"}},
		"Kind":          {"The name is the same, the kind is not.", []string{"kind: XBucket,", "kind: XPail,"}, []string{"DIF005 error : kind changed from XBucket to XPail"}},
		"Scope":         {"A CRD keeps its scope. Fields of Crossplane are not reported.", []string{"/v1\n", "/v2\n", "spec:\n  group", "spec:\n  scope: Cluster\n  group"}, []string{"DIF004 error : scope changed from LegacyCluster to Cluster", "DIF006 error : claims of kind Bucket are no longer offered"}},
		"Unserved":      {"Manifests with the version are refused.", []string{"v1alpha1, served: true", "v1alpha1, served: false"}, []string{"DIF011 error : version no longer served"}},
		"Version":       {"The version is removed.", []string{"v1alpha1, served: true", "v1beta1, served: true"}, []string{"DIF010 error : version removed", "DIF014 info : version added"}},
		"Referenceable": {"Compositions are for one version.", []string{"served: true, referenceable: true", "served: true, referenceable: X", "served: true, referenceable: false", "served: true, referenceable: true", "referenceable: X", "referenceable: false"}, []string{"DIF012 error : referenceable version changed from v1 to v1alpha1"}},
		"Deprecated":    {"Requests get a warning.", []string{"{name: v1alpha1,", "{name: v1alpha1, deprecated: true,"}, []string{"DIF013 warning : version deprecated"}},
		"SecretKeys":    {"Applications read them.", []string{"[user, password]", "[user]"}, []string{`DIF050 error : connection secrets no longer have "password"`}},
		"SecretKeysAll": {"Without a list, there are all keys.", []string{"[user, password]", "[]"}, []string{"DIF038 info : connection secrets are no longer limited to certain keys"}},
		"Composition":   {"New resources are composed differently.", []string{"{name: one}", "{name: two}"}, []string{"DIF051 warning : default Composition changed from one to two"}},
		"Unreadable":    {"A schema of the wrong type cannot be compared.", []string{"{a: {type: string}}}}}}}\n  - {name: v1,", "{a: {type: [1]}}}}}}}\n  - {name: v1,"}, []string{"DIF009 error : new definition cannot be compared: cannot read the schema of version \"v1alpha1\" of xbuckets.example.org: json: cannot unmarshal array into Go struct field JSONSchemaProps.properties.properties.type of type string"}},
		"Conversion":    {"Objects are stored in the referenceable version, and lose what an added one lacks.", []string{"  versions:\n", "  versions:\n  - {name: v2, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}\n"}, []string{"DIF015 warning : not compatible with served version v1: spec.a: field removed", "DIF014 info : version added"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			newer := legacy
			for i := 0; i < len(tc.edits); i += 2 {
				if !strings.Contains(newer, tc.edits[i]) {
					t.Fatalf("the definition lacks %q", tc.edits[i])
				}
				newer = strings.Replace(newer, tc.edits[i], tc.edits[i+1], 1)
			}
			got := summary(compare(t, parse(t, legacy), parse(t, newer)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnserved compares definitions with a version that the old one does not serve.
func TestUnserved(t *testing.T) {
	unserved := strings.NewReplacer("v1alpha1, served: true", "v1alpha1, served: false")
	stored := strings.NewReplacer("v1alpha1, served: true, referenceable: false", "v1alpha1, served: false, referenceable: true", "v1, served: true, referenceable: true", "v1, served: true, referenceable: false")
	cases := map[string]struct {
		reason string
		old    *strings.Replacer
		edits  []string
		want   []string
	}{
		"Removed":       {"No request uses it, but objects may be stored in it.", unserved, []string{"name: v1alpha1", "name: v1beta1"}, []string{"DIF016 warning : version removed, which was not served", "DIF014 info : version added"}},
		"RemovedStored": {"Objects are stored in it.", stored, []string{"name: v1alpha1, served: false, referenceable: true", "name: v1beta1, served: false, referenceable: true"}, []string{"DIF012 error : referenceable version changed from v1alpha1 to v1beta1", "DIF010 error : version removed", "DIF014 info : version added"}},
		"Tighter":       {"No object is validated with it.", unserved, []string{"{a: {type: string}}", "{a: {type: string, enum: [x]}}"}, []string{`DIF018 info spec.a: only these values are accepted: "x"`}},
		"Default":       {"No object is created with it.", unserved, []string{"{a: {type: string}}", "{a: {type: string, default: x}}"}, []string{`DIF018 info spec.a: default "x" added`}},
		"Dropped":       {"Objects that are stored in it lose the field.", unserved, []string{"{a: {type: string}}", "{}"}, []string{"DIF017 warning spec.a: field removed"}},
		"Served":        {"It is served again, with less than the stored version has.", unserved, []string{"{a: {type: string}}", "{}", "v1alpha1, served: false", "v1alpha1, served: true"}, []string{"DIF015 warning : not compatible with served version v1: spec.a: field removed", "DIF017 warning spec.a: field removed", "DIF014 info : version served"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			older := tc.old.Replace(legacy)
			newer := older
			for i := 0; i < len(tc.edits); i += 2 {
				if !strings.Contains(newer, tc.edits[i]) {
					t.Fatalf("the definition lacks %q", tc.edits[i])
				}
				newer = strings.Replace(newer, tc.edits[i], tc.edits[i+1], 1)
			}
			got := summary(compare(t, parse(t, older), parse(t, newer)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// many returns texts for numbers.
func many(n int, text func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ", ")
}

// TestCost compares large definitions, and some that are 16 times as large. The time may grow
// with their size, but not with its square.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("large definitions take seconds")
	}
	object := func(properties string) string { return "{type: object, properties: {" + properties + "}}" }
	field := func(i int) string { return fmt.Sprintf("f%d: {type: string}", i) }
	cases := map[string]struct {
		reason string
		// old and new return definitions with n parts, which make n, 2*n or 1 changes.
		old, new func(n int) string
		want     func(n int) int
	}{
		"Added": {
			"Each field is a change.", func(int) string { return "{type: object}" }, func(n int) string { return object(many(n, field)) }, func(n int) int { return n },
		},
		"Required": {
			"Each field is newly required.", func(n int) string { return object(many(n, field)) },
			func(n int) string {
				return "{type: object, required: [" + many(n, func(i int) string { return fmt.Sprintf("f%d", i) }) + "], properties: {" + many(n, field) + "}}"
			}, func(n int) int { return n },
		},
		"Texts": {
			"Each field has a change for forms.", func(n int) string { return object(many(n, field)) },
			func(n int) string {
				return object(many(n, func(i int) string { return fmt.Sprintf("f%d: {type: string, title: T}", i) }))
			}, func(n int) int { return n },
		},
		"Order": {
			"Each field is in another place.", func(n int) string { return object(many(n, field)) },
			func(n int) string { return object(many(n, func(i int) string { return field(n - 1 - i) })) }, func(int) int { return 1 },
		},
		"Enum": {
			"Each value is replaced.", func(n int) string {
				return object("a: {type: string, enum: [" + many(n, func(i int) string { return fmt.Sprintf("v%d", i) }) + "]}")
			},
			func(n int) string {
				return object("a: {type: string, enum: [" + many(n, func(i int) string { return fmt.Sprintf("w%d", i) }) + "]}")
			}, func(n int) int { return 2 * n },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// The shortest of several times depends least on what else the machine does.
			shortest := func(n int) time.Duration {
				older, newer := definition(t, tc.old(n)), definition(t, tc.new(n))
				best := time.Hour
				for range 3 {
					start := time.Now()
					if got := len(compare(t, older, newer)); got != tc.want(n) {
						t.Fatalf("%d changes, want %d", got, tc.want(n))
					}
					best = min(best, time.Since(start))
				}
				return best
			}
			if few, many := shortest(1000), shortest(16_000); many > 60*few {
				t.Errorf("%s\n1,000 take %s, and 16,000 take %s", tc.reason, few, many)
			}
		})
	}
}

// TestCostOfVersions counts allocations: the work for an added version must not grow with the
// number of versions.
func TestCostOfVersions(t *testing.T) {
	added := func(n int) float64 {
		newer := legacy
		for i := range n {
			newer += fmt.Sprintf("  - {name: v%d, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {b: {type: string}}}}}}}\n", i+2)
		}
		o, d := parse(t, legacy), parse(t, newer)
		if got := Count(compare(t, o, d), finding.Warning); got != n {
			t.Fatalf("%d of %d added versions are reported as not compatible", got, n)
		}
		return testing.AllocsPerRun(1, func() { compare(t, o, d) })
	}
	if few, more := added(10), added(40); more > 6*few {
		t.Errorf("40 added versions take %.0f allocations, and 10 take %.0f", more, few)
	}
}

// TestCanceled checks that a comparison ends with its context.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, parse(t, legacy), parse(t, legacy)); !errors.Is(err, context.Canceled) {
		t.Errorf("Compare returned %v", err)
	}
	if _, err := CompareSets(ctx, parseSet(t, legacy), parseSet(t, legacy)); !errors.Is(err, context.Canceled) {
		t.Errorf("CompareSets returned %v", err)
	}
}

func TestSets(t *testing.T) {
	other := strings.NewReplacer("example.org", "example.com").Replace(legacy)
	pails := strings.NewReplacer("XBucket", "XPail", "xbuckets", "xpails", "Bucket", "Pail", "buckets", "pails").Replace(legacy)
	cases := map[string]struct {
		reason   string
		old, new string
		want     []string
	}{
		"Same":    {"Nothing changed.", legacy, legacy, []string{}},
		"Added":   {"Nothing depends on it.", "", legacy, []string{"DIF003 info : definition xbuckets.example.org added"}},
		"Removed": {"All resources are gone with it.", legacy, "", []string{"DIF001 error : definition xbuckets.example.org removed"}},
		"Group":   {"The kind is the same.", legacy, other, []string{"DIF002 error : definition renamed from xbuckets.example.org to xbuckets.example.com (the kind is the same)"}},
		"Kind":    {"The schemas are the same.", legacy, pails, []string{"DIF002 error : definition renamed from xbuckets.example.org to xpails.example.org (the schemas are the same)"}},
		"Unclear": {"With two candidates, none is the renamed one.", legacy, other + "---\n" + pails[:0] + strings.ReplaceAll(legacy, "example.org", "example.net"), []string{
			"DIF001 error : definition xbuckets.example.org removed", "DIF003 info : definition xbuckets.example.com added", "DIF003 info : definition xbuckets.example.net added",
		}},
		"Changed": {"A renamed definition is compared too.", legacy, strings.Replace(other, "{a: {type: string}}", "{a: {type: integer}}", 1), []string{
			"DIF002 error : definition renamed from xbuckets.example.org to xbuckets.example.com (the kind is the same)", "DIF026 error spec.a: type changed from string to integer",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pairs, err := CompareSets(t.Context(), parseSet(t, tc.old), parseSet(t, tc.new))
			if err != nil {
				t.Fatal(err)
			}
			got := summary(Changes(pairs))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPlaces checks positions: in the new file, or in the old one for what is removed.
func TestPlaces(t *testing.T) {
	newer := "\n\n" + strings.Replace(legacy, "{a: {type: string}}", "{b: {type: string}}", 1)
	changes := compare(t, parse(t, legacy), parse(t, newer))
	if diff := cmp.Diff([]string{"DIF020 error spec.a: field removed", "DIF021 info spec.b: optional field added"}, summary(changes)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	for _, c := range changes {
		want := int32(11)
		if c.Severity == finding.Info {
			want = 13
		}
		if c.Pos.Line != want || c.File != "x.yaml" || !strings.HasPrefix(c.Path, "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.") {
			t.Errorf("%s is at %s:%d, %s; want line %d", c.Message, c.File, c.Pos.Line, c.Path, want)
		}
	}
}

func TestVersions(t *testing.T) {
	d := parse(t, strings.Replace(legacy, "{a: {type: string}}", "{a: {type: string, enum: [x]}}", 1))
	got, err := Versions(d, "v1", "v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`DIF025 error spec.a: only these values are accepted: "x"`}, summary(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Versions(d, "v1", "v3"); err == nil || !strings.Contains(err.Error(), `no version "v3"`) {
		t.Errorf("got error %v", err)
	}
}

func TestCovers(t *testing.T) {
	cases := map[string]struct {
		reason         string
		own            string
		version, field string
		want           int
	}{
		"Same":    {"The field itself.", "spec.a", "v1", "spec.a", 3},
		"Inside":  {"A field inside.", "spec.a", "v1", "spec.a.b[0]", 3},
		"Entry":   {"Any entry of a list.", "spec.a[*].b", "v1", "spec.a[12].b", 5},
		"Key":     {"A key of a map, in either spelling.", "spec.a[*]", "v1", "spec.a.key", 4},
		"Beside":  {"Another field.", "spec.a", "v1", "spec.ab", 0},
		"Outside": {"A field around it.", "spec.a.b", "v1", "spec.a", 0},
		"Version": {"Another version.", "spec.a", "v2", "spec.a", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Change{Version: "v1", Field: tc.own}
			if got := c.Covers(tc.version, tc.field); got != tc.want {
				t.Errorf("%s\ngot %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

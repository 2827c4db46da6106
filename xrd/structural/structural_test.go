package structural_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// definition returns a definition whose spec has one property, x, and more
// lines.
func definition(head, x string) string {
	return head + `
metadata: {name: xdatabases.example.org}
spec:
  group: example.org
  names: {kind: XDatabase, plural: xdatabases}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        description: A database.
        type: object
        properties:
          spec:
            type: object
            properties:
              x: {description: X., ` + x + `}
`
}

const (
	modern = "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition"
	legacy = "apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition"
)

// TestRules compiles validation rules, and applies them to defaults, as an API
// server does.
func TestRules(t *testing.T) {
	onSpec := func(text, rule string) string {
		return strings.Replace(text, "            properties:\n              x:", "            x-kubernetes-validations:\n            - rule: "+rule+"\n            properties:\n              x:", 1)
	}
	withClaim := func(text string) string {
		return strings.Replace(text, "  versions:", "  claimNames: {kind: Database, plural: databases}\n  versions:", 1)
	}
	cases := map[string]struct {
		reason string
		text   string
		// want are the rule, the path and a part of the message.
		want []string
	}{
		"Compiles": {"A rule of the correct type is accepted.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self.size() < 10"}]`), nil},
		"Syntax": {"A rule must be a valid expression.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self =="}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].rule", "compilation failed: ERROR: <input>:1:"}},
		"Type": {"A rule must fit the types of the schema.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self > 1"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].rule", "no matching overload"}},
		"NoCondition": {"A rule must return a boolean.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].rule", "must evaluate to a bool"}},
		"Absent": {"A rule can use only declared fields.", definition(modern, `type: object, properties: {a: {description: A., type: string}}, x-kubernetes-validations: [{rule: "self.b == ''"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].rule", "undefined field"}},
		"Cost": {"An expensive rule over unbounded lists is refused.",
			definition(modern, `type: array, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a == b))"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].rule", "estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems"}},
		"Bounded": {"The same rule over bounded lists is accepted.",
			definition(modern, `type: array, maxItems: 10, items: {type: string, maxLength: 10}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a == b))"}]`), nil},
		"OldSelf": {"A rule can compare old and new values.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]`), nil},
		"OldSelfInList": {"A rule cannot compare old and new items of an atomic list.",
			definition(modern, `type: array, maxItems: 3, items: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self == oldSelf"}]}`),
			[]string{"XRD087 x.items.x-kubernetes-validations[0].rule", "oldSelf cannot be used on the uncorrelatable portion of the schema within openAPIV3Schema.properties[spec].properties[x]"}},
		"Message": {"A message expression must return a string.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "true", messageExpression: "1"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].messageExpression", "must evaluate to a string"}},
		"FieldPath": {"A field path must refer to a declared field.", definition(modern, `type: object, properties: {a: {description: A., type: string}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".b"}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].fieldPath", "must be a valid path"}},
		"OptionalOldSelf": {"An optional oldSelf must be used.", definition(modern, `type: string, x-kubernetes-validations: [{rule: "self != ''", optionalOldSelf: true}]`),
			[]string{"XRD087 x.x-kubernetes-validations[0].optionalOldSelf", "may not be set if oldSelf is not used in rule"}},
		"Machinery": {"A rule can use the fields that Crossplane injects.", onSpec(definition(modern, "type: string"), "has(self.crossplane.compositionRef)"), nil},
		"MachineryElsewhere": {"The injected fields are only under spec.crossplane.", onSpec(definition(modern, "type: string"), "has(self.compositionRef)"),
			[]string{"XRD087 spec.x-kubernetes-validations[0].rule", "undefined field"}},
		"Legacy": {"In v1 the injected fields are directly in spec.", onSpec(definition(legacy, "type: string"), "has(self.claimRef)"), nil},
		"Claim": {"A rule must also hold for the claim, which has other injected fields.", onSpec(withClaim(definition(legacy, "type: string")), "has(self.claimRef)"),
			[]string{"XRD087 spec.x-kubernetes-validations[0].rule", "undefined field"}},
		"DefaultRule": {"A default must satisfy the rules.", definition(modern, `type: string, default: a, x-kubernetes-validations: [{rule: "self.size() > 5"}]`),
			[]string{"XRD075 x.default", "failed rule"}},
		"DefaultFormat": {"A default must fit its format.", definition(modern, `type: string, format: date-time, default: today`),
			[]string{"XRD075 x.default", "date-time"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s xrd.Set
			if err := s.Read(strings.NewReader(tc.text), xrd.Origin{File: "x.yaml"}); err != nil || len(s.Definitions) != 1 {
				t.Fatalf("cannot read the definition: %v %v", err, s.Findings)
			}
			var got []finding.Finding
			for _, f := range lint.Definition(s.Definitions[0], lint.Options{Schemas: structural.Checker{}}) {
				if f.Severity == finding.Error {
					got = append(got, f)
				}
			}
			if len(tc.want) == 0 {
				if len(got) > 0 {
					t.Errorf("%s\nrefused: %v", tc.reason, got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0].Message, tc.want[1]) || got[0].Pos.Line < 6 {
				t.Fatalf("%s\ngot %v, want one with %q", tc.reason, got, tc.want[1])
			}
			path := strings.TrimPrefix(got[0].Path, "spec.versions[0].schema.openAPIV3Schema.properties.")
			path = strings.TrimPrefix(path, "spec.properties.")
			if diff := cmp.Diff(tc.want[0], got[0].Rule+" "+path); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTotalCost adds up the costs of rules, none of which costs too much alone.
func TestTotalCost(t *testing.T) {
	fields := ""
	for i := range 14 {
		fields += fmt.Sprintf("l%d: {description: L., type: array, maxItems: %d, items: {type: string, x-kubernetes-validations: [{rule: \"self.contains('a')\"}]}}, ", i, 18+i)
	}
	var s xrd.Set
	if err := s.Read(strings.NewReader(definition(modern, "type: object, properties: {"+fields+"}")), xrd.Origin{File: "x.yaml"}); err != nil || len(s.Definitions) != 1 {
		t.Fatalf("cannot read the definition: %v %v", err, s.Findings)
	}
	var got []string
	for _, f := range (structural.Checker{}).Check(s.Definitions[0], s.Definitions[0].Versions[0]) {
		message, _, _ := strings.Cut(f.Message, " (")
		got = append(got, strings.TrimPrefix(strings.Join(f.Path, "."), "properties.spec.properties.x.properties.")+": "+message)
	}
	contributed := ".items.x-kubernetes-validations.0.rule: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
	want := []string{
		"l13" + contributed, "l12" + contributed, "l11" + contributed, "l10" + contributed,
		": x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.078989x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

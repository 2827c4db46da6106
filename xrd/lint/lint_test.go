package lint_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// clean is a definition without findings.
const clean = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: databases.platform.example.org
  labels:
    openportal.dev/ingest: "true"
  annotations:
    backstage.io/owner: team-a
spec:
  scope: Namespaced
  group: platform.example.org
  names:
    kind: Database
    plural: databases
    singular: database
    listKind: DatabaseList
    shortNames: [db]
    categories: [platform]
  defaultCompositionRef:
    name: postgres
  defaultCompositionUpdatePolicy: Automatic
  versions:
  - name: v1alpha1
    served: true
    referenceable: true
    additionalPrinterColumns:
    - {name: Size, type: string, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        description: A database.
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            oneOf:
            - required: [size]
            x-kubernetes-validations:
            - {rule: "self.size != ''", message: Choose a size.}
            properties:
              size:
                type: string
                description: How large.
                enum: [small, large, "on"]
                default: small
                x-ui-order: 1
              nodes:
                type: array
                description: Where it runs.
                minItems: 1
                maxItems: 3
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [zone]
                default: [{zone: a, weight: 2}]
                items:
                  type: object
                  required: [zone]
                  properties:
                    zone: {type: string, description: The zone., pattern: "^[a-z]$"}
                    weight: {type: integer, description: Its share., minimum: 1, maximum: 5, nullable: true}
              port:
                x-kubernetes-int-or-string: true
                description: The port.
                anyOf: [{type: integer}, {type: string}]
                default: 5432
              tags:
                type: object
                description: Any tags.
                additionalProperties: {type: string}
                default: {team: a}
              raw:
                description: Anything.
                x-kubernetes-preserve-unknown-fields: true
          status:
            type: object
            properties:
              address: {type: string}
`

// aCase is a document and its findings.
type aCase struct {
	reason string
	text   string
	opts   lint.Options
	// want are the rules with their paths, in reading order. In paths, ~ is
	// the schema of the first version and … are the properties of its spec.
	want []string
}

// change returns the clean definition with old replaced by text.
func change(pairs ...string) string {
	out := clean
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(out, pairs[i]) {
			panic("the clean definition has no " + pairs[i])
		}
		out = strings.Replace(out, pairs[i], pairs[i+1], 1)
	}
	return out
}

// inSchema returns a definition with the schema.
func inSchema(schema string) string {
	head, _, _ := strings.Cut(clean, "        type: object\n        description: A database.")
	return head + indent(8, "description: A database.\n"+schema)
}

// inSpec returns a definition with the properties of spec.
func inSpec(properties string) string {
	return inSchema("type: object\nproperties:\n  spec:\n    type: object\n    properties:\n" + indent(6, properties))
}

// property returns a definition with one property, x, that has a description.
func property(keywords string) string {
	return inSpec("x:\n  description: Something.\n" + indent(2, keywords))
}

func indent(by int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		b.WriteString(strings.Repeat(" ", by) + line)
	}
	return b.String()
}

func read(t testing.TB, text string) *xrd.Set {
	t.Helper()
	var s xrd.Set
	if err := s.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil {
		t.Fatal(err)
	}
	return &s
}

func findings(t testing.TB, text string, opts lint.Options) []finding.Finding {
	t.Helper()
	s := read(t, text)
	out := s.Findings
	for _, d := range s.Definitions {
		out = append(out, lint.Definition(d, opts)...)
	}
	for _, c := range s.Compositions {
		out = append(out, lint.Composition(c)...)
	}
	return out
}

func short(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		path := strings.Replace(f.Path, "spec.versions[0].schema.openAPIV3Schema", "~", 1)
		path = strings.Replace(path, "~.properties.spec.properties", "…", 1)
		out = append(out, strings.TrimSpace(f.Rule+" "+path))
	}
	return out
}

func allCases() map[string]aCase {
	all := map[string]aCase{}
	for _, table := range []map[string]aCase{definitionCases, versionCases, schemaCases, valueCases, compositionCases} {
		for name := range table {
			if _, ok := all[name]; ok {
				panic("two cases are called " + name)
			}
		}
		maps.Copy(all, table)
	}
	return all
}

func TestRules(t *testing.T) {
	for name, tc := range allCases() {
		t.Run(name, func(t *testing.T) {
			fs := findings(t, tc.text, tc.opts)
			if diff := cmp.Diff(tc.want, short(fs)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s%s", tc.reason, diff, details(fs))
			}
			for _, f := range fs {
				if f.Message == "" || f.Hint == "" || f.Object == "" || f.File != "x.yaml" || f.Pos.Line == 0 {
					t.Errorf("%s\nincomplete finding: %+v", tc.reason, f)
				}
				// The line of an object from a cluster is unknown.
				if strings.Contains(f.Message, "at line") {
					t.Errorf("%s\nmessage contains the position: %s", tc.reason, f.Message)
				}
			}
		})
	}
}

func details(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s: %s %s: %s (%s)\n", f.Where(), f.Rule, f.Path, f.Message, f.Hint)
	}
	return b.String()
}

// TestEveryRuleHasACase compares the tables with Rules.
func TestEveryRuleHasACase(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range allCases() {
		for _, w := range tc.want {
			seen[w[:6]] = true
		}
	}
	before := ""
	for _, r := range lint.Rules {
		if !seen[r.ID] {
			t.Errorf("no case for rule %s, %s", r.ID, r.Title)
		}
		if r.ID <= before {
			t.Errorf("rule %s is listed after %s", r.ID, before)
		}
		if r.Title == "" || r.Why == "" {
			t.Errorf("rule %s has no title or no reason", r.ID)
		}
		before = r.ID
	}
}

func TestPositions(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   tree.Pos
	}{
		"UnknownKey":   {"The position is that of the unknown key.", change("  scope: Namespaced", "  skope: x"), tree.Pos{Line: 10, Column: 3}},
		"BadValue":     {"The position is that of the invalid value.", change("plural: databases", "plural: Databases", "name: databases.", "name: Databases."), tree.Pos{Line: 14, Column: 13}},
		"Missing":      {"For a missing key the position is that of the parent.", change("    kind: Database\n", ""), tree.Pos{Line: 12, Column: 3}},
		"Empty":        {"For an empty value the position is that of the key.", change("kind: Database\n", "kind:\n"), tree.Pos{Line: 13, Column: 5}},
		"ItemOfAList":  {"The position is that of the item.", change("required: [size]", "required: [size, x]"), tree.Pos{Line: 36, Column: 30}},
		"MissingType":  {"The position is that of the property without a type.", change("                type: string\n", ""), tree.Pos{Line: 42, Column: 15}},
		"VersionTwice": {"The position is that of the second version.", clean + "  - {name: v1alpha1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}\n", tree.Pos{Line: 79, Column: 12}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fs := findings(t, tc.text, lint.Options{})
			if len(fs) != 1 || fs[0].Pos != tc.want {
				t.Errorf("%s\nwant one finding at %v, got\n%s", tc.reason, tc.want, details(fs))
			}
		})
	}
}

func TestClean(t *testing.T) {
	if fs := findings(t, clean, lint.Options{RequiredLabels: []string{words.LabelIngest}}); len(fs) != 0 {
		t.Errorf("clean definition has findings:\n%s", details(fs))
	}
	neutral := strings.NewReplacer("crossplane.io", "composer.io", "openportal.dev", "example.dev", "backstage.io", "portal.io").Replace(clean)
	if fs := findings(t, neutral, lint.Options{RequiredLabels: []string{words.LabelIngest}}); len(fs) != 0 {
		t.Errorf("clean definition in the portal vocabulary has findings:\n%s", details(fs))
	}
	// The minimum of the contract can be read, but no cluster accepts it.
	least := `{"apiVersion": "apiextensions.composer.io/v1", "kind": "CompositeResourceDefinition", "metadata": {"name": "databases.platform.io"},
		"spec": {"group": "platform.io", "names": {"kind": "Database"}, "versions": [{"name": "v1",
		"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "string"}}}}}}}]}}`
	fs := findings(t, least, lint.Options{})
	errs := slices.DeleteFunc(slices.Clone(fs), func(f finding.Finding) bool { return f.Severity != finding.Error })
	if len(errs) != 2 || errs[0].Rule != lint.RuleNoPlural || errs[1].Rule != lint.RuleVersionSilent {
		t.Errorf("the least definition of the contract has other errors than that plural, served and referenceable are missing:\n%s", details(fs))
	}
}

func TestFindingsAreBounded(t *testing.T) {
	var props strings.Builder
	for i := range 300 {
		fmt.Fprintf(&props, "p%d: {description: One of many., type: strin}\n", i)
	}
	fs := findings(t, inSpec(props.String()), lint.Options{})
	if len(fs) != 21 {
		t.Fatalf("got %d findings, want 20 and one for the rest", len(fs))
	}
	if last := fs[20].Message; !strings.HasPrefix(last, "280 more") {
		t.Errorf("last finding does not have the number of omitted ones: %s", last)
	}
}

func TestNothing(t *testing.T) {
	if fs := lint.Definition(nil, lint.Options{}); fs != nil {
		t.Errorf("nil definition has findings:\n%s", details(fs))
	}
	if fs := lint.Composition(nil); fs != nil {
		t.Errorf("nil Composition has findings:\n%s", details(fs))
	}
	for _, n := range []*tree.Node{nil, tree.Nil(), tree.Str("x"), tree.Arr(nil), tree.Obj()} {
		if fs := lint.Definition(xrd.NewDefinition(n, xrd.Origin{}), lint.Options{RequiredLabels: []string{"x"}}); len(fs) == 0 {
			t.Errorf("empty definition has no findings: %v", n)
		}
		if fs := lint.Composition(xrd.NewComposition(n, xrd.Origin{})); len(fs) == 0 {
			t.Errorf("empty Composition has no findings: %v", n)
		}
	}
}

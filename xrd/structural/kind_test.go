package structural_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/cost"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/structural"
)

// databases defines composites and claims with every kind of check.
const databases = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xdatabases.example.org}
spec:
  group: example.org
  names: {kind: XDatabase, plural: xdatabases}
  claimNames: {kind: Database, plural: databases}
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
            required: [size]
            x-kubernetes-validations:
            - {rule: "!has(self.replicas) || self.replicas <= self.limit", message: "replicas must not exceed limit", fieldPath: .replicas}
            properties:
              size: {type: string, enum: [small, large]}
              replicas: {type: integer, minimum: 1}
              limit: {type: integer, default: 3}
              region: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: region is immutable}]}
              users: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  - name: v2
    served: true
    referenceable: false
`

func read(t *testing.T, text string) (definitions []*xrd.Definition, others []*tree.Node) {
	t.Helper()
	var s xrd.Set
	if err := s.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil {
		t.Fatal(err)
	}
	for _, o := range s.Others {
		others = append(others, o.Node)
	}
	return s.Definitions, others
}

// skipped stands for rules that were not evaluated.
const skipped = "rules skipped"

// TestKind validates objects as an API server does. A test with a real API server compares
// far more objects.
func TestKind(t *testing.T) {
	cases := map[string]struct {
		reason    string
		spec, old string
		claim     bool
		want      []string
		unknown   []string
	}{
		"Valid":     {reason: "An object with all that is required is accepted.", spec: "{size: small, replicas: 2}"},
		"Claim":     {reason: "A claim has the same fields.", spec: "{size: small, compositeDeletePolicy: Foreground}", claim: true},
		"Missing":   {reason: "Rules are not evaluated without required fields.", spec: "{replicas: 9}", want: []string{skipped, "spec.size: Required value"}},
		"Enum":      {reason: "The message lists the values.", spec: "{size: medium}", want: []string{`spec.size: Unsupported value: "medium": supported values: "small", "large"`, skipped}},
		"Rule":      {reason: "A rule is evaluated with defaults, and its field path counts.", spec: "{size: small, replicas: 4}", want: []string{"spec.replicas: Invalid value: replicas must not exceed limit"}},
		"Set":       {reason: "Items of a set are unique.", spec: "{size: small, users: [a, a]}", want: []string{`spec.users[1]: Duplicate value: "a"`}},
		"Policy":    {reason: "Crossplane's own fields are checked.", spec: "{size: small, compositeDeletePolicy: Never}", claim: true, want: []string{`spec.compositeDeletePolicy: Unsupported value: "Never": supported values: "Background", "Foreground"`, skipped}},
		"Unknown":   {reason: "Fields that the schema lacks are dropped.", spec: "{size: small, sice: large}", unknown: []string{"spec.sice"}},
		"Immutable": {reason: "A rule compares with the previous value.", spec: "{size: small, region: b}", old: "{size: small, region: a}", want: []string{`spec.region: Invalid value: "b": region is immutable`}},
		"Ratchet":   {reason: "An invalid value that does not change is accepted.", spec: "{size: medium, replicas: 2}", old: "{size: medium}"},
		"Worse":     {reason: "An invalid value that changes is refused.", spec: "{size: huge}", old: "{size: medium}", want: []string{`spec.size: Unsupported value: "huge": supported values: "small", "large"`, skipped}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defs, _ := read(t, databases)
			k, err := structural.NewKind(defs[0], "v1", tc.claim)
			if err != nil {
				t.Fatal(err)
			}
			object := func(spec string) map[string]any {
				if spec == "" {
					return nil
				}
				_, nodes := read(t, "apiVersion: example.org/v1\nkind: "+k.Name+"\nmetadata: {name: one}\nspec: "+spec)
				o, err := structural.Object(nodes[0])
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			v := k.Validate(t.Context(), object(tc.spec), object(tc.old))
			var got []string
			for _, p := range v.Problems {
				got = append(got, p.String())
			}
			if v.RulesSkipped {
				got = append(got, skipped)
			}
			if diff := cmp.Diff(sorted(tc.want), sorted(got)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.unknown, v.Unknown); diff != "" {
				t.Errorf("%s\nunknown fields, -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// withRules returns a kind whose list of users has rules, and an object with users.
func withRules(t *testing.T, users int, rules ...string) (*structural.Kind, map[string]any) {
	t.Helper()
	var list []string
	for _, r := range rules {
		list = append(list, fmt.Sprintf("{rule: %q}", r))
	}
	defs, _ := read(t, strings.Replace(databases, "x-kubernetes-list-type: set", "x-kubernetes-validations: ["+strings.Join(list, ", ")+"]", 1))
	k, err := structural.NewKind(defs[0], "v1", false)
	if err != nil {
		t.Fatal(err)
	}
	return k, map[string]any{
		"apiVersion": k.APIVersion, "kind": k.Name, "metadata": map[string]any{"name": "one"},
		"spec": map[string]any{"size": "small", "users": slices.Repeat([]any{"root"}, users)},
	}
}

// pairs is a rule whose cost grows with the square of the number of items.
const pairs = "self.all(a, self.all(b, a == b))"

// TestBudget checks that a rule may cost what it may cost in an API server: a list for
// which it costs more is refused after a bounded time, with the server's text.
func TestBudget(t *testing.T) {
	const exceeded = "operation cancelled: actual cost limit exceeded"
	cases := map[string]struct {
		reason string
		rules  []string
		users  int
		want   []string
	}{
		"Cheap":  {"A short list is within the limit.", []string{pairs}, 50, nil},
		"Nested": {"Eight billion comparisons end at the same cost.", []string{"self.all(a, self.all(b, self.all(c, a == c)))"}, 2000, []string{exceeded}},
		"Pairs":  {"Four million comparisons are beyond the limit; no other rule is evaluated after that.", []string{pairs, "self.all(a, a != 'root')"}, 2000, []string{exceeded}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, object := withRules(t, tc.users, tc.rules...)
			took := cost.Within(t, cost.Cost{CPU: 2 * time.Second, Memory: 64 << 20}, func() {
				var got []string
				for _, p := range k.Validate(t.Context(), object, nil).Problems {
					if !strings.Contains(p.Message, exceeded) {
						got = append(got, p.String())
						continue
					}
					got = append(got, exceeded)
					if p.Field != "spec.users" || !strings.Contains(p.Detail, "no further validation rules will be run due to call cost exceeds limit for rule: "+tc.rules[0]) {
						t.Errorf("%s\nproblem is %+v", tc.reason, p)
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
				}
			})
			t.Logf("%d items: %v", tc.users, took)
		})
	}
}

// TestDeadline checks that the end of a context ends the evaluation of rules: together, the
// rules of a schema may take much longer than one of them.
func TestDeadline(t *testing.T) {
	var rules []string
	for i := range 20 {
		rules = append(rules, fmt.Sprintf("self.all(a, self.all(b, a == b || a == 'u%d'))", i))
	}
	k, object := withRules(t, 250, rules...)
	cost.Within(t, cost.Cost{CPU: time.Second, Memory: 64 << 20}, func() {
		ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer done()
		k.Validate(ctx, object, nil)
	})
}

// TestNewKind says what a definition does not define.
func TestNewKind(t *testing.T) {
	defs, _ := read(t, databases+"---\n"+strings.ReplaceAll(strings.ReplaceAll(databases, "  claimNames: {kind: Database, plural: databases}\n", ""), "xdatabases.example.org", "others.example.org"))
	cases := map[string]struct {
		reason  string
		of      int
		version string
		claim   bool
		want    string
	}{
		"Version": {"A version must exist.", 0, "v3", false, `xdatabases.example.org has no version "v3"`},
		"Claim":   {"Not every definition defines claims.", 1, "v1", true, "others.example.org defines no claims"},
		"Empty":   {"A version without a schema has Crossplane's fields.", 0, "v2", true, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := structural.NewKind(defs[tc.of], tc.version, tc.claim)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// BenchmarkValidate validates a small object.
func BenchmarkValidate(b *testing.B) {
	var s xrd.Set
	if err := s.Read(strings.NewReader(databases), xrd.Origin{File: "x.yaml"}); err != nil {
		b.Fatal(err)
	}
	k, err := structural.NewKind(s.Definitions[0], "v1", true)
	if err != nil {
		b.Fatal(err)
	}
	object := map[string]any{"apiVersion": "example.org/v1", "kind": "Database", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"size": "small", "replicas": int64(2)}}
	for b.Loop() {
		if v := k.Validate(b.Context(), object, nil); len(v.Problems) > 0 {
			b.Fatal(v.Problems)
		}
	}
}

func sorted(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

// TestCheckComposites reports what is wrong with resources, with the position in the file.
func TestCheckComposites(t *testing.T) {
	cases := map[string]struct {
		reason    string
		composite string
		want      []string
	}{
		"Valid":     {"A valid resource has no findings.", "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec: {size: small}", nil},
		"Refused":   {"The position is that of the field.", "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec:\n  size: small\n  replicas: 4\n", []string{"XR001 error 6:3 spec.replicas"}},
		"Item":      {"The position is that of the item of a list.", "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec:\n  size: small\n  users:\n  - a\n  - b\n  - a\n", []string{"XR001 error 9:5 spec.users[2]"}},
		"Missing":   {"The position is that of the parent of a missing field.", "apiVersion: example.org/v1\nkind: XDatabase\nmetadata: {name: a}\nspec: {limit: 3}", []string{"XR001 error 4:1 spec.size"}},
		"Unknown":   {"A field that the schema lacks is a warning.", "apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec:\n  size: small\n  sice: big", []string{"XR002 warning 6:3 spec.sice"}},
		"Version":   {"A version must be served.", "apiVersion: example.org/v9\nkind: Database\nmetadata: {name: a}\nspec: {size: small}", []string{"XR003 error 1:1 apiVersion"}},
		"Unserved":  {"A version that exists must be served too.", "apiVersion: example.org/v3\nkind: Database\nmetadata: {name: a}\nspec: {size: small}", []string{"XR003 error 1:1 apiVersion"}},
		"Unchecked": {"An invalid schema says nothing about resources.", "apiVersion: example.org/v4\nkind: Database\nmetadata: {name: a}\nspec: {size: small}", []string{"XR004 info 1:1 "}},
	}
	more := "  - {name: v3, served: false, referenceable: false}\n  - {name: v4, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string, maxLength: a}}}}}}}\n"
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s xrd.Set
			if err := s.Read(strings.NewReader(tc.composite+"\n---\n"+databases+more), xrd.Origin{File: "x.yaml"}); err != nil {
				t.Fatal(err)
			}
			c := xrd.NewComposite(s.Others[0], s.Definitions[0])
			var got []string
			for _, f := range structural.CheckComposites(t.Context(), s.Definitions[0], []*xrd.Composite{c}) {
				got = append(got, fmt.Sprintf("%s %s %d:%d %s", f.Rule, f.Severity, f.Pos.Line, f.Pos.Column, f.Path))
				if f.File != "x.yaml" || f.Message == "" || f.Hint == "" || f.Object != c.Kind+" a" {
					t.Errorf("%s\nincomplete finding: %+v", tc.reason, f)
				}
			}
			if diff := cmp.Diff(sorted(tc.want), sorted(got)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRulesDocumented compares the handbook with Rules.
func TestRulesDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range structural.Rules {
		if row := "| " + strings.Join([]string{r.ID, r.Severity.String(), r.Title, r.Why}, " | ") + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/rules.md lacks the row %s", row)
		}
	}
}

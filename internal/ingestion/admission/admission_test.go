package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/test/cost"
	"example.dev/ingestor/xrd"
)

const databases = `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: databases.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Database, plural: databases}
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
            required: [parameters]
            properties:
              parameters:
                type: object
                required: [size]
                x-kubernetes-validations:
                - {rule: "!has(self.replicas) || self.replicas <= 3", message: at most 3 replicas, fieldPath: .replicas}
                - {rule: "self.size != 'large' || has(self.backup)", message: large databases need a backup}
                properties:
                  size: {type: string, enum: [small, large]}
                  replicas: {type: integer}
                  backup: {type: string}
                  region: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: region cannot change}]}
                  users:
                    type: array
                    maxItems: 500
                    items: {type: object, properties: {name: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'root'", message: root is reserved}]}}}
`

// parse reads a definition and the Template that is generated from it.
func parse(t testing.TB, text string) (template *tree.Node, definition []byte, d *xrd.Definition) {
	t.Helper()
	var set xrd.Set
	if err := set.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil || len(set.Definitions) != 1 {
		return nil, nil, nil
	}
	d = set.Definitions[0]
	res, err := engine.New(engine.ComposerIngestor, engine.Options{}, engine.Hooks{}).Transform(engine.Input{Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range res.Entities {
		if e.Kind == entity.KindTemplate {
			template = tree.Obj(tree.F("spec", e.Spec))
		}
	}
	return template, tree.AppendJSON(nil, d.Node, ""), d
}

// validatorOf returns a validator with one Template, template:default/databases.
func validatorOf(template *tree.Node, definition []byte) *Validator {
	return New(func(_ context.Context, ref string) (*tree.Node, []byte, error) {
		if ref != "template:default/databases" {
			return nil, nil, rest.NotFound("No definition or Composition found for %s", ref)
		}
		return template, definition, nil
	})
}

// ask sends a request.
func ask(t testing.TB, v *Validator, body string) (*Answer, error) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validate", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if err := v.validate(w, r); err != nil {
		return nil, err
	}
	out := &Answer{}
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		t.Fatalf("cannot read %s: %v", w.Body, err)
	}
	return out, nil
}

// TestValidate validates what a form makes.
func TestValidate(t *testing.T) {
	template, definition, _ := parse(t, databases)
	v := validatorOf(template, definition)
	manifest := func(parameters string) string {
		return `{"apiVersion":"example.org/v1","kind":"Database","metadata":{"name":"a"},"spec":{"parameters":` + parameters + `}}`
	}
	many := `{"size":"small","users":[` + strings.Repeat(`{"name":"root"},`, 200) + `{"name":"a"}]}`
	cases := map[string]struct {
		reason   string
		new, old string
		// want are the problems: the path in the form, and the detail.
		want    []string
		unknown []string
		skipped bool
	}{
		"Accepted":  {reason: "A valid resource has no problems.", new: manifest(`{"size":"small"}`)},
		"FieldPath": {reason: "The field of a rule is found in the form.", new: manifest(`{"size":"small","replicas":4}`), want: []string{"replicas: at most 3 replicas"}},
		"Object":    {reason: "A rule about an object without a field in the form has no path.", new: manifest(`{"size":"large"}`), want: []string{": large databases need a backup"}},
		"Item":      {reason: "Items of lists are at the same place in the form.", new: manifest(`{"size":"small","users":[{"name":"a"},{"name":"root"}]}`), want: []string{"users.1.name: root is reserved"}},
		"Missing":   {reason: "A missing field has a path, and rules are not evaluated.", new: manifest(`{"replicas":4}`), want: []string{"size: is required"}, skipped: true},
		"Update":    {reason: "Rules compare with the old resource.", new: manifest(`{"size":"small","region":"b"}`), old: manifest(`{"size":"small","region":"a"}`), want: []string{"region: region cannot change"}},
		"Same":      {reason: "An unchanged resource is accepted.", new: manifest(`{"size":"small","region":"a"}`), old: manifest(`{"size":"small","region":"a"}`)},
		"Unknown":   {reason: "Fields that are dropped are named.", new: manifest(`{"size":"small","sice":"x"}`), unknown: []string{"spec.parameters.sice"}},
		"Text":      {reason: "A manifest may be YAML.", new: `"apiVersion: example.org/v1\nkind: Database\nmetadata: {name: a}\nspec: {parameters: {size: small, replicas: 9}}\n"`, want: []string{"replicas: at most 3 replicas"}},
		"Many":      {reason: "At most 100 problems are listed.", new: manifest(many), want: slices.Repeat([]string{"root is reserved"}, mostProblems)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old := tc.old
			if old == "" {
				old = "null"
			}
			got, err := ask(t, v, `{"template":"template:default/databases","manifest":`+tc.new+`,"old":`+old+`}`)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, p := range got.Problems {
				at := strings.Join(p.FormPath, ".") + ": "
				if name == "Many" {
					at = ""
				}
				problems = append(problems, at+p.Detail)
			}
			if diff := cmp.Diff(tc.want, problems); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if got.Accepted != (len(tc.want) == 0) || got.RulesSkipped != tc.skipped || !slices.Equal(got.Unknown, tc.unknown) {
				t.Errorf("%s\ngot %+v", tc.reason, got)
			}
		})
	}
}

// TestRefused says why a request cannot be answered.
func TestRefused(t *testing.T) {
	template, definition, _ := parse(t, databases)
	cases := map[string]struct {
		reason, body, want string
		status             int
	}{
		"NoTemplate":   {"The Template is required.", `{"manifest":{}}`, "required property 'template'", 400},
		"Unreadable":   {"A Template that the caller may not read does not exist.", `{"template":"template:default/hidden","manifest":{"kind":"a"}}`, "No definition", 404},
		"NoManifest":   {"The manifest is required.", `{"template":"template:default/databases"}`, "required property 'manifest'", 400},
		"List":         {"A manifest is one object.", `{"template":"template:default/databases","manifest":[]}`, "must be one object", 400},
		"Documents":    {"A manifest is one document.", `{"template":"template:default/databases","manifest":"a: b\n---\nc: d"}`, "one YAML document", 400},
		"Syntax":       {"A manifest can be parsed.", `{"template":"template:default/databases","manifest":"a: ["}`, "cannot parse request/body/manifest", 400},
		"OtherKind":    {"The Template of one kind says nothing about another.", `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Bucket"}}`, "generated from definition databases.example.org", 400},
		"OtherGroup":   {"A kind of the same name in another group is another kind.", `{"template":"template:default/databases","manifest":{"apiVersion":"example.com/v1","kind":"Database"}}`, "generated from definition", 400},
		"OtherVersion": {"The version must exist.", `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v9","kind":"Database"}}`, `no version "v9"`, 409},
		"Old":          {"The old resource can be parsed.", `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Database"},"old":"- a"}`, "request/body/old must be one object", 400},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, validatorOf(template, definition), tc.body)
			f, ok := errors.AsType[*rest.Fault](err)
			if !ok || f.Status != tc.status || !strings.Contains(f.Message, tc.want) {
				t.Errorf("%s\ngot %v, want %d with %q", tc.reason, err, tc.status, tc.want)
			}
		})
	}
}

// typing is how long a validation may take while a user types.
const typing = 20 * time.Millisecond

// TestCorpus validates the resources of the corpus, the invalid ones too, within the time
// of a keystroke, once their kind is compiled.
func TestCorpus(t *testing.T) {
	root := os.Getenv("INGESTOR_CORPUS")
	if root == "" {
		t.Skip("INGESTOR_CORPUS is not set: no real resources to validate")
	}
	table, err := os.ReadFile(filepath.Join(root, "XR_VALIDATION.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	slow, refused, absent, undefined := 0, 0, 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		cols := strings.Split(line, "\t")
		definitionText, err1 := os.ReadFile(filepath.Join(root, cols[1]))
		text, err2 := os.ReadFile(filepath.Join(root, cols[0]))
		if errors.Is(err1, os.ErrNotExist) {
			// The corpus does not contain every definition of its resources.
			absent++
			continue
		}
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		template, definition, d := parse(t, string(definitionText))
		if d == nil {
			t.Fatalf("cannot read the definition %s", cols[1])
		}
		body, err := json.Marshal(map[string]any{"template": "template:default/databases", "manifest": string(text)})
		if err != nil {
			t.Fatal(err)
		}
		v := validatorOf(template, definition)
		answer, err := ask(t, v, string(body))
		if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusConflict && cols[3] == "version-not-in-xrd" {
			undefined++
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", cols[0], err)
		}
		if !answer.Accepted {
			refused++
		}
		// The best of three, and of more if that is too slow: other processes use the same
		// processors.
		best := time.Hour
		for n := 0; n < 3 || best > typing && n < 20; n++ {
			began := time.Now()
			if _, err := ask(t, v, string(body)); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(began))
		}
		times = append(times, best)
		if best > typing {
			slow++
			t.Logf("%s takes %v", cols[0], best)
		}
	}
	slices.Sort(times)
	if len(times) < 1350 || refused < 150 {
		t.Fatalf("only %d resources were validated, and %d refused; is this another corpus?", len(times), refused)
	}
	t.Logf("%d resources, %d of them refused: p50 %v, p99 %v, at most %v; %d without their definition, %d without their version",
		len(times), refused, times[len(times)/2], times[len(times)*99/100], times[len(times)-1], absent, undefined)
	if slow > 0 {
		t.Errorf("%d validations take longer than %v", slow, typing)
	}
}

// TestDeadline answers within the deadline, whatever takes longer.
func TestDeadline(t *testing.T) {
	template, definition, _ := parse(t, databases)
	cases := map[string]struct {
		reason string
		// occupied are the turns that others hold, all of them or none; reads is how long it
		// takes to read the definition.
		occupied bool
		reads    time.Duration
		want     string
	}{
		"Waiting": {"A validation waits for a processor no longer than the deadline.", true, 0, "Too many validations in progress"},
		"Running": {"A validation that was not done at the deadline has no result.", false, 2 * timeout, "Validation timed out after 5s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := New(func(ctx context.Context, _ string) (*tree.Node, []byte, error) {
					select {
					case <-time.After(tc.reads):
					case <-ctx.Done():
					}
					return template, definition, nil
				})
				for tc.occupied && len(v.turns) < cap(v.turns) {
					v.turns <- struct{}{}
				}
				began := time.Now()
				_, err := ask(t, v, `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Database","metadata":{"name":"a"},"spec":{"parameters":{"size":"small"}}}}`)
				f, ok := errors.AsType[*rest.Fault](err)
				if !ok || f.Status != http.StatusServiceUnavailable || !strings.Contains(f.Message, tc.want) {
					t.Errorf("%s\ngot %v, want 503 with %q", tc.reason, err, tc.want)
				}
				if took := time.Since(began); took != timeout {
					t.Errorf("%s\nanswered after %v, want %v", tc.reason, took, timeout)
				}
				if !tc.occupied && len(v.turns) > 0 {
					t.Errorf("%s\nthe turn is not free", tc.reason)
				}
			})
		})
	}
}

// TestExpensive checks that the deadline ends the evaluation of rules, each of which costs
// what an API server allows: no request occupies a processor for longer.
func TestExpensive(t *testing.T) {
	var rules, users []string
	for i := range 20 {
		rules = append(rules, fmt.Sprintf(`{rule: "self.all(a, self.all(b, a == b || a.name == 'u%d'))"}`, i))
	}
	for range 250 {
		users = append(users, `{"name":"a"}`)
	}
	template, definition, _ := parse(t, strings.Replace(databases, "maxItems: 500", "x-kubernetes-validations: ["+strings.Join(rules, ", ")+"]", 1))
	v := validatorOf(template, definition)
	body := `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Database","metadata":{"name":"a"},"spec":{"parameters":{"size":"small","users":[` + strings.Join(users, ",") + `]}}}}`
	cost.Within(t, cost.Cost{CPU: time.Second, Memory: 64 << 20}, func() {
		ctx, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer done()
		err := v.validate(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/validate", strings.NewReader(body)))
		if f, ok := errors.AsType[*rest.Fault](err); !ok || f.Status != http.StatusServiceUnavailable || !strings.Contains(f.Message, "Validation timed out") {
			t.Errorf("got %v, want 503", err)
		}
	})
}

// TestFlood checks the time for a manifest of half the maximum size, each value of which an
// alternative refuses.
func TestFlood(t *testing.T) {
	cases := map[string]struct {
		reason, branches string
		accepted         bool
	}{
		"Refused":  {"No alternative accepts the values.", `anyOf: [{properties: {zones: {items: {enum: [a]}}}}]`, false},
		"Accepted": {"Another alternative accepts them.", `anyOf: [{properties: {zones: {items: {enum: [a]}}}}, {properties: {zones: {items: {enum: [b]}}}}]`, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template, definition, _ := parse(t, strings.Replace(databases, "backup: {type: string}", "backup: {type: string}\n                  nested: {type: object, "+tc.branches+", properties: {zones: {type: array, items: {type: string}}}}", 1))
			v := validatorOf(template, definition)
			body := `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Database","metadata":{"name":"a"},"spec":{"parameters":{"size":"small","nested":{"zones":["b"` +
				strings.Repeat(`,"b"`, mostBytes/8) + `]}}}}}`
			cost.Within(t, cost.Cost{CPU: 4 * time.Second, Memory: 1 << 30}, func() {
				got, err := ask(t, v, body)
				if err != nil || got.Accepted != tc.accepted || (len(got.Problems) == 0) != tc.accepted {
					t.Errorf("%s\ngot %+v, %v", tc.reason, got, err)
				}
			})
		})
	}
}

// TestDefinition checks the errors for what is not one definition.
func TestDefinition(t *testing.T) {
	cases := map[string]struct{ reason, definition, want string }{
		"None": {"An entity may have another text.", "kind: Other\napiVersion: v1\n", "cannot read the definition of template:default/databases: want one, found 0"},
		"Two":  {"A text may have two.", databases + "---" + strings.ReplaceAll(databases, "databases", "others"), "cannot read the definition of template:default/databases: want one, found 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := validatorOf(tree.Obj(), []byte(tc.definition))
			_, err := ask(t, v, `{"template":"template:default/databases","manifest":{"apiVersion":"example.org/v1","kind":"Database"}}`)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\ngot %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

package task

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/scaffolder/validation"
)

// TestSpec checks the specs that clients get.
func TestSpec(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		order    Order
		want     string
	}{
		"Real": {
			reason: "The spec is that of Backstage.",
			template: `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {namespace: default, annotations: {"backstage.io/managed-by-location": "url:http://127.0.0.1:18001/t.yaml"}, name: demo},
				spec: {type: service, steps: [{id: log, name: Log, action: "debug:log", input: {message: "${{ parameters.name }}"}}], output: {text: []}}}`,
			order: Order{Values: tree.Obj(tree.F("name", tree.Str("abc"))), User: "user:development/guest"},
			want: `{"apiVersion":"scaffolder.backstage.io/v1beta3","steps":[{"id":"log","name":"Log","action":"debug:log","input":{"message":"${{ parameters.name }}"}}],` +
				`"output":{"text":[]},"parameters":{"name":"abc"},"user":{"ref":"user:development/guest"},"templateInfo":{"entityRef":"template:default/demo","baseUrl":"http://127.0.0.1:18001/t.yaml",` +
				`"entity":{"metadata":{"namespace":"default","annotations":{"backstage.io/managed-by-location":"url:http://127.0.0.1:18001/t.yaml"},"name":"demo"}}}}`,
		},
		"Bare": {
			reason: "Missing fields get defaults.",
			template: `{apiVersion: scaffolder.portal.io/v1beta3, kind: template, metadata: {name: Demo, annotations: {"portal.io/source-location": "url:https://x/y", "portal.io/managed-by-location": "file:/a/b/"}},
				spec: {steps: [{action: a}, {action: b, if: false}]}}`,
			order: Order{UserEntity: tree.Obj(tree.F("kind", tree.Str("User")))},
			want: `{"apiVersion":"scaffolder.portal.io/v1beta3","steps":[{"action":"a","id":"step-1","name":"a"},{"action":"b","if":false,"id":"step-2","name":"b"}],` +
				`"output":{},"parameters":{},"user":{"entity":{"kind":"User"}},"templateInfo":{"entityRef":"template:default/demo","baseUrl":"https://x/y",` +
				`"entity":{"metadata":{"name":"Demo","annotations":{"portal.io/source-location":"url:https://x/y","portal.io/managed-by-location":"file:/a/b/"}}}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.order.Template = node(t, tc.template)
			got, err := tc.order.spec(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got.json)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBase checks the base URL of a Template against forged annotations.
func TestBase(t *testing.T) {
	cases := map[string]struct {
		reason          string
		source, managed string
		read            bool
		want            string
	}{
		"Source":   {"The source location can differ from the location.", "url:https://host/a/b/", "url:https://host/t.yaml", true, "https://host/a/b/"},
		"Managed":  {"Without a source location the location is the base.", "", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"File":     {"A Template that the catalog read from a file has a file base.", "", "file:/srv/t.yaml", true, "file:///srv/t.yaml"},
		"Pretends": {"A remote Template cannot point to local files.", "file:/etc/portal/x.yaml", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"Beside":   {"A local Template cannot point to another folder.", "file:/etc/portal/x.yaml", "file:/srv/t.yaml", true, "file:///srv/t.yaml"},
		"Slashes":  {"The type of a location is not case-sensitive.", "FILE:///etc/portal/x.yaml", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"Address":  {"A file URL of type url is refused.", "url:file:///etc/portal/x.yaml", "url:https://host/t.yaml", true, ""},
		"Scheme":   {"A file URL in another case is refused.", "url:FILE:/etc/portal/x.yaml", "provider:ci", false, ""},
		"Pushed":   {"A Template that the catalog has not read has no file base.", "", "file:/etc/portal/x.yaml", false, ""},
		"Other":    {"A location of another type has no base.", "", "provider:x", false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			annotations := tree.Obj(tree.F("backstage.io/managed-by-location", tree.Str(tc.managed)))
			if tc.source != "" {
				annotations.Set("backstage.io/source-location", tree.Str(tc.source))
			}
			o := Order{Template: tree.Obj(tree.F("metadata", tree.Obj(tree.F("annotations", annotations)))), Read: tc.read}
			if diff := cmp.Diff(tc.want, Base(o.Template, o.Read)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCostlyForm validates a form of fifty pages with sixty definitions each, of
// which each refers to the next one twice. All pages share one budget.
func TestCostlyForm(t *testing.T) {
	definitions := tree.Obj()
	for i := range 60 {
		next := tree.Obj(tree.F("$ref", tree.Str(fmt.Sprintf("#/definitions/d%d", i+1))))
		definitions.Set(fmt.Sprintf("d%d", i), tree.Obj(tree.F("oneOf", tree.Arr(next, next))))
	}
	definitions.Set("d60", tree.Obj(tree.F("type", tree.Str("string"))))
	page := tree.Obj(tree.F("$ref", tree.Str("#/definitions/d0")), tree.F("definitions", definitions))
	pages := tree.Arr(tree.Obj(tree.F("title", tree.Str("Harmless"))))
	for range 50 {
		pages.Items = append(pages.Items, page)
	}
	o := Order{Template: node(t, `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: []}}`)}
	o.Template.Get("spec").Set("parameters", pages)
	const most = 10 * time.Second
	begun := time.Now()
	_, err := o.spec(t.Context())
	if took := time.Since(begun); took > most {
		t.Errorf("validation took %v, want less than %v", took, most)
	}
	refused, ok := errors.AsType[*Refused](err)
	if want := "cannot validate the form: page 2: schema is too complex; simplify oneOf"; !ok || !strings.HasPrefix(refused.Reason, want) {
		t.Errorf("validation returned %v, want %s", err, want)
	}
	// Budget spent earlier counts.
	o.Budget = validation.NewBudget()
	if _, err := validation.Check(page, tree.Obj(), o.Budget); !errors.Is(err, validation.ErrTooManySteps) {
		t.Fatal(err)
	}
	if _, err := o.spec(t.Context()); err == nil || !strings.Contains(err.Error(), "page 1:") {
		t.Errorf("validation returned %v, want no budget left for page 1", err)
	}
}

// TestRefused checks that invalid Templates are refused and nothing is stored.
func TestRefused(t *testing.T) {
	w := open(t, onSQLite(t), Options{})
	cases := map[string]struct {
		reason   string
		template string
		values   string
		want     string
	}{
		"Kind":    {"The entity must be a Template.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Component, metadata: {name: x}}`, `{}`, `cannot run "x": not a Template`},
		"Version": {"The apiVersion must be supported.", `{apiVersion: portal.io/v1beta2, kind: Template, metadata: {name: x}}`, `{}`, `cannot run the Template "x": apiVersion is "portal.io/v1beta2" and must be scaffolder.portal.io/v1beta3 or scaffolder.backstage.io/v1beta3`},
		"Steps":   {"A Template needs steps.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {}}`, `{}`, `cannot run the Template "x": no steps`},
		"Action":  {"A step needs an action.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [{action: a}, {id: b}]}}`, `{}`, `cannot run the Template "x": step 2 has no action`},
		"NoStep":  {"A step must be an object.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [a]}}`, `{}`, `cannot run the Template "x": step 1 has no action`},
		"Values": {"All pages are validated.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [],
			parameters: [{required: [a], properties: {a: {type: string}}}, {properties: {b: {type: integer}}}]}}`, `{b: x}`,
			`[instance requires property "a" instance.b is not of a type(s) integer]`},
		"Page": {"A single page need not be a list.", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [],
			parameters: {required: [a], properties: {a: {type: string}}}}}`, `{}`, `[instance requires property "a"]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Order{Template: node(t, tc.template), Values: node(t, tc.values)}
			for what, do := range map[string]func() error{
				"Create": func() error { _, err := w.tasks.Create(t.Context(), o); return err },
				"DryRun": func() error { _, err := w.tasks.DryRun(t.Context(), DryOrder{Order: o}); return err },
			} {
				err := do()
				got := ""
				if e, ok := errors.AsType[*Refused](err); ok {
					got = e.Reason
				}
				if e, ok := errors.AsType[*Invalid](err); ok {
					var all []string
					for _, p := range e.Problems {
						all = append(all, p.Stack)
					}
					got = fmt.Sprint(all)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, what, diff)
				}
			}
		})
	}
	if _, n, err := w.store.Tasks(t.Context(), taskstore.TaskQuery{Limit: 1}); err != nil || n != 0 {
		t.Errorf("%d tasks were stored, want none: %v", n, err)
	}
}

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

// TestSpec makes the specs that clients see.
func TestSpec(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		order    Order
		want     string
	}{
		"Real": {
			reason: "it is that of the real one",
			template: `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {namespace: default, annotations: {"backstage.io/managed-by-location": "url:http://127.0.0.1:18001/t.yaml"}, name: demo},
				spec: {type: service, steps: [{id: log, name: Log, action: "debug:log", input: {message: "${{ parameters.name }}"}}], output: {text: []}}}`,
			order: Order{Values: tree.Obj(tree.F("name", tree.Str("abc"))), User: "user:development/guest"},
			want: `{"apiVersion":"scaffolder.backstage.io/v1beta3","steps":[{"id":"log","name":"Log","action":"debug:log","input":{"message":"${{ parameters.name }}"}}],` +
				`"output":{"text":[]},"parameters":{"name":"abc"},"user":{"ref":"user:development/guest"},"templateInfo":{"entityRef":"template:default/demo","baseUrl":"http://127.0.0.1:18001/t.yaml",` +
				`"entity":{"metadata":{"namespace":"default","annotations":{"backstage.io/managed-by-location":"url:http://127.0.0.1:18001/t.yaml"},"name":"demo"}}}}`,
		},
		"Bare": {
			reason: "what is missing is filled in",
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

// TestBase finds where a Template was read from, whatever it says itself.
func TestBase(t *testing.T) {
	cases := map[string]struct {
		reason          string
		source, managed string
		read            bool
		want            string
	}{
		"Source":   {"its source may be elsewhere", "url:https://host/a/b/", "url:https://host/t.yaml", true, "https://host/a/b/"},
		"Managed":  {"or it says nothing of it", "", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"File":     {"the catalog has read it here", "", "file:/srv/t.yaml", true, "file:///srv/t.yaml"},
		"Pretends": {"one that was read elsewhere does not get at files of this machine", "file:/etc/portal/x.yaml", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"Beside":   {"nor does one that was read here at those of another folder", "file:/etc/portal/x.yaml", "file:/srv/t.yaml", true, "file:///srv/t.yaml"},
		"Slashes":  {"however it is written", "FILE:///etc/portal/x.yaml", "url:https://host/t.yaml", true, "https://host/t.yaml"},
		"Address":  {"however the address is written", "url:file:///etc/portal/x.yaml", "url:https://host/t.yaml", true, ""},
		"Scheme":   {"nor by another scheme", "url:FILE:/etc/portal/x.yaml", "provider:ci", false, ""},
		"Pushed":   {"nor does one that the catalog has not read", "", "file:/etc/portal/x.yaml", false, ""},
		"Other":    {"others cannot be read from", "", "provider:x", false, ""},
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

// TestCostlyForm fills in a form of fifty pages, each of which asks each of sixty
// definitions for the next one twice. All pages together have one budget.
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
		t.Errorf("the form takes %v, want less than %v", took, most)
	}
	refused, ok := errors.AsType[*Refused](err)
	if want := "cannot validate the form: page 2: the schema takes too many steps; simplify oneOf"; !ok || !strings.HasPrefix(refused.Reason, want) {
		t.Errorf("got %v, want %s", err, want)
	}
	// What was spent before counts.
	o.Budget = validation.NewBudget()
	if _, err := validation.Check(page, tree.Obj(), o.Budget); !errors.Is(err, validation.ErrTooManySteps) {
		t.Fatal(err)
	}
	if _, err := o.spec(t.Context()); err == nil || !strings.Contains(err.Error(), "page 1:") {
		t.Errorf("got %v, want no steps left for page 1", err)
	}
}

// TestRefused refuses what cannot be run, and stores nothing of it.
func TestRefused(t *testing.T) {
	w := open(t, onSQLite(t), Options{})
	cases := map[string]struct {
		reason   string
		template string
		values   string
		want     string
	}{
		"Kind":    {"it must be a Template", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Component, metadata: {name: x}}`, `{}`, `Cannot run "x": it is no Template`},
		"Version": {"its language must be known", `{apiVersion: portal.io/v1beta2, kind: Template, metadata: {name: x}}`, `{}`, `Cannot run the Template "x": its apiVersion is "portal.io/v1beta2" and must be scaffolder.portal.io/v1beta3 or scaffolder.backstage.io/v1beta3`},
		"Steps":   {"it must have steps", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {}}`, `{}`, `Cannot run the Template "x": it has no steps`},
		"Action":  {"a step must do something", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [{action: a}, {id: b}]}}`, `{}`, `Cannot run the Template "x": step 2 has no action`},
		"NoStep":  {"a step is an object", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [a]}}`, `{}`, `Cannot run the Template "x": step 1 has no action`},
		"Values": {"all pages are looked at", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [],
			parameters: [{required: [a], properties: {a: {type: string}}}, {properties: {b: {type: integer}}}]}}`, `{b: x}`,
			`[instance requires property "a" instance.b is not of a type(s) integer]`},
		"Page": {"one page need not be a list", `{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {name: x}, spec: {steps: [],
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
		t.Errorf("%d were stored: %v", n, err)
	}
}

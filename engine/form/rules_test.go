package form

import (
	"testing"

	"example.dev/ingestor/document/tree"
)

// TestRules checks validation rules in a form: some values are refused before
// they are sent to the cluster.
func TestRules(t *testing.T) {
	const fields = `properties: {kind: {type: string}, on: {type: boolean}, b: {type: string}, name: {type: string}}`
	cases := map[string]struct {
		reason, rule   string
		taken, refused []string
	}{
		"value":    {"A value can require another field.", `self.kind != 'x' || has(self.b)`, []string{`{kind: y}`, `{kind: x, b: z}`, `{}`}, []string{`{kind: x}`}},
		"quotes":   {"Both kinds of quotes are supported, with spaces in them.", `self.kind  !=  "a b" || has( self.b )`, []string{`{kind: ab}`}, []string{`{kind: a b}`}},
		"present":  {"A field can require another one.", `!has(self.kind) || has(self.b)`, []string{`{}`, `{kind: "", b: z}`}, []string{`{kind: y}`}},
		"switch":   {"A boolean can require a field.", `!has(self.on) || !self.on || has(self.b)`, []string{`{on: false}`, `{on: true, b: x}`}, []string{`{on: true}`}},
		"renamed":  {"A rule is translated to the names in the form.", `self.kind != 'x' || has(self.name)`, []string{`{kind: x, spec_name: n}`}, []string{`{kind: x}`}},
		"either":   {"An alternative of two fields becomes a message only.", `has(self.kind) || has(self.b)`, []string{`{}`}, nil},
		"deeper":   {"A rule on a nested field becomes a message only.", `self.kind != 'x' || has(self.b.c)`, []string{`{kind: x}`}, nil},
		"more":     {"A longer condition becomes a message only.", `self.kind != 'x' || (has(self.b) && self.b != '')`, []string{`{kind: x}`}, nil},
		"not":      {"A field that must be absent becomes a message only.", `self.kind != 'x' || !has(self.b)`, []string{`{kind: x, b: y}`}, nil},
		"unknown":  {"A rule on an unknown field is ignored.", `self.kind != 'x' || has(self.nothing)`, []string{`{kind: x}`}, nil},
		"no words": {"An invalid rule is ignored.", `|| ||`, []string{`{kind: x}`}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rule := string(tree.AppendJSON(nil, tree.Str(tc.rule), ""))
			try := func(reason string, f *checked) {
				for _, values := range tc.taken {
					if err := f.validate(withMetadata(yaml(t, values))); err != nil {
						t.Errorf("%s\n%s: %s: %v", tc.reason, reason, values, err)
					}
				}
				for _, values := range tc.refused {
					if err := f.validate(withMetadata(yaml(t, values))); err == nil {
						t.Errorf("%s\n%s: %s was accepted", tc.reason, reason, values)
					}
				}
			}
			try("of spec", compileSpec(t, modern, `{type: object, x-kubernetes-validations: [{rule: `+rule+`}], `+fields+`}`, Options{}))
			try("of a wrapper", compileSpec(t, modern, `{type: object, required: [p], properties: {p: {type: object, x-kubernetes-validations: [{rule: `+rule+`}], `+fields+`}}}`, Options{}))
		})
	}
}

// TestRootRules checks that rules at the root of the schema get into the form:
// their messages, and what can be checked.
func TestRootRules(t *testing.T) {
	compile := func(rule, message, spec string) *checked {
		schema := object(yaml(t, spec))
		schema.Set("x-kubernetes-validations", tree.Arr(tree.Obj(tree.F("rule", tree.Str(rule)), tree.F("message", tree.Str(message)))))
		d, v := define(t, modern, schema)
		return check(t, Compile(d, v, Options{}))
	}
	f := compile("self.metadata.name.startsWith('xplane-')", "The name must begin with xplane-.", `{type: object, description: A widget., properties: {a: {type: string}}}`)
	if got, want := f.Pages.Items[1].Get("description").Str(), "A widget.\nThe name must begin with xplane-."; got != want {
		t.Errorf("description of the page is %q, want %q", got, want)
	}
	f = compile("self.spec.p.kind != 'x' || has(self.spec.p.b)", "b!", `{type: object, required: [p], properties: {p: {type: object, properties: {kind: {type: string}, b: {type: string}}}}}`)
	if f.validate(withMetadata(yaml(t, `{kind: x}`))) == nil || f.validate(withMetadata(yaml(t, `{kind: x, b: y}`))) != nil {
		t.Error("rule about the fields of a wrapper is not checked")
	}
	if f = compile("self.spec == oldSelf.spec", "", `{type: object, properties: {a: {type: string}}}`); !f.Fixed {
		t.Error("form of an immutable spec is not fixed")
	}
	f = compile("self.spec.zone == oldSelf.spec.zone", "", `{type: object, properties: {zone: {type: string}, size: {type: integer}}}`)
	props := f.Pages.Items[1].Get("properties")
	if !props.Get("zone", "ui:options", "immutable").IsTrue() || props.Get("size").Has("ui:options") || f.Fixed {
		t.Errorf("want only zone to be immutable: %s", text(props))
	}
	f = compile("self.spec.p.q == oldSelf.spec.p.q", "", `{type: object, properties: {p: {type: object, properties: {q: {type: string}}}, size: {type: integer}}}`)
	if !f.Pages.Items[1].Get("properties", "p", "properties", "q", "ui:options", "immutable").IsTrue() {
		t.Errorf("want a nested field to be immutable: %s", text(f.Pages.Items[1]))
	}
}

package form

import (
	"testing"

	"example.dev/ingestor/document/tree"
)

// TestRules holds what a form makes of validation rules: some values are refused
// before the cluster sees them.
func TestRules(t *testing.T) {
	const fields = `properties: {kind: {type: string}, on: {type: boolean}, b: {type: string}, name: {type: string}}`
	cases := map[string]struct {
		reason, rule   string
		taken, refused []string
	}{
		"value":    {"a value that needs another field", `self.kind != 'x' || has(self.b)`, []string{`{kind: y}`, `{kind: x, b: z}`, `{}`}, []string{`{kind: x}`}},
		"quotes":   {"either quotes, and spaces in them", `self.kind  !=  "a b" || has( self.b )`, []string{`{kind: ab}`}, []string{`{kind: a b}`}},
		"present":  {"a field that needs another", `!has(self.kind) || has(self.b)`, []string{`{}`, `{kind: "", b: z}`}, []string{`{kind: y}`}},
		"switch":   {"a switch that needs a field", `!has(self.on) || !self.on || has(self.b)`, []string{`{on: false}`, `{on: true, b: x}`}, []string{`{on: true}`}},
		"renamed":  {"a field with another name in the form", `self.kind != 'x' || has(self.name)`, []string{`{kind: x, spec_name: n}`}, []string{`{kind: x}`}},
		"either":   {"one of two is a message only", `has(self.kind) || has(self.b)`, []string{`{}`}, nil},
		"deeper":   {"what is deeper is a message only", `self.kind != 'x' || has(self.b.c)`, []string{`{kind: x}`}, nil},
		"more":     {"what says more is a message only", `self.kind != 'x' || (has(self.b) && self.b != '')`, []string{`{kind: x}`}, nil},
		"not":      {"a field that must be absent is a message only", `self.kind != 'x' || !has(self.b)`, []string{`{kind: x, b: y}`}, nil},
		"unknown":  {"a field that is not there", `self.kind != 'x' || has(self.nothing)`, []string{`{kind: x}`}, nil},
		"no words": {"what is no rule", `|| ||`, []string{`{kind: x}`}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rule := string(tree.AppendJSON(nil, tree.Str(tc.rule), ""))
			try := func(reason string, f *checked) {
				for _, values := range tc.taken {
					if err := f.validate(withMetadata(yaml(t, values))); err != nil {
						t.Errorf("%s, %s: %s: %v", tc.reason, reason, values, err)
					}
				}
				for _, values := range tc.refused {
					if err := f.validate(withMetadata(yaml(t, values))); err == nil {
						t.Errorf("%s, %s: %s is taken", tc.reason, reason, values)
					}
				}
			}
			try("of spec", compileSpec(t, modern, `{type: object, x-kubernetes-validations: [{rule: `+rule+`}], `+fields+`}`, Options{}))
			try("of a wrapper", compileSpec(t, modern, `{type: object, required: [p], properties: {p: {type: object, x-kubernetes-validations: [{rule: `+rule+`}], `+fields+`}}}`, Options{}))
		})
	}
}

// TestRootRules holds that rules at the root of the schema reach the form: their
// messages, and what can be checked.
func TestRootRules(t *testing.T) {
	compile := func(rule, message, spec string) *checked {
		schema := object(yaml(t, spec))
		schema.Set("x-kubernetes-validations", tree.Arr(tree.Obj(tree.F("rule", tree.Str(rule)), tree.F("message", tree.Str(message)))))
		d, v := define(t, modern, schema)
		return check(t, Compile(d, v, Options{}))
	}
	f := compile("self.metadata.name.startsWith('xplane-')", "The name must begin with xplane-.", `{type: object, description: A widget., properties: {a: {type: string}}}`)
	if got, want := f.Pages.Items[1].Get("description").Str(), "A widget.\nThe name must begin with xplane-."; got != want {
		t.Errorf("the message stands on the page: got %q, want %q", got, want)
	}
	f = compile("self.spec.p.kind != 'x' || has(self.spec.p.b)", "b!", `{type: object, required: [p], properties: {p: {type: object, properties: {kind: {type: string}, b: {type: string}}}}}`)
	if f.validate(withMetadata(yaml(t, `{kind: x}`))) == nil || f.validate(withMetadata(yaml(t, `{kind: x, b: y}`))) != nil {
		t.Error("a rule about the fields of a wrapper is checked")
	}
	if f = compile("self.spec == oldSelf.spec", "", `{type: object, properties: {a: {type: string}}}`); !f.Fixed {
		t.Error("a spec that must not change is fixed")
	}
	f = compile("self.spec.zone == oldSelf.spec.zone", "", `{type: object, properties: {zone: {type: string}, size: {type: integer}}}`)
	props := f.Pages.Items[1].Get("properties")
	if !props.Get("zone", "ui:options", "immutable").IsTrue() || props.Get("size").Has("ui:options") || f.Fixed {
		t.Errorf("one field is immutable, the other not: %s", text(props))
	}
	f = compile("self.spec.p.q == oldSelf.spec.p.q", "", `{type: object, properties: {p: {type: object, properties: {q: {type: string}}}, size: {type: integer}}}`)
	if !f.Pages.Items[1].Get("properties", "p", "properties", "q", "ui:options", "immutable").IsTrue() {
		t.Errorf("a field of a field: %s", text(f.Pages.Items[1]))
	}
}

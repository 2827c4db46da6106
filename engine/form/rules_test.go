package form

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// TestRules checks validation rules in a form: some values are refused before
// they are sent to the cluster.
func TestRules(t *testing.T) {
	const fields = `properties: {kind: {type: string}, on: {type: boolean}, b: {type: string}, name: {type: string},
		route: {type: object, properties: {enabled: {type: boolean}, hostname: {type: string}, tls: {type: object, properties: {on: {type: boolean}, secret: {type: string}}}}}}`
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
		"inner":    {"A switch in an object can require a field of that object.", `!has(self.route) || !self.route.enabled || has(self.route.hostname)`, []string{`{}`, `{route: {}}`, `{route: {enabled: false}}`, `{route: {enabled: true, hostname: h}}`, `{route: {hostname: h}}`}, []string{`{route: {enabled: true}}`}},
		"inmost":   {"The object may be in another one.", `!has(self.route.tls) || !self.route.tls.on || has(self.route.tls.secret)`, []string{`{route: {tls: {on: true, secret: s}}}`, `{route: {tls: {on: false}}}`}, []string{`{route: {tls: {on: true}}}`}},
		"beside":   {"A field outside of the object is not the object that may be absent.", `!has(self.kind) || !self.route.enabled || has(self.route.hostname)`, []string{`{route: {enabled: true}}`}, nil},
		"outer":    {"A field outside of the object does not require a field in it.", `self.kind != 'x' || has(self.route.hostname)`, []string{`{kind: x}`, `{kind: x, route: {}}`}, nil},
		"whole":    {"An object that must be present is required as a whole.", `self.kind != 'x' || has(self.route)`, []string{`{kind: y}`, `{kind: x, route: {hostname: h}}`}, []string{`{kind: x}`}},
		"absent":   {"Fields of an object that the form lacks are ignored.", `!self.gate.on || has(self.gate.b)`, []string{`{}`}, nil},
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

// TestKept checks which validation rules make a field immutable.
func TestKept(t *testing.T) {
	cases := map[string]struct {
		reason, rule string
		want         []string
	}{
		"plain":       {"A field must equal its old value.", `self.size == oldSelf.size`, []string{"size"}},
		"inner":       {"The field may be in an object.", `self.p.zone == oldSelf.p.zone`, []string{"p.zone"}},
		"either":      {"The rule may hold only while both have the field.", `!has(self.size) || !has(oldSelf.size) || self.size == oldSelf.size`, []string{"size"}},
		"order":       {"The order of the guards does not matter.", `!has(oldSelf.size)||!has(self.size)||self.size==oldSelf.size`, []string{"size"}},
		"kept":        {"The field may have to be kept.", `!has(oldSelf.size) || has(self.size) && self.size == oldSelf.size`, []string{"size"}},
		"parentheses": {"The last clause may be in parentheses.", `!has(oldSelf.size) || (has(self.size) && self.size == oldSelf.size)`, []string{"size"}},
		"parents":     {"The object that contains the field may be absent.", `!has(self.p) || !has(oldSelf.p) || !has(oldSelf.p.zone) || self.p.zone == oldSelf.p.zone`, []string{"p.zone"}},
		"renamed":     {"A field is found under its name in the form.", `!has(oldSelf.name) || has(self.name) && self.name == oldSelf.name`, []string{"spec_name"}},
		"other":       {"A guard about another field is a condition, which a form does not support.", `!has(self.p) || !has(oldSelf.size) || self.size == oldSelf.size`, nil},
		"similar":     {"A guard about a field whose name begins alike is another one.", `!has(self.siz) || self.size == oldSelf.size`, nil},
		"swapped":     {"Fields that are compared with others are not immutable.", `self.size == oldSelf.name`, nil},
		"present":     {"A field that must have been present may change.", `has(oldSelf.size) || self.size == oldSelf.size`, nil},
		"elsewhere":   {"Another field that must be present is a condition of its own.", `!has(oldSelf.size) || has(self.name) && self.size == oldSelf.size`, nil},
		"unbalanced":  {"An invalid rule is ignored.", `!has(oldSelf.size) || (self.size == oldSelf.size`, nil},
		"grows":       {"A field that may only grow can be changed.", `!has(oldSelf.size) || self.size >= oldSelf.size`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rule := string(tree.AppendJSON(nil, tree.Str(tc.rule), ""))
			f := compileSpec(t, modern, `{type: object, x-kubernetes-validations: [{rule: `+rule+`}], properties: {size: {type: integer}, name: {type: string}, p: {type: object, properties: {zone: {type: string}}}}}`, Options{})
			var got []string
			var visit func(prefix string, props *tree.Node)
			visit = func(prefix string, props *tree.Node) {
				if !props.IsMap() {
					return
				}
				for _, p := range props.Fields {
					if p.Value.Get("ui:options", "immutable").IsTrue() {
						got = append(got, prefix+p.Key)
					}
					visit(prefix+p.Key+".", p.Value.Get("properties"))
				}
			}
			visit("", f.Pages.Items[1].Get("properties"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
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

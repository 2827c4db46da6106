package form

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// addedAnyway are forms whose untouched objects a stock portal sends, each with a reason.
var addedAnyway = map[string]string{
	"xrds/livewyer-ops__crossplane-configuration-aws-elemental/events.elemental.aws.livewyer.io-6f0253ba.yaml, version v1alpha1":            "the spec accepts undeclared fields, so it is sent as a whole",
	"xrds/livewyer-ops__crossplane-configuration-aws-elemental/workflows.elemental.aws.livewyer.io-e14789ef.yaml, version v1alpha1":         "the spec accepts undeclared fields, so it is sent as a whole",
	"xrds/livewyer-ops__crossplane-configuration-aws-elemental/workflowtemplates.elemental.aws.livewyer.io-ab70f50e.yaml, version v1alpha1": "the spec accepts undeclared fields, so it is sent as a whole",
}

// stockNotSame are resources that a stock portal makes differently, each with a reason.
var stockNotSame = map[string]string{
	"xrs/Smana__crossplane-configuration/image-gallery-9412384d.yaml": "an optional object in the item of a list has a list, and is therefore sent; the cluster then adds its defaults",
}

// TestStock compares the form for a Backstage without our fields with what it should be.
func TestStock(t *testing.T) {
	tests := map[string]struct {
		reason string
		spec   string
		// page is the page of spec, and manifest what the form makes.
		page, manifest string
	}{
		"Details": {
			"A description is complete.",
			`properties: { a: { type: string, description: "One. Two." } }`,
			`properties: { a: { title: A, description: "One.\n\nTwo.", type: string } }`,
			`{ a: "${{ parameters.a }}" }`,
		},
		"Optional": {
			"An optional object requires nothing until a single value in it is set, and a list in it is omitted if it is empty.",
			`properties: { x: { type: string }, o: { type: object, required: [a, b], properties: { a: { type: string }, b: { type: string }, l: { type: array, minItems: 2, items: { type: string } } } } }`,
			`properties: { x: { title: X, type: string }, o: { title: O, type: object, properties: {
				a: { title: A, type: string }, b: { title: B, type: string },
				l: { title: L, type: array, items: { type: string }, description: "At least 2, if any." } },
				dependencies: { a: [b], b: [a] } } }`,
			`{ x: "${{ parameters.x }}", o: "${{ ({ \"a\": parameters.o.a, \"b\": parameters.o.b, \"l\": (parameters.o.l if parameters.o.l | length else undefined) } if (parameters.o.a is defined or parameters.o.b is defined or parameters.o.l | length) else undefined) }}" }`,
		},
		"Required": {
			"A required object keeps what it requires.",
			`required: [o]
properties: { x: { type: string }, o: { type: object, required: [a], properties: { a: { type: string } } } }`,
			`required: [o]
properties: { x: { title: X, type: string }, o: { title: O, type: object, required: [a], properties: { a: { title: A, type: string } } } }`,
			`{ x: "${{ parameters.x }}", o: "${{ parameters.o }}" }`,
		},
		"Choice": {
			"A choice in an optional object is described: as a choice it would require its fields.",
			`properties: { x: { type: string }, o: { type: object, properties: { a: { type: string }, b: { type: string } }, oneOf: [{ required: [a] }, { required: [b] }] } }`,
			`properties: { x: { title: X, type: string }, o: { title: O, description: "Set exactly one: A; B.", type: object, properties: { a: { title: A, type: string }, b: { title: B, type: string } } } }`,
			`{ x: "${{ parameters.x }}", o: "${{ parameters.o }}" }`,
		},
		"Undeclared": {
			"Undeclared fields can have any type.",
			`properties: { x: { type: string }, o: { type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { type: string } } } }`,
			`properties: { x: { title: X, type: string }, o: { title: O, type: object, properties: { a: { title: A, type: string } }, additionalProperties: ` + string(tree.AppendJSON(nil, openValue(openDepth), "")) + ` } }`,
			`{ x: "${{ parameters.x }}", o: "${{ parameters.o }}" }`,
		},
		"Default": {
			"A list with a default is sent as it is shown.",
			`properties: { l: { type: array, default: [x], items: { type: string } } }`,
			`properties: { l: { title: L, type: array, default: [x], items: { type: string } } }`,
			`{ l: "${{ parameters.l }}" }`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := compileSpec(t, modern, tc.spec, Options{Stock: GitHub})
			if diff := gocmp.Diff(normal(yaml(t, tc.page)), normal(without(f.Pages.Items[1], "title"))); diff != "" {
				t.Errorf("%s\npage (-want +got):\n%s", tc.reason, diff)
			}
			if diff := gocmp.Diff(normal(yaml(t, tc.manifest)), normal(f.Manifest.Get("spec"))); diff != "" {
				t.Errorf("%s\nspec (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMisread checks that texts which Kubernetes misreads in a file of Backstage are
// reported, once for each field.
func TestMisread(t *testing.T) {
	spec := `properties: { a: { type: string, enum: ["N", "S"] }, b: { type: array, items: { type: string, default: "off" } }, c: { type: string, enum: ["8_0", "1_1"] }, d: { type: string, default: "none" }, e: { type: boolean, default: false } }`
	if got := rulesOf(compileSpec(t, modern, spec, Options{}).Form); len(got) > 0 {
		t.Errorf("findings of the portal's own delivery are %v, want none", got)
	}
	if diff := gocmp.Diff([]string{RuleMisread, RuleMisread, RuleMisread}, rulesOf(compileSpec(t, modern, spec, Options{Stock: GitHub}).Form)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestForBackstageBounds checks that the result for a hostile form is not much larger than
// the form.
func TestForBackstageBounds(t *testing.T) {
	wide := tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj()))
	var required []string
	for i := range 2000 {
		name := fmt.Sprint("field", i)
		required = append(required, name)
		add(wide.Get("properties"), name, tree.Obj(tree.F("type", tree.Str("string"))))
	}
	wide.Set("required", tree.Strs(required))
	deep := tree.Obj(tree.F("type", tree.Str("array")))
	for range 200 {
		deep = tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(tree.F("a", deep), tree.F("b", tree.Obj(tree.F("type", tree.Str("array")))))))
	}
	for name, spec := range map[string]*tree.Node{
		"Wide": page(tree.F("o", wide)), "Deep": page(tree.F("o", deep)),
		"Odd": tree.Obj(tree.F("parameters", tree.Arr(nil, tree.Str("x"), tree.Obj(tree.F("properties", tree.Arr())))), tree.F("steps", tree.Str("y"))),
	} {
		before, after := len(tree.AppendJSON(nil, spec, "")), len(tree.AppendJSON(nil, ForBackstage(spec), ""))
		if after > 3*before {
			t.Errorf("%s: the form grows from %d to %d bytes", name, before, after)
		}
	}
}

// page returns the spec of a Template with one page, whose step uses its parameter o.
func page(fields ...tree.Field) *tree.Node {
	return tree.Obj(
		tree.F("parameters", tree.Arr(tree.Obj(tree.F("properties", tree.Obj(fields...))))),
		tree.F("steps", tree.Arr(tree.Obj(tree.F("input", tree.Obj(tree.F("manifest", tree.Str("${{ parameters.o }}"))))))),
	)
}

// withoutEmpty returns a value without empty lists and objects. A stock portal adds those
// to the items of a list.
func withoutEmpty(n *tree.Node) *tree.Node {
	switch {
	case n.IsMap():
		out := tree.Obj()
		for _, f := range n.Fields {
			if v := withoutEmpty(f.Value); v.Len() > 0 || !v.IsMap() && !v.IsList() {
				out.Set(f.Key, v)
			}
		}
		return out
	case n.IsList():
		out := tree.Arr()
		for _, it := range n.Items {
			out.Items = append(out.Items, withoutEmpty(it))
		}
		return out
	}
	return n
}

// TestStockDelivery runs the forms for a Backstage without our fields, and those in the
// feed, as the pages of Backstage do: nothing that is optional prevents a submit, no
// optional object is created by itself, and the resources of the corpus can be made.
func TestStockDelivery(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, provider := range []GitProvider{GitHub, inFeed} {
		t.Run(string(provider), func(t *testing.T) {
			forms := stockForms(t, corpus(t), provider)
			made := 0
			for i, v := range ask(t, forms) {
				if v.Error != "" {
					t.Errorf("%s: %s", forms[i].about, v.Error)
				}
				made += forms[i].submitted(t, v)
			}
			t.Logf("%d forms, %d resources made", len(forms), made)
		})
	}
}

// submitted checks what became of a form in the pages of Backstage, and returns how many
// resources it made.
func (f *judged) submitted(t *testing.T, v verdict) (made int) {
	t.Helper()
	for j, got := range v.Cases {
		c := f.Cases[j]
		about := cmp.Or(c.about, f.about)
		if len(got.Errors) > 0 {
			if notSent[about] == "" {
				t.Errorf("%s: cannot be submitted: %s", about, strings.Join(got.Errors, "; "))
			}
			continue
		}
		if len(got.Empty) > 0 {
			t.Errorf("%s: a browser requires %v, which are optional", about, got.Empty)
		}
		spec := node(t, got.Manifest).Get("spec")
		if c.Fill {
			if more := uninvited(f.d, f.v.Spec(), spec, nil); (len(more) > 0) != (addedAnyway[f.about] != "") {
				t.Errorf("%s: untouched objects were created: %v", f.about, more)
			}
			continue
		}
		if stockNotSame[about] == "" {
			f.compare(t, c, spec)
			made++
		}
	}
	return made
}

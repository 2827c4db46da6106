package form

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// updating returns the spec of a Template that updates the resource of a
// manifest.
func updating(manifest *tree.Node) *tree.Node {
	return tree.Obj(tree.F("steps", tree.Arr(tree.Obj(
		tree.F("action", tree.Str("kubernetes:apply")),
		tree.F("input", tree.Obj(
			tree.F("manifest", manifest), tree.F("update", tree.Boolean(true)), tree.F("observed", tree.Str(expression(ParamObserved))),
		)),
	))))
}

// undone fills a form from the resource that its manifest makes from values,
// and returns an error unless the form has exactly the values that are in the
// resource, and makes the same resource again.
func undone(f *checked, values, manifest *tree.Node) error {
	filled := Fill(updating(f.Manifest), manifest)
	for _, v := range filled.Fields {
		if v.Key != ParamObserved && !v.Value.Equal(values.Get(v.Key)) {
			return fmt.Errorf("%s is filled with %s", v.Key, tree.AppendJSON(nil, v.Value, ""))
		}
	}
	again, err := render(f.Manifest, filled)
	if err != nil {
		return err
	}
	if !again.Equal(manifest) {
		return fmt.Errorf("filled with %s it makes %s", tree.AppendJSON(nil, filled, ""), tree.AppendJSON(nil, again, ""))
	}
	update, err := compilePages(&Form{Pages: Existing{Kind: "Widget", Pages: f.Pages, Manifest: f.Manifest}.Update()})
	if err != nil {
		return fmt.Errorf("the form for an update: %w", err)
	}
	if last := f.Pages.Items[len(f.Pages.Items)-1]; last.Get("properties").Has(ParamDelivery) {
		filled.Set(ParamDelivery, tree.Str(DeliverApply))
	}
	if err := update.validate(filled); err != nil {
		return fmt.Errorf("the form for an update: %w", err)
	}
	return nil
}

// TestFillUndoes draws a schema and a spec, and fills the form from the
// manifest it makes.
func TestFillUndoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]string{modern, modernCluster, legacy, legacyClaim}).Draw(r, "kind")
		schema := drawObject(r, 3)
		d, v := define(t, kind, object(schema.schema))
		opts := Options{GitOps: rapid.Bool().Draw(r, "gitops"), CompositionDetails: true, Compositions: rapid.SampledFrom([][]string{nil, {"a", "b"}}).Draw(r, "compositions")}
		f, err := compilePages(Compile(d, v, opts))
		if err != nil {
			r.Fatal(err)
		}
		values := withMetadata(f.Values(schema.value(r)))
		values.Set(paramOwner, tree.Str("group:default/team"))
		for _, answer := range [][2]string{{paramComposition, "a"}, {paramUpdatePolicy, "Manual"}, {paramDeletePolicy, "Foreground"}, {paramSecret, "secret"}} {
			if rapid.Bool().Draw(r, answer[0]) {
				values.Set(answer[0], tree.Str(answer[1]))
			}
		}
		values.Set(paramSecretNamespace, tree.Str("system"))
		manifest, err := render(f.Manifest, values)
		if err != nil {
			r.Fatal(err)
		}
		if err := undone(f, values, manifest); err != nil {
			r.Fatalf("%v\nschema:\n%s\nvalues:\n%s\nmanifest:\n%s", err, text(schema.schema), text(values), text(f.Manifest))
		}
	})
}

func TestFill(t *testing.T) {
	whole := compileSpec(t, modern, `{type: object, x-kubernetes-preserve-unknown-fields: true}`, Options{})
	claim := compileSpec(t, legacyClaim, `{type: object, properties: {parameters: {type: object, properties: {size: {type: integer}, "a-b": {type: string}}}}}`, Options{CompositionDetails: true, Compositions: []string{"a", "b"}})
	v2 := compileSpec(t, modern, `{type: object, properties: {size: {type: integer}}}`, Options{CompositionDetails: true, Compositions: []string{"a", "b"}})
	managed := func(fields string) string {
		return `managedFields: [{manager: kubectl, operation: Update, fieldsV1: {"f:spec": {"f:size": {}}}}, {manager: portal, operation: Apply, fieldsV1: {"f:spec": {` + fields + `}}}]`
	}
	cases := map[string]struct {
		reason   string
		manifest *tree.Node
		live     string
		want     string
	}{
		"Claim": {
			"Values are read from where the manifest puts them.", claim.Manifest,
			`{metadata: {name: one, namespace: shop, generation: 7, annotations: {portal.io/owner: team}},
			 spec: {parameters: {size: 3, a-b: "x", other: 1}, compositionRef: {name: b}, compositeDeletePolicy: Foreground, writeConnectionSecretToRef: {name: s}}}`,
			`{name: one, namespace: shop, owner: team, composition: b, compositeDeletePolicy: Foreground, "a-b": "x", size: 3, connectionSecret: s}`,
		},
		"Words": {
			"An owner is read in either vocabulary.", claim.Manifest,
			`{metadata: {name: one, annotations: {backstage.io/owner: team}}}`, `{name: one, owner: team}`,
		},
		"Machinery": {
			"Values that Crossplane chose are not read.", claim.Manifest,
			`{metadata: {name: one, ` + managed(`"f:parameters": {}`) + `}, spec: {parameters: {size: 3}, compositionRef: {name: b}, resourceRef: {name: x}}}`,
			`{name: one, size: 3}`,
		},
		"Chosen": {
			"Values that the user chose are read.", claim.Manifest,
			`{metadata: {name: one, ` + managed(`"f:compositionRef": {"f:name": {}}`) + `}, spec: {compositionRef: {name: b}}}`, `{name: one, composition: b}`,
		},
		"Second generation": {
			"The revision that Crossplane adds is not read.", v2.Manifest,
			`{metadata: {name: one, ` + managed(`"f:crossplane": {"f:compositionRef": {"f:name": {}}}`) + `},
			 spec: {size: 3, crossplane: {compositionRef: {name: b}, compositionRevisionRef: {name: b-1}, compositionUpdatePolicy: Automatic, resourceRefs: [{name: x}]}}}`,
			`{name: one, size: 3, composition: b}`,
		},
		"Whole": {
			"A spec as one value does not contain fields of Crossplane.", whole.Manifest,
			`{metadata: {name: one, ` + managed(`"f:size": {}`) + `}, spec: {size: 3, crossplane: {resourceRefs: [{name: x}]}}}`, `{name: one, spec: {size: 3}}`,
		},
		"Empty": {"An empty resource gives no values.", claim.Manifest, `{}`, `{}`},
		"Other": {
			"Values in other expressions are left out.", yaml(t, `{metadata: {name: "x-${{ parameters.name }}", labels: {a: "${{ parameters.a | upper }}", b: "${{ parameters.b"}}, spec: [1, "${{ parameters.c }}"]}`),
			`{metadata: {name: x-one, labels: {a: A, b: B}}, spec: [1, 2]}`, `{c: 2}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			live := yaml(t, strings.ReplaceAll(tc.live, "\t", " "))
			got := Fill(updating(tc.manifest), live)
			if seen := got.Get(ParamObserved).Str(); seen != xrd.Observed(live) {
				t.Errorf("%s\nobserved state is %q", tc.reason, seen)
			}
			got.Delete(ParamObserved)
			if want := yaml(t, tc.want); !want.Equal(got) {
				t.Errorf("%s\n%s", tc.reason, cmp.Diff(text(want), text(got)))
			}
		})
	}
	propose := tree.Obj(tree.F("steps", tree.Arr(
		tree.Obj(tree.F("action", tree.Str("debug:log"))),
		tree.Obj(tree.F("action", tree.Str(words.ActionChangeRequest)), tree.F("input", tree.Obj(tree.F("manifest", yaml(t, `{metadata: {name: "${{ parameters.n }}"}}`))))),
	)))
	if got := Fill(propose, yaml(t, `{metadata: {name: one}}`)); !got.Equal(yaml(t, `{n: one}`)) {
		t.Errorf("values from a change request step: %s", text(got))
	}
	if got := Fill(nil, nil); got.Len() != 0 {
		t.Errorf("values without a Template: %s", text(got))
	}
}

// FuzzShape parses expressions: every valid one has parameters.
func FuzzShape(f *testing.F) {
	for _, s := range []string{
		expression("name"), expression(`odd "}} \ name`), evaluate(wrapped("d", "name", "a", "namespace", "b c")), evaluate(anyOf([]string{"x"}, []string{reference("a")}, []setting{{param: "a"}})),
		"${{", "${{ }}", "${{ {", `${{ {"a`, `${{ parameters["a\`, "${{ parameters.a if", "x ${{ parameters.a }}", "${{ parameters.a }} ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shape, ok := readShape(s)
		if ok && shape.param == nil && len(shape.fields) == 0 {
			t.Errorf("%q was parsed as empty", s)
		}
		if ok && len(parametersIn(s)) == 0 {
			t.Errorf("%q was parsed, but has no parameter", s)
		}
	})
}

package xrd_test

import (
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// TestBooleans checks that YAML 1.1 booleans are read like kubectl does, where
// a boolean is expected.
func TestBooleans(t *testing.T) {
	const text = `
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xs.example.org, labels: {a: yes}}
spec:
  group: example.org
  names: {kind: X, plural: xs}
  versions:
    - name: v1
      served: yes
      referenceable: on
      deprecated: no
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: Yes
              default: {on: off, country: no, list: [y, n], quoted: "yes"}
              properties:
                on: {type: boolean, default: off}
                quoted: {type: boolean}
                served: {type: string, default: yes}
                country: {type: string, enum: [no, de]}
                list: {type: array, items: {type: boolean}}
`
	set := &xrd.Set{}
	if err := set.Read(strings.NewReader(text), xrd.Origin{File: "x.yaml"}); err != nil || len(set.Definitions) != 1 {
		t.Fatalf("%d definitions, error %v", len(set.Definitions), err)
	}
	d := set.Definitions[0]
	v := d.Versions[0]
	if !v.Served || !v.Referenceable || v.Deprecated {
		t.Errorf("served %v, referenceable %v, deprecated %v", v.Served, v.Referenceable, v.Deprecated)
	}
	spec := v.Spec()
	got := tree.Obj(
		tree.F("open", spec.Get("x-kubernetes-preserve-unknown-fields")), tree.F("default", spec.Get("default")), tree.F("on", spec.Get("properties", "on", "default")),
		tree.F("served", spec.Get("properties", "served", "default")), tree.F("country", spec.Get("properties", "country", "enum")), tree.F("label", d.Node.Get("metadata", "labels", "a")),
	)
	want := `{"open":true,"default":{"on":false,"country":"no","list":[true,false],"quoted":"yes"},"on":false,"served":"yes","country":["no","de"],"label":"yes"}`
	if s := string(tree.AppendJSON(nil, got, "")); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

package xrd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

func TestChanged(t *testing.T) {
	const before = `
metadata:
  name: one
  generation: 3
  annotations: {backstage.io/owner: team-a}
  managedFields:
    - {manager: portal, operation: Apply, fieldsV1: {f:spec: {f:parameters: {}, f:crossplane: {f:compositionUpdatePolicy: {}}}}}
    - {manager: crossplane, operation: Update, fieldsV1: {f:spec: {f:resourceRef: {}, f:crossplane: {f:compositionRevisionRef: {}}}}}
spec:
  parameters: {size: 3, tags: {b: 1, a: 2}}
  crossplane: {compositionUpdatePolicy: Manual, compositionRevisionRef: {name: r1}}
  resourceRef: {name: x}
status: {ready: false}
`
	read := func(text string) *tree.Node {
		docs, errs := parser.DecodeBytes([]byte(text))
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		return docs[0]
	}
	edit := func(path []string, value string) *tree.Node {
		n := read(before)
		at := n
		for _, key := range path[:len(path)-1] {
			at = at.Get(key)
		}
		if value == "" {
			at.Delete(path[len(path)-1])
		} else {
			at.Set(path[len(path)-1], read(value))
		}
		return n
	}
	cases := map[string]struct {
		reason string
		now    *tree.Node
		want   []string
	}{
		"Same":       {"nothing was changed", read(before), nil},
		"Order":      {"the order of keys says nothing", edit([]string{"spec", "parameters"}, "{tags: {a: 2, b: 1}, size: 3}"), nil},
		"Revision":   {"Crossplane moves the revision", edit([]string{"spec", "crossplane", "compositionRevisionRef"}, "{name: r2}"), nil},
		"Reference":  {"Crossplane writes a reference", edit([]string{"spec", "resourceRef"}, "{name: y}"), nil},
		"Status":     {"so it does with the status", edit([]string{"status"}, "{ready: true}"), nil},
		"Generation": {"which makes generations", edit([]string{"metadata", "generation"}, "9"), nil},
		"Policy":     {"what the portal told Crossplane counts", edit([]string{"spec", "crossplane", "compositionUpdatePolicy"}, "Automatic"), []string{"spec.crossplane.compositionUpdatePolicy"}},
		"Field":      {"a field of the form", edit([]string{"spec", "parameters", "size"}, "4"), []string{"spec.parameters.size"}},
		"Text":       {"a text is no number", edit([]string{"spec", "parameters", "size"}, "'3'"), []string{"spec.parameters.size"}},
		"Removed":    {"one that is gone", edit([]string{"spec", "parameters", "size"}, ""), []string{"spec.parameters.size"}},
		"Added":      {"one that is new", edit([]string{"spec", "parameters", "zone"}, "b"), []string{"spec.parameters.zone"}},
		"Whole":      {"what was a map is none", edit([]string{"spec", "parameters"}, "x"), []string{"spec.parameters", "spec.parameters.size", "spec.parameters.tags"}},
		"Owner":      {"the form has the owner", edit([]string{"metadata", "annotations"}, "{portal.io/owner: team-b}"), []string{"owner"}},
		"Words":      {"in either vocabulary", edit([]string{"metadata", "annotations"}, "{portal.io/owner: team-a}"), nil},
		"Name":       {"another resource is another", edit([]string{"metadata", "name"}, "two"), []string{"name"}},
	}
	seen := xrd.Observed(read(before))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := xrd.Changed(seen, tc.now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := xrd.Changed("%zz", read(before)); err == nil {
		t.Error("fingerprint that cannot be parsed was accepted")
	}
}

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
		"Same":       {"An unchanged object has no differences.", read(before), nil},
		"Order":      {"The order of keys is ignored.", edit([]string{"spec", "parameters"}, "{tags: {a: 2, b: 1}, size: 3}"), nil},
		"Revision":   {"A revision set by Crossplane is ignored.", edit([]string{"spec", "crossplane", "compositionRevisionRef"}, "{name: r2}"), nil},
		"Reference":  {"A reference set by Crossplane is ignored.", edit([]string{"spec", "resourceRef"}, "{name: y}"), nil},
		"Status":     {"The status is ignored.", edit([]string{"status"}, "{ready: true}"), nil},
		"Generation": {"The generation is ignored.", edit([]string{"metadata", "generation"}, "9"), nil},
		"Policy":     {"A Crossplane setting of the portal is compared.", edit([]string{"spec", "crossplane", "compositionUpdatePolicy"}, "Automatic"), []string{"spec.crossplane.compositionUpdatePolicy"}},
		"Field":      {"A changed field is reported.", edit([]string{"spec", "parameters", "size"}, "4"), []string{"spec.parameters.size"}},
		"Text":       {"A string differs from a number.", edit([]string{"spec", "parameters", "size"}, "'3'"), []string{"spec.parameters.size"}},
		"Removed":    {"A removed field is reported.", edit([]string{"spec", "parameters", "size"}, ""), []string{"spec.parameters.size"}},
		"Added":      {"An added field is reported.", edit([]string{"spec", "parameters", "zone"}, "b"), []string{"spec.parameters.zone"}},
		"Whole":      {"A map that was replaced is reported with its fields.", edit([]string{"spec", "parameters"}, "x"), []string{"spec.parameters", "spec.parameters.size", "spec.parameters.tags"}},
		"Owner":      {"The owner is compared.", edit([]string{"metadata", "annotations"}, "{portal.io/owner: team-b}"), []string{"owner"}},
		"Words":      {"The owner is compared in either vocabulary.", edit([]string{"metadata", "annotations"}, "{portal.io/owner: team-a}"), nil},
		"Name":       {"The name is compared.", edit([]string{"metadata", "name"}, "two"), []string{"name"}},
	}
	seen := xrd.Observed(read(before))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := xrd.Changed(seen, tc.now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := xrd.Changed("%zz", read(before)); err == nil {
		t.Error("fingerprint that cannot be parsed was accepted")
	}
}

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestInGroup(t *testing.T) {
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: compositions.apiextensions.crossplane.io}
spec:
  group: apiextensions.crossplane.io
  names: {kind: Composition, plural: compositions}
  versions:
  - name: v1
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
      properties: {mode: {type: string, default: Pipeline, enum: [Pipeline]}, pipeline: {type: array}},
      x-kubernetes-validations: [{rule: has(self.pipeline)}]}}}}
`
	found, err := inGroup([]byte(crd), composerGroup, "test")
	if err != nil || len(found) != 1 {
		t.Fatalf("inGroup returned %v, %v, want one object", found, err)
	}
	if got, want := found[0].GetName(), "compositions.apiextensions.composer.io"; got != want {
		t.Errorf("name is %q, want %q", got, want)
	}
	if got, _, _ := unstructured.NestedString(found[0].Object, "spec", "group"); got != composerGroup {
		t.Errorf("group is %q, want %q", got, composerGroup)
	}
	versions, _, _ := unstructured.NestedSlice(found[0].Object, "spec", "versions")
	got, _, _ := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec")
	want := map[string]any{
		"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		"properties": map[string]any{
			"mode":     map[string]any{"type": "string"},
			"pipeline": map[string]any{"type": "array"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema must accept a composition with resources (-want +got):\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	cases := map[Words]struct {
		reason string
		want   []string
	}{
		Crossplane: {"The group of Crossplane is used by default.", []string{crossplaneGroup}},
		Composer:   {"The group of the specification is used.", []string{composerGroup}},
		Both:       {"A cluster that is being migrated has both groups.", []string{crossplaneGroup, composerGroup}},
		None:       {"A cluster may have neither kind.", nil},
	}
	for words, tc := range cases {
		t.Run(string(words), func(t *testing.T) {
			got, err := words.groups()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := Words("klingon").groups(); err == nil {
		t.Error("unknown vocabulary was accepted")
	}
}

package plan

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/xrd/composed"
)

// cast is a source with one object of each kind.
type cast map[string]*tree.Node

// Kind implements Source.
func (cast) Kind(_ context.Context, _, kind string) (string, bool, error) {
	return strings.ToLower(kind) + "s", true, nil
}

// Get implements Source.
func (c cast) Get(_ context.Context, ref composed.Ref) (*tree.Node, error) { return c[ref.Kind], nil }

// List implements Source.
func (cast) List(context.Context, string, string, string, map[string]string, int) ([]*tree.Node, error) {
	return nil, nil
}

// TestMode checks the error for a Composition that Crossplane 2 does not run. An API server
// with Crossplane 2 does not store such a Composition, but one that was upgraded has it.
func TestMode(t *testing.T) {
	const definition = `{apiVersion: apiextensions.crossplane.io/v2, kind: CompositeResourceDefinition, metadata: {name: things.e.org}, spec: {
		group: e.org, names: {kind: Thing, plural: things}, defaultCompositionRef: {name: a}, versions: [{name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	const typed = "compositeTypeRef: {apiVersion: e.org/v1, kind: Thing}"
	cases := map[string]struct {
		reason, composition string
		want                Reason
	}{
		"Resources": {"Crossplane 2 has no mode Resources.", "{metadata: {name: a}, spec: {" + typed + ", mode: Resources, resources: [{name: x}]}}", Mode},
		"Earlier":   {"Without a mode and a pipeline it is Resources.", "{metadata: {name: a}, spec: {" + typed + ", resources: [{name: x}]}}", Mode},
		"Pipeline":  {"A pipeline gets as far as the function.", "{metadata: {name: a}, spec: {" + typed + ", mode: Pipeline, pipeline: [{step: a, functionRef: {name: f}}]}}", Function},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			planner := New(Options{Render: render.New(render.Options{Program: "/bin/false"})})
			_, err := planner.Plan(t.Context(), Request{
				Manifest: parse(t, "{apiVersion: e.org/v1, kind: Thing, metadata: {name: a, namespace: b}, spec: {}}"),
				Source:   cast{"CompositeResourceDefinition": parse(t, definition), "Composition": parse(t, tc.composition)},
			})
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Reason != tc.want {
				t.Fatalf("%s: error is %v, want the reason %s", tc.reason, err, tc.want)
			}
			if tc.want == Mode && !strings.Contains(e.Hint, "crossplane beta convert pipeline-composition") {
				t.Errorf("%s: hint is %q, want the command", tc.reason, e.Hint)
			}
		})
	}
}

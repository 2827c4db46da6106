package pipeline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/pipeline"
)

// TestRelate checks that composites of several definitions and variants are related, and
// that there are no references to composites without an entity.
func TestRelate(t *testing.T) {
	composing := func(name, kind, part string) string {
		return strings.Replace(composite(name, kind), "spec: {}", "spec: {crossplane: {resourceRefs: [{apiVersion: example.org/v1, kind: "+part+", name: part}]}}", 1)
	}
	whole, part := composing("whole", "Xas", "Xbs"), composite("part", "Xbs")
	as, bs := definition("as.example.org"), definition("bs.example.org")
	cases := map[string]struct {
		reason        string
		first, second []string
		want          []string
	}{
		"Definitions":  {"A composite is related to that of another definition.", []string{as, bs, whole, part}, nil, []string{"part"}},
		"Variants":     {"A composite is related to that of another variant.", []string{as, whole}, []string{bs, part}, []string{"part"}},
		"NoDefinition": {"A part without a definition has no entity.", []string{as, whole, part}, nil, nil},
		"NoPart":       {"A part that is not in the input has no entity.", []string{as, bs, whole}, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := pipeline.RunParts(t.Context(), []pipeline.Part{
				{Name: "a", Options: pipeline.Options{Source: text(tc.first...), Engine: newEngine(engine.CLI, engine.Hooks{})}},
				{Name: "b", Options: pipeline.Options{Source: text(tc.second...), Engine: newEngine(engine.CLI, engine.Hooks{})}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			refs := map[string]string{}
			for _, e := range r.Entities {
				refs["resource:"+e.Metadata.Namespace+"/"+e.Metadata.Name] = e.Metadata.Title
			}
			for _, e := range r.Entities {
				if e.Metadata.Title != "whole" {
					continue
				}
				for _, to := range e.Spec.Get("dependsOn").Strings()[1:] {
					got = append(got, refs[to])
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

package pipeline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/xrd"
)

// TestRunParts checks that two ingestors share definitions as in the service:
// the first that selects one builds its entities, even if others have a copy of
// it.
func TestRunParts(t *testing.T) {
	labelled := func(name string, labels ...string) string {
		return strings.Replace(definition(name), "metadata:\n", "metadata:\n  labels: {"+strings.Join(labels, ", ")+"}\n", 1)
	}
	const ingest, form = `example.dev/ingest: "true"`, `vendor.portal.io/generate-form: "true"`
	modern := func(text string) string {
		return strings.Replace(strings.Replace(text, "composer.io/v1", "composer.io/v2", 1), "crossplane.io/v1", "crossplane.io/v2", 1)
	}
	first := text(modern(labelled("as.example.org", ingest, form)), labelled("bs.example.org", ingest), modern(labelled("cs.example.org", "a: b")), labelled("ds.example.org", "a: b"))
	second := text(modern(labelled("as.example.org", ingest, form)), modern(labelled("cs.example.org", form)), labelled("ds.example.org", "a: b"), labelled("es.example.org", "a: b"))
	type result struct {
		Definitions []string
		TakenBy     map[string]string
		LeftBy      map[string][]string
		Refused     []string
	}
	cases := map[string]struct {
		reason   string
		fallback func(*xrd.Definition) bool
		want     result
	}{
		"Service": {"A definition that no ingestor selects is refused with the reasons of both.", nil, result{
			Definitions: []string{"as.example.org", "bs.example.org", "cs.example.org"},
			TakenBy:     map[string]string{"as.example.org": "a", "bs.example.org": "a", "cs.example.org": "b"},
			LeftBy:      map[string][]string{"as.example.org": {"b"}},
			Refused:     []string{"ds.example.org", "es.example.org"},
		}},
		"Fallback": {"With a fallback, a definition that no ingestor selects goes to the first that has it, and others stay.", func(*xrd.Definition) bool { return true }, result{
			Definitions: []string{"as.example.org", "bs.example.org", "cs.example.org", "ds.example.org", "es.example.org"},
			TakenBy:     map[string]string{"as.example.org": "a", "bs.example.org": "a", "cs.example.org": "b"},
			LeftBy:      map[string][]string{"as.example.org": {"b"}},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := pipeline.RunParts(t.Context(), []pipeline.Part{
				{Name: "a", Options: pipeline.Options{Source: first, Engine: newEngine(engine.ComposerIngestor, engine.Hooks{}), Fallback: tc.fallback}},
				{Name: "b", Options: pipeline.Options{Source: second, Engine: newEngine(engine.ClusterIngestor, engine.Hooks{}), Fallback: tc.fallback}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := result{Definitions: r.Definitions, TakenBy: r.TakenBy, LeftBy: r.LeftBy}
			for _, refused := range r.Refused {
				got.Refused = append(got.Refused, refused.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			templates := map[string]bool{}
			for _, e := range r.Entities {
				templates[e.Metadata.Name] = templates[e.Metadata.Name] || e.Kind == entity.KindTemplate
			}
			if !templates["as.example.org"] || !templates["cs.example.org-v1"] || templates["as.example.org-v1"] || templates["cs.example.org"] {
				t.Errorf("%s: Templates are %v", tc.reason, templates)
			}
		})
	}
}

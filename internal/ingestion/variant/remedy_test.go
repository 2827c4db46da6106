package variant

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// selectorOf parses a selector of labels.
func selectorOf(t *testing.T, text string) selector.Selector {
	t.Helper()
	s, err := selector.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRemedy checks that the change is the one for the reason which the variant gives.
func TestRemedy(t *testing.T) {
	t.Parallel()
	annotations, err := selector.ParseAnnotations("example.org/stage=may be used")
	if err != nil {
		t.Fatal(err)
	}
	none := engine.Profile{}
	clusters := []source.Cluster{{Name: "prod", Context: "prod admin"}, {Name: "dev"}}
	const resource = "compositeresourcedefinitions.apiextensions.crossplane.io"
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		filter  xrd.Filter
		labels  map[string]string
		cluster string
		want    *Remedy
	}{
		"Label": {
			"A required label is set by a command.", engine.ComposerIngestor, xrd.Filter{}, nil, "dev",
			&Remedy{Change: &Change{Field: "labels", Key: "openportal.dev/ingest", Value: "true"}, Command: "kubectl label " + resource + " as.example.org openportal.dev/ingest=true"},
		},
		"Context": {
			"The command names the context of the configuration, quoted for a shell.", engine.ComposerIngestor, xrd.Filter{}, nil, "prod",
			&Remedy{Change: &Change{Field: "labels", Key: "openportal.dev/ingest", Value: "true"}, Command: "kubectl label " + resource + " as.example.org openportal.dev/ingest=true --context 'prod admin'"},
		},
		"File": {
			"A file is changed by hand.", engine.ClusterIngestor, xrd.Filter{}, nil, "",
			&Remedy{Change: &Change{Field: "labels", Key: "terasky.backstage.io/generate-form", Value: "true"}},
		},
		"Selector": {
			"A label of the selector is set.", none, xrd.Filter{Labels: selectorOf(t, "team in (red,blue)")}, nil, "dev",
			&Remedy{Change: &Change{Field: "labels", Key: "team", Value: "blue"}, Command: "kubectl label " + resource + " as.example.org team=blue"},
		},
		"Remove": {
			"A label that excludes is removed.", none, xrd.Filter{Labels: selectorOf(t, "team!=red")}, map[string]string{"team": "red"}, "dev",
			&Remedy{Change: &Change{Field: "labels", Key: "team", Remove: true}, Command: "kubectl label " + resource + " as.example.org team-"},
		},
		"Annotation": {
			"An annotation is set, with quotes.", none, xrd.Filter{Annotations: annotations}, nil, "dev",
			&Remedy{Change: &Change{Field: "annotations", Key: "example.org/stage", Value: "may be used"}, Command: "kubectl annotate " + resource + " as.example.org 'example.org/stage=may be used'"},
		},
		"Excluded": {"No command helps against a setting.", none, xrd.Filter{Exclude: []string{"as.example.org"}}, nil, "dev", &Remedy{Setting: "crossplaneIngestor.xrdFilters.exclude"}},
		"Group":    {"A group that is not read is a setting, too.", none, xrd.Filter{Groups: []string{"example.com"}}, nil, "dev", &Remedy{Setting: "crossplaneIngestor.xrdFilters.groups"}},
		"Modern":   {"Nothing helps if the definition itself is of the wrong kind.", engine.Profile{Modern: true}, xrd.Filter{}, nil, "dev", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := New(&Options{Name: engine.ComposerIngestor.Name, Profile: tc.profile, Filter: tc.filter, Clusters: clusters}, "")
			d := &xrd.Definition{Group: "example.org", Scope: xrd.ScopeLegacyCluster}
			d.Name, d.Labels, d.Words, d.APIVersion = "as.example.org", tc.labels, words.Upstream, words.DefinitionV1
			if name == "File" {
				// Only this profile accepts no others.
				d.Scope, d.APIVersion = xrd.ScopeNamespaced, words.DefinitionV2
			}
			why := v.Refuse(d)
			if why == "" {
				t.Fatal("the definition is selected")
			}
			got := v.Remedy(Found{Name: d.Name, Why: why, Cluster: tc.cluster, Words: words.Upstream})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nremedy of %q (-want +got):\n%s", tc.reason, why, diff)
			}
		})
	}
}

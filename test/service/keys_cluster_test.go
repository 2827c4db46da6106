package service_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
)

// formed returns a definition that variant B ingests if the label says so.
func formed(plural, label string) string {
	return labelled(plural, "one", "terasky.backstage.io/generate-form", label)
}

// deployment returns a Deployment with an id label.
func deployment(name, id string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: default, labels: {backstage.io/kubernetes-id: %[2]s}}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: main, image: example.org/main}]}
`, name, id)
}

// shared is the API server of clusterKeys. A row may add objects that no other
// row reads, one row at a time.
var shared struct {
	mu sync.Mutex
	*apiserver.Server
}

// applyShared applies a manifest to the shared API server.
func applyShared(t *testing.T, manifest string) {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.Apply(t, manifest)
}

// formedRef returns the reference of the Template that variant B makes of a
// definition.
func formedRef(plural string) string { return template(plural) + "-v1" }

// orchestrated returns the configuration of variant B with some settings, under
// the given section names.
func orchestrated(section, locator string, settings sections) func(*testing.T, string) (sections, sections) {
	return func(*testing.T, string) (sections, sections) {
		return nil, sections{
			"composerIngestor": nil, section: settings,
			locator: sections{
				"serviceLocatorMethod":  sections{"type": "multiTenant"},
				"clusterLocatorMethods": []any{sections{"type": "config", "clusters": []any{cluster("prod", shared.Server)}}},
			},
		}
	}
}

// variantB calls orchestrated with the section names of the contract.
func variantB(settings sections) func(*testing.T, string) (sections, sections) {
	return orchestrated("clusterIngestor", "orchestrator", settings)
}

// variantA returns a configuration in which variant A reads the shared server.
func variantA(settings sections) func(*testing.T, string) (sections, sections) {
	return func(*testing.T, string) (sections, sections) {
		out := sections{"sources": nil, "clusters": []any{cluster("prod", shared.Server)}}
		maps.Copy(out, settings)
		return out, nil
	}
}

// sources checks the names of all sources.
func sources(t *testing.T, s *service, want ...string) {
	t.Helper()
	got := []string{}
	for _, source := range s.health().Sources {
		got = append(got, source.Name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("sources are %q, want %q", got, want)
	}
}

// shows waits until the catalog has an entity.
func (s *service) shows(ref string) {
	s.t.Helper()
	s.until(ref, func() error {
		if s.entity(ref) == nil {
			return fmt.Errorf("catalog does not have the entity")
		}
		return nil
	})
}

// checkScanFrequency checks that a source is scanned frequently: the time between three
// scans is short.
func checkScanFrequency(s *service, source string) {
	s.t.Helper()
	var at []time.Time
	s.until("scans of "+source, func() error {
		for _, h := range s.health().Sources {
			if h.Name == source && !slices.ContainsFunc(at, h.LastAttempt.Equal) {
				at = append(at, h.LastAttempt)
			}
		}
		for i := 2; i < len(at); i++ {
			if at[i].Sub(at[i-2]) < 9*time.Second {
				return nil
			}
		}
		return fmt.Errorf("source was scanned at %v", at)
	})
}

// clusterKeys has the keys of clusters and of variant B.
var clusterKeys = map[string]keyed{
	"Clusters": {
		reason: "Variant A reads the clusters it names, under the names given there.",
		keys:   []string{"composerIngestor.clusters", "composerIngestor.clusters[].name", "composerIngestor.clusters[].kubeconfig"},
		with:   variantA(nil),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			s.wantHealth(health.Healthy, map[string]string{"prod": health.Connected})
			sources(t, s, "composerIngestor/prod")
			if refs, err := s.refs("spec.type=crossplane-xr"); err != nil || len(refs) != 2 {
				t.Errorf("composites of all namespaces are %v (error %v), want two", refs, err)
			}
			if n := len(s.logged("call")); n != 0 {
				t.Errorf("%d calls were logged, want none", n)
			}
		},
	},
	"Namespaces": {
		reason: "Only composites in the configured namespaces are read.",
		keys:   []string{"composerIngestor.xrdFilters.namespaces"},
		with:   variantA(sections{"xrdFilters": sections{"namespaces": []any{"red"}}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			s.wantHealth(health.Healthy, nil)
			if refs, err := s.refs("spec.type=crossplane-xr"); err != nil || len(refs) != 1 || !strings.Contains(refs[0], "mine") {
				t.Errorf("composites are %v (error %v), want only mine", refs, err)
			}
		},
	},
	"Requests": {
		reason: "Every call to a cluster is logged if logging of calls is enabled.",
		keys:   []string{"composerIngestor.logging.logRequests"},
		with:   variantA(sections{"logging": sections{"logRequests": true}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			if n := len(s.logged("call")); n < 4 {
				t.Errorf("%d calls were logged, want at least 4", n)
			}
		},
	},
	"Unwatched": {
		reason: "A cluster without watches is read by scans only.",
		keys:   []string{"composerIngestor.watch"},
		with:   variantA(sections{"xrdFilters": sections{"labelSelector": "unwatched"}}),
		check: func(t *testing.T, s *service, _ string) {
			s.wantHealth(health.Healthy, map[string]string{"prod": health.Connected})
			applyShared(t, edited(definition("zetas", "one"), "labels: {", `labels: {unwatched: "yes", `))
			time.Sleep(1500 * time.Millisecond)
			s.waitForRefs("")
			s.scan("")
			s.waitForRefs("", entities("zetas")...)
		},
	},
	"VariantB": {
		reason: "Variant B makes Templates and Components of the orchestrator's clusters, and watches them.",
		keys: []string{
			"clusterIngestor.enabled", "clusterIngestor.watch", "orchestrator.clusterLocatorMethods",
			"orchestrator.clusterLocatorMethods[].clusters[].name", "orchestrator.clusterLocatorMethods[].clusters[].kubeconfig",
		},
		with: variantB(sections{}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			s.shows("component:default/shop")
			sources(t, s, "clusterIngestor/prod", "clusterIngestor/prod/workloads")
			s.wantHealth(health.Healthy, map[string]string{"prod": health.Connected})
			if s.entity(formedRef("deltas")) != nil || s.entity(template("alphas")) != nil {
				t.Error("definitions without the label were ingested")
			}
			applyShared(t, formed("etas", "true"))
			s.shows(formedRef("etas"))
		},
	},
	"VariantBOff": {
		reason: "Variant B reads nothing if it is disabled.",
		keys:   []string{"clusterIngestor.enabled"},
		with:   variantB(sections{"enabled": false}),
		check: func(t *testing.T, s *service, _ string) {
			sources(t, s)
			s.waitForRefs("")
		},
	},
	"VariantBUnwatched": {
		reason: "Without a watch, a new definition appears with the next scan.",
		keys:   []string{"clusterIngestor.watch"},
		with:   variantB(sections{"watch": false, "components": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			applyShared(t, formed("thetas", "true"))
			time.Sleep(1500 * time.Millisecond)
			if s.entity(formedRef("thetas")) != nil {
				t.Error("definition appeared without a scan, want no watch")
			}
			s.scan("clusterIngestor/prod")
			s.shows(formedRef("thetas"))
		},
	},
	"NoComponents": {
		reason: "Workloads are not read if they are disabled.",
		keys:   []string{"clusterIngestor.components.enabled"},
		with:   variantB(sections{"components": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			sources(t, s, "clusterIngestor/prod")
			s.waitForRefs("kind=component")
		},
	},
	"ComponentsOften": {
		reason: "Workloads are scanned at the configured frequency, and no other source exists.",
		keys:   []string{"clusterIngestor.components.taskRunner.frequency", "clusterIngestor.composer.xrds.enabled"},
		with: variantB(sections{
			"components": sections{"taskRunner": sections{"frequency": 1}}, "composer": sections{"xrds": sections{"enabled": false}},
		}),
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", "component:default/shop")
			sources(t, s, "clusterIngestor/prod/workloads")
			checkScanFrequency(s, "clusterIngestor/prod/workloads")
		},
	},
	"NoDefinitions": {
		reason: "Definitions are not read if every setting that concerns them is disabled.",
		keys:   []string{"clusterIngestor.composer.enabled"},
		with:   variantB(sections{"composer": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", "component:default/shop")
			sources(t, s, "clusterIngestor/prod/workloads")
		},
	},
	"All": {
		reason: "All definitions with the label are ingested unless its value is no, at the configured frequency.",
		keys: []string{
			"clusterIngestor.composer.xrds.ingestAllXRDs", "clusterIngestor.composer.xrds.generateDayTwoTemplates",
			"clusterIngestor.composer.xrds.taskRunner.frequency",
		},
		with: variantB(sections{
			"watch": false, "components": sections{"enabled": false},
			"composer": sections{"xrds": sections{"ingestAllXRDs": true, "generateDayTwoTemplates": true, "taskRunner": sections{"frequency": 1}}},
		}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			s.shows(formedRef("gammas") + "-update")
			s.shows(formedRef("gammas") + "-delete")
			s.shows(formedRef("deltas"))
			if s.entity(formedRef("epsilons")) != nil {
				t.Error("definition whose label says no was ingested")
			}
			checkScanFrequency(s, "clusterIngestor/prod")
		},
	},
	"OtherNames": {
		reason: "The sections of variant B have a name in each vocabulary.",
		keys:   []string{"kubernetesIngestor", "kubernetes", "clusterIngestor.crossplane"},
		with: orchestrated("kubernetesIngestor", "kubernetes", sections{
			"components": sections{"enabled": false}, "crossplane": sections{"xrds": sections{"ingestAllXRDs": true}},
		}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			s.shows(formedRef("deltas"))
			var clusters struct{ Items []ingest.Cluster }
			if _, err := s.ask(http.MethodGet, "/api/kubernetes/clusters", nil, &clusters); err != nil || len(clusters.Items) != 1 || clusters.Items[0].Name != "prod" {
				t.Errorf("clusters are %+v (error %v), want prod", clusters, err)
			}
		},
	},
}

func TestClusterKeys(t *testing.T) {
	t.Parallel()
	shared.Server = apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{
		definition("alphas", "one"), formed("gammas", "true"), formed("deltas", "yes"), formed("epsilons", "false"),
		deployment("web", "shop"),
	}})
	shared.Apply(t,
		edited(composite("mine", "alphas"), "namespace: default", "namespace: red"),
		edited(composite("yours", "alphas"), "namespace: default", "namespace: blue"))
	for name, row := range clusterKeys {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(row.reason)
			s, dir := row.start(t)
			row.check(t, s, dir)
		})
	}
}

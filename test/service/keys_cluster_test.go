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

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
)

// formed is a definition that variant B takes if the label says so.
func formed(plural, label string) string {
	return labelled(plural, "one", "terasky.backstage.io/generate-form", label)
}

// deployment is a workload with an id.
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

// shared is the API server of clusterKeys. Rows may add to it what no other row
// looks for, one at a time.
var shared struct {
	mu sync.Mutex
	*apiserver.Server
}

// adds applies a manifest to shared.
func adds(t *testing.T, manifest string) {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.Apply(t, manifest)
}

// formedRef is the Template that variant B makes of a definition.
func formedRef(plural string) string { return template(plural) + "-v1" }

// orchestrated is the configuration of variant B, with settings of it, under
// these names of its sections.
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

// variantB is orchestrated with the contract's names.
func variantB(settings sections) func(*testing.T, string) (sections, sections) {
	return orchestrated("clusterIngestor", "orchestrator", settings)
}

// variantA reads the shared server with settings of variant A.
func variantA(settings sections) func(*testing.T, string) (sections, sections) {
	return func(*testing.T, string) (sections, sections) {
		out := sections{"sources": nil, "clusters": []any{cluster("prod", shared.Server)}}
		maps.Copy(out, settings)
		return out, nil
	}
}

// sources checks which sources there are.
func sources(t *testing.T, s *service, want ...string) {
	t.Helper()
	got := []string{}
	for _, source := range s.health().Sources {
		got = append(got, source.Name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the sources are %q, want %q", got, want)
	}
}

// shows waits until an entity is there.
func (s *service) shows(ref string) {
	s.t.Helper()
	s.until(ref, func() error {
		if s.entity(ref) == nil {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
}

// often checks that a source is scanned often: three scans are not far apart.
func often(s *service, source string) {
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
		return fmt.Errorf("it was scanned at %v", at)
	})
}

// clusterKeys are those of clusters, and of variant B.
var clusterKeys = map[string]keyed{
	"Clusters": {
		reason: "The clusters of variant A are those it names, as they are called there.",
		keys:   []string{"composerIngestor.clusters", "composerIngestor.clusters[].name", "composerIngestor.clusters[].kubeconfig"},
		with:   variantA(nil),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			s.fares(ingest.Healthy, map[string]string{"prod": ingest.Connected})
			sources(t, s, "composerIngestor/prod")
			if refs, err := s.refs("spec.type=crossplane-xr"); err != nil || len(refs) != 2 {
				t.Errorf("the composites of all namespaces are %v, %v", refs, err)
			}
			if n := len(s.logged("call")); n != 0 {
				t.Errorf("%d calls were logged", n)
			}
		},
	},
	"Namespaces": {
		reason: "Only composites of the namespaces are read.",
		keys:   []string{"composerIngestor.xrdFilters.namespaces"},
		with:   variantA(sections{"xrdFilters": sections{"namespaces": []any{"red"}}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			s.fares(ingest.Healthy, nil)
			if refs, err := s.refs("spec.type=crossplane-xr"); err != nil || len(refs) != 1 || !strings.Contains(refs[0], "mine") {
				t.Errorf("the composites are %v, %v", refs, err)
			}
		},
	},
	"Requests": {
		reason: "Every call to a cluster is logged if that is wanted.",
		keys:   []string{"composerIngestor.logging.logRequests"},
		with:   variantA(sections{"logging": sections{"logRequests": true}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(template("alphas"))
			if n := len(s.logged("call")); n < 4 {
				t.Errorf("%d calls were logged", n)
			}
		},
	},
	"Unwatched": {
		reason: "A cluster that is not watched is read by scans alone.",
		keys:   []string{"composerIngestor.watch"},
		with:   variantA(sections{"xrdFilters": sections{"labelSelector": "unwatched"}}),
		check: func(t *testing.T, s *service, _ string) {
			s.fares(ingest.Healthy, map[string]string{"prod": ingest.Connected})
			adds(t, edited(definition("zetas", "one"), "labels: {", `labels: {unwatched: "yes", `))
			time.Sleep(1500 * time.Millisecond)
			s.wants("")
			s.scan("")
			s.wants("", entities("zetas")...)
		},
	},
	"VariantB": {
		reason: "Variant B makes Templates and Components of the clusters of the orchestrator, and watches them.",
		keys: []string{
			"clusterIngestor.enabled", "clusterIngestor.watch", "orchestrator.clusterLocatorMethods",
			"orchestrator.clusterLocatorMethods[].clusters[].name", "orchestrator.clusterLocatorMethods[].clusters[].kubeconfig",
		},
		with: variantB(sections{}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			s.shows("component:default/shop")
			sources(t, s, "clusterIngestor/prod", "clusterIngestor/prod/workloads")
			s.fares(ingest.Healthy, map[string]string{"prod": ingest.Connected})
			if s.entity(formedRef("deltas")) != nil || s.entity(template("alphas")) != nil {
				t.Error("definitions are taken that have not the label")
			}
			adds(t, formed("etas", "true"))
			s.shows(formedRef("etas"))
		},
	},
	"VariantBOff": {
		reason: "Switched off, variant B reads nothing.",
		keys:   []string{"clusterIngestor.enabled"},
		with:   variantB(sections{"enabled": false}),
		check: func(t *testing.T, s *service, _ string) {
			sources(t, s)
			s.wants("")
		},
	},
	"VariantBUnwatched": {
		reason: "Unwatched, a definition waits for a scan.",
		keys:   []string{"clusterIngestor.watch"},
		with:   variantB(sections{"watch": false, "components": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			adds(t, formed("thetas", "true"))
			time.Sleep(1500 * time.Millisecond)
			if s.entity(formedRef("thetas")) != nil {
				t.Error("it was watched")
			}
			s.scan("clusterIngestor/prod")
			s.shows(formedRef("thetas"))
		},
	},
	"NoComponents": {
		reason: "Workloads are left alone if that is wanted.",
		keys:   []string{"clusterIngestor.components.enabled"},
		with:   variantB(sections{"components": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			sources(t, s, "clusterIngestor/prod")
			s.wants("kind=component")
		},
	},
	"ComponentsOften": {
		reason: "Workloads are read as often as the configuration says, and none else.",
		keys:   []string{"clusterIngestor.components.taskRunner.frequency", "clusterIngestor.composer.xrds.enabled"},
		with: variantB(sections{
			"components": sections{"taskRunner": sections{"frequency": 1}}, "composer": sections{"xrds": sections{"enabled": false}},
		}),
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", "component:default/shop")
			sources(t, s, "clusterIngestor/prod/workloads")
			often(s, "clusterIngestor/prod/workloads")
		},
	},
	"NoDefinitions": {
		reason: "Definitions are left alone if all that has to do with them is switched off.",
		keys:   []string{"clusterIngestor.composer.enabled"},
		with:   variantB(sections{"composer": sections{"enabled": false}}),
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", "component:default/shop")
			sources(t, s, "clusterIngestor/prod/workloads")
		},
	},
	"All": {
		reason: "All definitions that have the label are taken, whatever it says but no; and as often as the configuration says.",
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
				t.Error("one is taken whose label says no")
			}
			often(s, "clusterIngestor/prod")
		},
	},
	"OtherNames": {
		reason: "The sections of variant B have names in each vocabulary.",
		keys:   []string{"kubernetesIngestor", "kubernetes", "clusterIngestor.crossplane"},
		with: orchestrated("kubernetesIngestor", "kubernetes", sections{
			"components": sections{"enabled": false}, "crossplane": sections{"xrds": sections{"ingestAllXRDs": true}},
		}),
		check: func(t *testing.T, s *service, _ string) {
			s.shows(formedRef("gammas"))
			s.shows(formedRef("deltas"))
			var clusters struct{ Items []ingest.Cluster }
			if _, err := s.ask(http.MethodGet, "/api/kubernetes/clusters", nil, &clusters); err != nil || len(clusters.Items) != 1 || clusters.Items[0].Name != "prod" {
				t.Errorf("the clusters are %+v, %v", clusters, err)
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

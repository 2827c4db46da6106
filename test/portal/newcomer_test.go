package portal_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.dev/ingestor/internal/config"
)

// shipped returns the path of a configuration that comes with the programs.
func shipped(name string) string { return filepath.Join("..", "..", name) }

// TestNewcomer starts the portal as `make run` does, but for its port and its
// database, and wants the examples in it.
func TestNewcomer(t *testing.T) {
	w := start(t, setup{under: []string{shipped("app-config.yaml")}, sections: map[string]any{"catalog": map[string]any{}}})
	var health struct {
		Status            string
		EntitiesGenerated int
	}
	w.until("the examples are in the catalog", func() bool {
		w.get("/api/composer-ingestor/health", &health)
		return health.EntitiesGenerated >= 37 && health.Status == "healthy" && w.there("component/default/checkout")
	})
	if health.EntitiesGenerated != 37 {
		t.Errorf("there are %d entities, and the README says 37", health.EntitiesGenerated)
	}
	var page struct{ TotalItems int }
	if w.get("/api/catalog/entities/by-query?filter=kind=template&limit=0", &page); page.TotalItems != 11 {
		t.Errorf("there are %d Templates, and the README says 11", page.TotalItems)
	}
}

// TestGuestOfNewcomer does what somebody does who has just started the portal
// and signed in nowhere: with the rule of the configuration all of it works, and
// without nothing does.
func TestGuestOfNewcomer(t *testing.T) {
	const bucket = `{"templateRef": "template:default/buckets.storage.example.org", "values": {"name": "invoices", "namespace": "default", "region": "eu-west-1"}}`
	cases := map[string]struct {
		reason   string
		sections map[string]any
		allowed  bool
	}{
		"Shipped": {"on one's own machine nobody needs to sign in", nil, true},
		"TakenOut": {"where others come, guests only look",
			map[string]any{"permission": map[string]any{"rules": []any{}}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sections := map[string]any{"catalog": map[string]any{}}
			maps.Copy(sections, tc.sections)
			w := start(t, setup{under: []string{shipped("app-config.yaml")}, sections: sections})
			var session struct{ BackstageIdentity struct{ Token string } }
			w.want(call{method: "POST", path: "/api/auth/guest/refresh", token: nobody, body: "{}"}, http.StatusOK, &session)
			guest := session.BackstageIdentity.Token
			w.until("the Template is there", func() bool { return w.there("template/default/buckets.storage.example.org") })

			create := call{method: "POST", path: scaffolding + "/tasks", token: guest, body: bucket}
			scan := call{method: "POST", path: "/api/composer-ingestor/runs", token: guest, body: "{}"}
			if !tc.allowed {
				for _, x := range []call{create, scan, {path: scaffolding + "/tasks", token: guest}} {
					w.want(x, http.StatusForbidden, nil)
				}
				return
			}
			w.want(scan, http.StatusAccepted, nil)
			var made struct{ ID string }
			w.want(create, http.StatusCreated, &made)
			task := scaffolding + "/tasks/" + made.ID
			stream := w.want(call{path: task + "/eventstream", token: guest}, http.StatusOK, nil)
			if !strings.Contains(string(stream.body), "make run-cluster") {
				t.Errorf("%s: without a cluster the log names no way out: %s", tc.reason, stream.body)
			}
			var list struct{ Tasks []struct{ ID, Status string } }
			w.want(call{path: scaffolding + "/tasks", token: guest}, http.StatusOK, &list)
			if len(list.Tasks) != 1 || list.Tasks[0].ID != made.ID || list.Tasks[0].Status != "failed" {
				t.Errorf("%s: the tasks are %v, want the one that failed", tc.reason, list.Tasks)
			}
			w.want(call{method: "POST", path: task + "/retry", token: guest, body: "{}"}, http.StatusCreated, nil)
			w.want(call{method: "POST", path: task + "/cancel", token: guest}, http.StatusOK, nil)
			// The clusters that there are to write to: the page tells beforehand that there is none.
			var offers struct{ Results []any }
			w.want(call{method: "POST", path: scaffolding + "/autocomplete/cluster/clusters", token: guest, body: "{}"}, http.StatusOK, &offers)
			if len(offers.Results) != 0 {
				t.Errorf("%s: there are clusters %v", tc.reason, offers.Results)
			}
		})
	}
}

// TestNamespacesOfNewcomer wants the namespaces that the forms of the examples
// propose to be in the cluster of `make run-cluster`: otherwise the first thing a
// newcomer meets is a refusal.
func TestNamespacesOfNewcomer(t *testing.T) {
	made, err := os.ReadFile(shipped("examples/cluster/namespaces.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob(shipped("examples/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	proposed := 0
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`/default-namespace: (\S+)`).FindAllSubmatch(text, -1) {
			proposed++
			if !strings.Contains(string(made), "{ name: "+string(m[1])+" }") {
				t.Errorf("%s proposes the namespace %s, which nobody makes", path, m[1])
			}
		}
	}
	if proposed == 0 {
		t.Error("no example proposes a namespace")
	}
}

// TestShippedConfiguration wants the configuration of `make run-cluster` to be
// without a mistake.
func TestShippedConfiguration(t *testing.T) {
	cfg, findings := config.Load([]string{shipped("app-config.yaml"), shipped("app-config.cluster.yaml")}, config.Options{})
	for _, f := range findings {
		t.Errorf("%s:%d: %s", f.File, f.Pos.Line, f.Message)
	}
	if len(cfg.Composer.Sources) != 0 || len(cfg.Composer.Clusters) != 1 || len(cfg.Orchestrator.Clusters) != 1 || !cfg.ClusterIngestor.Enabled {
		t.Errorf("it reads one cluster, with both variants, and no folder: %+v", cfg.Composer)
	}
}

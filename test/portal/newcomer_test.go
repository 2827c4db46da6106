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

// shipped returns the path of a configuration file of the repository.
func shipped(name string) string { return filepath.Join("..", "..", name) }

// TestNewcomer starts the portal like `make run`, except for its port and its
// database, and checks that it ingests the examples.
func TestNewcomer(t *testing.T) {
	w := start(t, setup{under: []string{shipped("app-config.yaml")}, sections: map[string]any{"catalog": map[string]any{}}})
	var health struct {
		Status            string
		EntitiesGenerated int
	}
	w.until("the examples are in the catalog", func() bool {
		w.get("/api/composer-ingestor/health", &health)
		return health.EntitiesGenerated >= 37 && health.Status == "healthy" && w.exists("component/default/checkout")
	})
	if health.EntitiesGenerated != 37 {
		t.Errorf("catalog has %d entities, and the README says 37", health.EntitiesGenerated)
	}
	var page struct{ TotalItems int }
	if w.get("/api/catalog/entities/by-query?filter=kind=template&limit=0", &page); page.TotalItems != 11 {
		t.Errorf("catalog has %d Templates, and the README says 11", page.TotalItems)
	}
}

// TestGuestOfNewcomer checks what a guest can do right after the first start,
// without signing in: everything with the rule of the shipped configuration,
// and only reading without it.
func TestGuestOfNewcomer(t *testing.T) {
	const bucket = `{"templateRef": "template:default/buckets.storage.example.org", "values": {"name": "invoices", "namespace": "default", "region": "eu-west-1"}}`
	cases := map[string]struct {
		reason   string
		sections map[string]any
		allowed  bool
	}{
		"Shipped": {"With the shipped configuration for a local machine, guests may do everything.", nil, true},
		"TakenOut": {"Without the rule, guests may only read.",
			map[string]any{"permission": map[string]any{"rules": []any{}}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sections := map[string]any{"catalog": map[string]any{}}
			maps.Copy(sections, tc.sections)
			w := start(t, setup{under: []string{shipped("app-config.yaml")}, sections: sections})
			var session struct{ BackstageIdentity struct{ Token string } }
			w.want(call{method: "POST", path: "/api/auth/guest/refresh", token: noToken, body: "{}"}, http.StatusOK, &session)
			guest := session.BackstageIdentity.Token
			w.until("the Template is there", func() bool { return w.exists("template/default/buckets.storage.example.org") })

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
				t.Errorf("%s: log of the failed task has no hint to make run-cluster: %s", tc.reason, stream.body)
			}
			var list struct{ Tasks []struct{ ID, Status string } }
			w.want(call{path: scaffolding + "/tasks", token: guest}, http.StatusOK, &list)
			if len(list.Tasks) != 1 || list.Tasks[0].ID != made.ID || list.Tasks[0].Status != "failed" {
				t.Errorf("%s: tasks are %v, want the failed one", tc.reason, list.Tasks)
			}
			w.want(call{method: "POST", path: task + "/retry", token: guest, body: "{}"}, http.StatusCreated, nil)
			w.want(call{method: "POST", path: task + "/cancel", token: guest}, http.StatusOK, nil)
			// The form gets the list of clusters, so that it can show that
			// there is none.
			var offers struct{ Results []any }
			w.want(call{method: "POST", path: scaffolding + "/autocomplete/cluster/clusters", token: guest, body: "{}"}, http.StatusOK, &offers)
			if len(offers.Results) != 0 {
				t.Errorf("%s: clusters are %v, want none", tc.reason, offers.Results)
			}
		})
	}
}

// TestNamespacesOfNewcomer checks that the cluster of `make run-cluster` has
// the default namespaces of the example forms. Otherwise the first task of a
// new user would fail.
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
				t.Errorf("default namespace of %s is %s, which is not created", path, m[1])
			}
		}
	}
	if proposed == 0 {
		t.Error("no example has a default namespace")
	}
}

// TestShippedConfiguration checks that the configuration of `make run-cluster`
// has no findings.
func TestShippedConfiguration(t *testing.T) {
	cfg, findings := config.Load([]string{shipped("app-config.yaml"), shipped("app-config.cluster.yaml")}, config.Options{})
	for _, f := range findings {
		t.Errorf("%s:%d: %s", f.File, f.Pos.Line, f.Message)
	}
	if len(cfg.Composer.Sources) != 0 || len(cfg.Composer.Clusters) != 1 || len(cfg.Orchestrator.Clusters) != 1 || !cfg.ClusterIngestor.Enabled {
		t.Errorf("configuration is %+v, want one cluster for both variants and no folder", cfg.Composer)
	}
}

package service_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/test/apiserver"
)

// twoVersions is a definition with a deprecated version and a new one.
var twoVersions = strings.Replace(definition("alphas", "size"), "  versions:\n    - name: v1\n      served: true\n      referenceable: true\n", `  versions:
    - name: v1
      served: true
      referenceable: false
      deprecated: true
      deprecationWarning: use v2
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {type: string}
                color: {type: string}
    - name: v2
      served: true
      referenceable: true
`, 1)

// applied writes an object in a version, as a field manager.
func applied(t *testing.T, c *apiserver.Server, version, manager, name string) {
	t.Helper()
	body := fmt.Sprintf("apiVersion: %s/%s\nkind: Xalpha\nmetadata: {name: %s, namespace: default}\nspec: {size: large}\n", group, version, name)
	path := fmt.Sprintf("%s/apis/%s/%s/namespaces/default/alphas/%s?fieldManager=%s&force=true", c.URL, group, version, name, manager)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	res, err := c.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= 300 {
		t.Fatalf("cannot apply %s: %d %s", name, res.StatusCode, text)
	}
}

// TestVersions compares the versions of a definition, finds the resource that is written in
// the old one, and moves it with the update form of the new one.
func TestVersions(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{twoVersions}})
	for _, o := range []struct{ version, manager, name string }{
		{"v1", "portal", "old"}, {"v2", "kubectl", "new"}, {"v1", "kubectl", "moved"}, {"v2", "kubectl", "moved"},
		// Crossplane's own writes do not count, and what a Composition writes is marked.
		{"v2", "apiextensions.crossplane.io/composite", "old"}, {"v1", "apiextensions.crossplane.io/composed/abc", "part"},
	} {
		applied(t, c, o.version, o.manager, o.name)
	}
	s := start(t, setup{sections: composer(sections{"generateDayTwoTemplates": true}, cluster("prod", c))})
	s.composites(4)
	at := "/api/composer-ingestor/versions/resource/default/alphas." + group + "-xrd"

	var versions struct {
		Preferred string
		Versions  []struct {
			Name       string
			Deprecated bool
			Warning    string
		}
		Changes []struct{ Rule, Field, Severity string }
	}
	if _, err := s.get(at+"?from=v1&to=v2", &versions); err != nil {
		t.Fatal(err)
	}
	if versions.Preferred != "v2" || len(versions.Versions) != 2 || versions.Versions[0].Name != "v2" || !versions.Versions[1].Deprecated || versions.Versions[1].Warning != "use v2" {
		t.Errorf("versions are %+v", versions)
	}
	if len(versions.Changes) == 0 || versions.Changes[0].Rule != "DIF020" || versions.Changes[0].Field != "spec.color" || versions.Changes[0].Severity != "error" {
		t.Errorf("changes are %+v, want the removed field first", versions.Changes)
	}
	for query, want := range map[string]int{"?from=v1": 400, "?from=v1&to=v9": 404} {
		if status, _ := s.get(at+query, nil); status != want {
			t.Errorf("%s returned %d, want %d", query, status, want)
		}
	}

	usage := func() (out change.Usage) {
		t.Helper()
		if _, err := s.get(at+"/resources", &out); err != nil {
			t.Fatal(err)
		}
		for i := range out.Resources {
			// The name of an entity ends with a hash.
			out.Resources[i].Entity, _, _ = strings.Cut(out.Resources[i].Entity, "-")
		}
		return out
	}
	prod := []string{"prod"}
	part := change.Written{Entity: "resource:default/part", Cluster: "prod", Kind: "Xalpha", Namespace: "default", Name: "part", Version: "v1", Composed: true}
	old := change.Written{Entity: "resource:default/old", Cluster: "prod", Kind: "Xalpha", Namespace: "default", Name: "old", Version: "v1"}
	want := change.Usage{
		Preferred: "v2", Kind: "Xalpha", Versions: []change.UsageItem{{Version: "v2", Count: 2, Clusters: prod}, {Version: "v1", Count: 2, Clusters: prod}},
		Resources: []change.Written{old, part}, Incomplete: []string{},
	}
	if diff := cmp.Diff(want, usage()); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}

	if _, err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(fmt.Sprintf(
		`{"templateRef":"template:default/alphas.%s-update","values":{"name":"old","namespace":"default","size":"large"}}`, group)), nil); err != nil {
		t.Fatal(err)
	}
	want.Versions = []change.UsageItem{{Version: "v2", Count: 3, Clusters: prod}, {Version: "v1", Count: 1, Clusters: prod}}
	want.Resources = []change.Written{part}
	s.until("the resource in its new version", func() error {
		if diff := cmp.Diff(want, usage()); diff != "" {
			return fmt.Errorf("usage (-want +got):\n%s", diff)
		}
		return nil
	})
}

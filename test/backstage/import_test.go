package backstage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/internal/cli/provide/migration"
	"example.dev/ingestor/test/process"
)

// backstageToken is the token of a service in Backstage.
const backstageToken = "a-static-token-of-backstage-4711"

// movedEntities are entities that Backstage has from its disk, and that are imported: a
// user, and three as kubernetes-ingestor makes them.
const movedEntities = `
---
apiVersion: backstage.io/v1alpha1
kind: User
metadata: { name: ada }
spec: { profile: { email: ada@example.org }, memberOf: [platform] }
---
apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata:
  name: buckets.storage.example.org-v1
  title: Bucket
  labels: { forEntity: system, source: crossplane }
  tags: [crossplane, "cluster:dev"]
  annotations: { terasky.backstage.io/crossplane-version: v2, terasky.backstage.io/crossplane-scope: Namespaced }
spec:
  type: buckets.storage.example.org
  parameters: []
  steps: [{ id: generateManifest, name: Generate, action: "terasky:claim-template", input: {} }]
---
apiVersion: backstage.io/v1alpha1
kind: API
metadata: { name: bucket-storage.example.org--v1, tags: [crossplane] }
spec: { type: openapi, lifecycle: production, owner: kubernetes-auto-ingested, definition: "openapi: 3.0.0" }
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: invoices-dev
  tags: ["cluster:dev", "kind:bucket"]
  annotations:
    backstage.io/kubernetes-cluster: dev
    backstage.io/kubernetes-label-selector: crossplane.io/composite=invoices
    terasky.backstage.io/crossplane-version: v2
    terasky.backstage.io/crossplane-scope: Namespaced
    terasky.backstage.io/composite-kind: Bucket
    terasky.backstage.io/composite-name: invoices
    terasky.backstage.io/composite-namespace: team
    terasky.backstage.io/composite-group: storage.example.org
    terasky.backstage.io/composite-version: v1
    terasky.backstage.io/component-type: crossplane-xr
    terasky.backstage.io/owner: platform
spec: { type: crossplane-xr, lifecycle: production, owner: platform, consumesApis: [default/Bucket-storage.example.org--v1] }
`

// sharedEntities are in a file that both Backstage and the portal can read.
const sharedEntities = `
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: { name: ledger }
spec: { type: service, lifecycle: production, owner: platform, dependsOn: ["component:default/invoices-dev"] }
`

// provide runs portal-provide with this Backstage and a portal, and decodes its report.
func (w *world) provide(t *testing.T, to string, report any, args ...string) {
	t.Helper()
	var out, notes bytes.Buffer
	env := &app.Env{
		Args: append(args, "--from", w.backstage, "--api-url", to, "--output-format", "json"), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"PORTAL_TOKEN": portalToken, "BACKSTAGE_TOKEN": backstageToken}[name]
		},
	}
	code := app.Run(t.Context(), provide.Name, env, provide.Run)
	if err := json.Unmarshal(out.Bytes(), report); err != nil || code != 0 {
		t.Fatalf("%q returned exit code %d (%v):\n%s%s", args, code, err, out.String(), notes.String())
	}
}

// emptyPortal starts a portal with an empty catalog that may read the file of the tests.
func (w *world) emptyPortal(t *testing.T) *world {
	t.Helper()
	other := &world{t: t, portal: freeAddress(t), log: &process.Log{}}
	dir := t.TempDir()
	other.config = loaded(t, filepath.Join(dir, "app-config.yaml"), object{
		"backend": object{
			"baseUrl": other.portal, "listen": strings.TrimPrefix(other.portal, "http://"),
			"database": object{"client": "sqlite", "connection": object{"filename": filepath.Join(dir, "portal.sqlite")}},
			"auth":     object{"externalAccess": []object{{"type": "static", "options": object{"token": portalToken, "subject": "test"}}}},
			"reading":  object{"allow": []object{{"host": strings.TrimPrefix(w.files, "http://")}}},
		},
		"auth":    object{"providers": object{}, "membership": object{"providers": []string{"backstage-import"}}},
		"catalog": object{"locationTypes": []string{"url"}, "rules": []object{{"allow": []string{"Component", "Location"}}}},
	})
	other.up()
	until(t, "the empty portal is ready", func() error {
		resp, err := http.Get(other.portal + "/health/ready")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("returned %s", resp.Status)
		}
		return nil
	})
	return other
}

// testImport moves the catalog of Backstage to another portal.
func (w *world) testImport(t *testing.T) {
	until(t, "Backstage reads the file", func() error {
		err := w.ask(http.MethodPost, "/api/catalog/locations", object{"type": "url", "target": w.files + "/catalog-info.yaml"}, nil)
		if err != nil && !strings.Contains(err.Error(), "already exists") {
			return err
		}
		found, err := w.entities("kind=component,metadata.name=ledger")
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d entities", len(found))
		}
		return err
	})
	other := w.emptyPortal(t)
	tasks := filepath.Join(t.TempDir(), "tasks.ndjson")
	var first, second migration.ImportReport
	w.provide(t, other.portal, &first, "import", "--tasks", tasks)
	reasons := map[string]int{}
	for _, n := range first.LeftOut {
		reasons[n.Reason]++
	}
	if reasons["comes from portal portal"] < 53 || reasons[`uses action "terasky:claim-template", which the portal does not have`] != 1 {
		t.Errorf("left out are %v", reasons)
	}
	// The System, the User, and of kubernetes-ingestor the API and the Component.
	if first.Registered != 1 || first.Push == nil || first.Push.Added != 4 {
		t.Errorf("the import returned %+v and %+v", first, first.Push)
	}
	want := []string{"API bucket-storage.example.org--v1", "Component invoices-dev", "Component ledger", "System data", "User ada"}
	until(t, "the entities arrive", func() error {
		got := slices.DeleteFunc(other.feed(), func(ref string) bool { return strings.HasPrefix(ref, "Location ") })
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
	history, err := os.ReadFile(tasks)
	if err != nil || *first.Tasks == 0 || strings.Count(string(history), "\n") != *first.Tasks || !strings.Contains(string(history), `"template":"template:default/buckets.storage.example.org"`) ||
		!strings.Contains(string(history), `"user":"`+user+`"`) || strings.Contains(string(history), "eu-west-1") {
		t.Errorf("%d tasks (%v):\n%s", *first.Tasks, err, history)
	}
	w.provide(t, other.portal, &second, "import")
	if diff := cmp.Diff(&migration.Changes{Unchanged: 4}, second.Push); diff != "" || second.Registered != 0 || *second.Tasks != *first.Tasks {
		t.Errorf("the second import registered %d locations: -want +got:\n%s", second.Registered, diff)
	}
}

// testCompare compares the entities of kubernetes-ingestor with those of the portal, which
// reads the same cluster.
func (w *world) testCompare(t *testing.T) {
	found, err := w.entities(ofTeam)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	bucket := "resource:default/" + found[0].Metadata.Name
	var c migration.Comparison
	w.provide(t, w.portal, &c, "compare")
	got := map[string]string{}
	for _, m := range c.Entities {
		got[m.Ref] = m.Becomes
	}
	if diff := cmp.Diff(map[string]string{
		"template:default/buckets.storage.example.org-v1": "template:default/buckets.storage.example.org",
		"api:default/bucket-storage.example.org--v1":      "api:default/buckets.storage.example.org-api",
		"component:default/invoices-dev":                  bucket,
	}, got); diff != "" {
		t.Errorf("entities: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]migration.Reference{{Entity: "component:default/ledger", Field: "dependsOn", Ref: "component:default/invoices-dev", Becomes: bucket}}, c.References); diff != "" {
		t.Errorf("references: -want +got:\n%s", diff)
	}
}

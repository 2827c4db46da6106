package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide/migration"
)

// ingested adds an entity as kubernetes-ingestor makes it of a cluster named prod, with
// annotations of its prefix.
func (b *backstage) ingested(kind, name, metadata, spec string, annotations ...string) {
	all := []string{`"backstage.io/managed-by-location":"cluster origin: prod"`, `"backstage.io/managed-by-origin-location":"cluster origin: prod"`}
	for _, a := range annotations {
		key, value, _ := strings.Cut(a, "=")
		if !strings.Contains(key, "/") {
			key = "terasky.backstage.io/" + key
		}
		all = append(all, fmt.Sprintf("%q:%q", key, value))
	}
	b.entities = append(b.entities, fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":%q,"metadata":{"name":%q,"namespace":"default",%s"annotations":{%s}},"spec":{%s}}`,
		kind, name, metadata, strings.Join(all, ","), spec))
}

// withIngestor returns a Backstage with an entity of kubernetes-ingestor for each case, and
// others that refer to them.
func withIngestor(t *testing.T) *backstage {
	b := newBackstage(t)
	// The API comes before the Template that tells its XRD.
	b.ingested("API", "bucket-storage.example.org--v1", `"tags":["crossplane"],`, `"type":"openapi"`)
	b.ingested("Template", "buckets.storage.example.org-v1", `"title":"Bucket","tags":["crossplane","cluster:prod"],"labels":{"source":"crossplane"},`, `"type":"buckets.storage.example.org"`,
		"crossplane-version=v2", "crossplane-scope=Namespaced")
	b.ingested("API", "queue-mq.example.org--v1", `"tags":["crossplane"],`, `"type":"openapi"`)
	b.ingested("Component", "invoices-prod", `"tags":["cluster:prod","kind:bucket"],`, `"type":"crossplane-xr"`, "crossplane-scope=Namespaced", "composite-kind=Bucket", "composite-name=invoices",
		"composite-namespace=team", "composite-group=storage.example.org", "component-type=crossplane-xr", "owner=team", "dependsOn=component:default/shop")
	b.ingested("Component", "claimed", "", `"type":"crossplane-claim"`, "claim-name=claimed", "claim-kind=Bucket", "claim-group=storage.example.org", "component-type=crossplane-claim",
		"backstage.io/kubernetes-label-selector=crossplane.io/claim-name=claimed,crossplane.io/claim-namespace=elsewhere")
	b.ingested("Component", "shop", `"links":[{"url":"https://shop.example.org"}],`, `"type":"service"`, "kubernetes-resource-kind=Deployment", "kubernetes-resource-name=shop-v2", "owner=team",
		"component-type=website", "backstage.io/kubernetes-label-selector=app=shop,backstage.io/kubernetes-id=shop")
	b.ingested("Component", "proxy", "", `"type":"service"`, "kubernetes-resource-kind=Deployment", "kubernetes-resource-name=proxy")
	b.ingested("System", "team", "", `"type":"kubernetes-namespace"`)
	b.ingested("Component", "graph", "", `"type":"kro-instance"`, "kro-instance-name=graph")
	b.has("Component", "checkout", "url:https://git.example.org/catalog-info.yaml", `"spec":{"type":"x","lifecycle":"x","owner":"team","system":"team","dependsOn":["component:invoices-prod","component:shop"],`+
		`"consumesApis":["bucket-storage.example.org--v1"]}`)
	last := len(b.entities) - 1
	b.entities[last] = strings.Replace(b.entities[last], `"namespace":"default",`,
		`"namespace":"default","links":[{"url":"/create/templates/default/buckets.storage.example.org-v1"},{"url":"https://backstage.example.org/catalog/default/component/shop"}],`, 1)
	return b
}

// withBuckets returns a portal that has ingested the XRD of buckets, and a bucket.
func withBuckets(t *testing.T) *world {
	dir := t.TempDir()
	definition, err := os.ReadFile("../../examples/bucket.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bucket := "\n---\napiVersion: storage.example.org/v1\nkind: Bucket\nmetadata: { name: invoices, namespace: team }\nspec: { region: eu-west-1 }\n"
	if err := os.WriteFile(filepath.Join(dir, "bucket.yaml"), append(definition, bucket...), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{sections: map[string]any{"crossplaneIngestor": map[string]any{
		"sources": []any{map[string]any{"name": "files", "type": "file", "path": dir}},
	}}})
	w.push("other", strings.Replace(component("shop"), `"name":"shop"`, `"name":"shop","annotations":{"backstage.io/kubernetes-id":"shop"}`, 1))
	w.until("the definition is ingested", func() bool {
		var found []json.RawMessage
		w.get("/api/catalog/entities?filter=spec.type=crossplane-xr", &found)
		return len(found) == 1 && w.exists("template/default/buckets.storage.example.org")
	})
	return w
}

// TestCompare compares the two by what entities stand for, and changes neither.
func TestCompare(t *testing.T) {
	b, w := withIngestor(t), withBuckets(t)
	b.instead = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s could change Backstage", r.Method, r.URL)
		}
		return false
	}
	var found []struct{ Metadata struct{ Name string } }
	w.get("/api/catalog/entities?filter=spec.type=crossplane-xr", &found)
	invoices, before := "resource:default/"+found[0].Metadata.Name, w.total()
	got := b.provide(t, w.base, "compare", "--output-format", "json")
	var c migration.Comparison
	if err := json.Unmarshal([]byte(got.out), &c); err != nil || got.code != 0 {
		t.Fatalf("compare returned %+v (%v)", got, err)
	}
	want := map[string]string{
		"api:default/bucket-storage.example.org--v1":      "renamed api:default/buckets.storage.example.org-api",
		"template:default/buckets.storage.example.org-v1": "renamed template:default/buckets.storage.example.org",
		"api:default/queue-mq.example.org--v1":            "missing neither a Template nor a composite tells the XRD of kind queue in group mq.example.org",
		"component:default/invoices-prod":                 "renamed " + invoices,
		"component:default/claimed":                       "missing the portal does not have it yet; add its cluster, and ingest its XRD",
		"component:default/shop":                          "same component:default/shop",
		"component:default/proxy":                         "missing the workload has no label backstage.io/kubernetes-id",
		"system:default/team":                             "missing the portal makes no Systems of namespaces; set backstage.io/system",
		"component:default/graph":                         "missing the portal does not ingest such objects",
	}
	states := map[string]string{}
	for _, m := range c.Entities {
		states[m.Ref] = m.State + " " + m.Becomes + m.Reason
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("entities: -want +got:\n%s", diff)
	}
	const checkout = "component:default/checkout"
	if diff := cmp.Diff([]migration.Reference{
		{Entity: checkout, Field: "consumesApi", Ref: "api:default/bucket-storage.example.org--v1", Becomes: "api:default/buckets.storage.example.org-api"},
		{Entity: checkout, Field: "dependsOn", Ref: "component:default/invoices-prod", Becomes: invoices},
		{Entity: checkout, Field: "partOf", Ref: "system:default/team"},
		{Entity: checkout, Field: "link", Ref: "template:default/buckets.storage.example.org-v1", Becomes: "template:default/buckets.storage.example.org"},
	}, c.References); diff != "" {
		t.Errorf("references: -want +got:\n%s", diff)
	}
	used := map[string]int{}
	for _, s := range c.Annotations {
		if s.Objects > 0 {
			used[strings.TrimPrefix(s.Name, "terasky.backstage.io/")+": "+s.Portal] = s.Objects
		}
	}
	if diff := cmp.Diff(map[string]int{"owner: stays": 2, "dependsOn: no counterpart": 1, "component-type: no counterpart": 1, "links: no counterpart": 1}, used); diff != "" {
		t.Errorf("annotations: -want +got:\n%s", diff)
	}
	if w.total() != before {
		t.Errorf("the portal has %d entities, and had %d", w.total(), before)
	}

	for format, want := range map[string][]string{
		"text":     {"workload                         2       1          0           1\n", "component:default/invoices-prod", "Users lose the stars"},
		"markdown": {"| workload | 2 | 1 | 0 | 1 |\n", "| terasky.backstage.io/owner | 2 | stays |\n"},
	} {
		got := b.provide(t, w.base, "compare", "--output-format", format)
		for _, text := range want {
			if got.code != 0 || !strings.Contains(got.out, text) {
				t.Errorf("exit code %d, want %q in\n%s", got.code, text, got.out)
			}
		}
	}
	for name, tc := range map[string]struct {
		reason, want string
		code         int
		args         []string
		entities     []string
	}{
		"Nothing": {"A Backstage without kubernetes-ingestor has nothing to compare.", "no entities of kubernetes-ingestor", app.ExitNothing, nil, b.entities[len(b.entities)-1:]},
		"Half":    {"A comparison with half of a catalog would be wrong.", "the list is not complete", app.ExitFailed, nil, nil},
		"Prefix":  {"An empty prefix would match every annotation.", "annotation prefix is the empty string", app.ExitUsage, []string{"--annotation-prefix", ""}, b.entities},
	} {
		t.Run(name, func(t *testing.T) {
			other := newBackstage(t)
			if other.entities = tc.entities; tc.entities == nil {
				other.instead = func(w http.ResponseWriter, _ *http.Request) bool {
					fmt.Fprint(w, `{"items":[],"totalItems":3,"pageInfo":{}}`)
					return true
				}
			}
			if got := other.provide(t, w.base, append([]string{"compare"}, tc.args...)...); got.code != tc.code || !strings.Contains(got.err, tc.want) {
				t.Errorf("%s\ngot %+v, want exit code %d and %q", tc.reason, got, tc.code, tc.want)
			}
		})
	}
}

package portal_test

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
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

// ingested is the definition that the portals of these tests ingest from a
// file.
const ingested = "buckets.storage.example.org"

// bucket is a composite of that definition whose status contains values that
// not every caller may see.
const bucket = `
---
apiVersion: storage.example.org/v1
kind: Bucket
metadata: { name: photos, namespace: shop }
status:
  password: a-password-of-a-bucket-0815
  conditions:
    - { type: Synced, status: "True", reason: ReconcileSuccess, lastTransitionTime: "2026-01-02T03:04:05Z" }
    - { type: Ready, status: "False", reason: Creating, message: "cannot reach https://me:a-password-of-a-bucket-0815@example.org/photos", lastTransitionTime: "2026-01-02T03:04:06+01:00" }
`

// clusterToken is the token of a cluster, which must not appear in any
// response.
const clusterToken = "a-token-of-a-cluster-0815"

// ingesting returns the sections of a portal that ingests a definition from a
// file and from a cluster that is unreachable. A second cluster is configured
// and not read.
func ingesting(t *testing.T) map[string]any {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "bucket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bucket.yaml"), append(text, bucket...), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := func(name string) map[string]any {
		// No server listens there.
		return map[string]any{"name": name, "url": "https://127.0.0.1:1", "serviceAccountToken": clusterToken}
	}
	return map[string]any{
		"composerIngestor": map[string]any{
			"sources":  []any{map[string]any{"name": "examples", "type": "file", "path": dir}},
			"clusters": []any{cluster("away")},
		},
		"orchestrator": map[string]any{
			"serviceLocatorMethod":  map[string]any{"type": "multiTenant"},
			"clusterLocatorMethods": []any{map[string]any{"type": "config", "clusters": []any{cluster("unread")}}},
		},
	}
}

// ingestionOperations returns calls of the ingestion operations, in one of
// their spellings. run is the id of the run that added the entities.
func ingestionOperations(ingestor, orchestrator, suffix, run string) []operation {
	at := "/api/" + ingestor
	return []operation{
		{"getIngestionHealth" + suffix, call{path: at + "/health"}, 200, `"status":"(starting|degraded|healthy)","clusters":{"away":"\w+"}.*"entitiesGenerated":4,"sources":\[`},
		{"listRuns" + suffix, call{path: at + "/runs?limit=5"}, 200, `"source":"composerIngestor/sources/examples"`},
		{"startRuns" + suffix, call{method: "POST", path: at + "/runs", body: `{"source":"composerIngestor/sources/examples"}`}, 202, `^{"sources":\["composerIngestor/sources/examples"\]}`},
		{"confirmRemoval" + suffix, call{method: "POST", path: at + "/removals/confirm", body: `{"source":"composerIngestor/sources/examples","since":"2026-01-02T02:04:06Z"}`}, 409, `"name":"ConflictError","message":"No removal is pending for composerIngestor/sources/examples since then`},
		{"getRun" + suffix, call{path: at + "/runs/" + run}, 200, `"added":4,.*"changes":{"added":\["api:default/` + ingested + `-api",`},
		{"listFindings" + suffix, call{path: at + "/findings?limit=5&severity=info"}, 200, `^{"items":\[.*"totalItems":\d+,"rules":\[.*"pending":\d+}`},
		{"listDefinitionsByName" + suffix, call{path: at + "/definitions/by-name?limit=5&text=BUCKETS&only=selected"}, 200, `^{"items":\[{"name":"` + ingested + `","selected":true,"copies":\[{"source":"composerIngestor/sources/examples".*"counts":{"all":1,"selected":1,"unselected":0`},
		{"listDefinitions" + suffix, call{path: at + "/definitions?limit=5"}, 200, `^{"items":\[.*"name":"` + ingested + `".*"selected":true`},
		{"explainDefinition" + suffix, call{path: at + "/explain/" + ingested}, 200, `"takenBy":"composerIngestor".*"entities":\["template:default/` + ingested},
		{"getConditions" + suffix, call{path: at + "/conditions/resource/default/photos-ac4740c5"}, 200, `^{"items":\[{"type":"Synced",.*"message":"cannot reach https://example.org/photos","lastTransitionTime":"2026-01-02T02:04:06Z"}\]}`},
		{"getSource" + suffix, call{path: at + "/source/template/default/" + ingested}, 200, `^{"source":"composerIngestor/sources/examples","object":{.*"kind":"CompositeResourceDefinition"`},
		// internal/choice reads these from a cluster.
		{"listChoices" + suffix, call{path: at + "/choices?template=template:default/" + ingested + "&field=/region&cluster=away&namespace=shop&search=a"}, 404, `has no field /region with live choices`},
		{"previewDefinitions" + suffix, call{method: "POST", path: at + "/preview?profile=cli", body: "kind: x\n---\na: [", header: yamlBody}, 200, `^{"definitions":\[\],"findings":\[.*"line":3`},
		{"validateManifest" + suffix, call{method: "POST", path: at + "/validate", body: `{"template":"template:default/` + ingested + `","manifest":{"apiVersion":"x/v1","kind":"X"}}`}, 400, `is a X of x/v1, but template:default/` + ingested + ` is generated from definition`},
		{"compareDefinitions" + suffix, call{method: "POST", path: at + "/impact?impact=false&removed=" + ingested, body: "kind: x\n---\na: [", header: yamlBody}, 200, `^{"definitions":\[{"name":"` + ingested + `","status":"removed","changes":\[{"rule":"DIF001",.*"findings":\[.*"line":3`},
		{"getVersions" + suffix, call{path: at + "/versions/template/default/" + ingested}, 200, `^{"definition":"` + ingested + `","preferred":"v1","versions":\[{"name":"v1","served":true,"referenceable":true,"deprecated":false}\]}`},
		{"getVersionUsage" + suffix, call{path: at + "/versions/template/default/" + ingested + "/resources"}, 200, `^{"preferred":"v1","kind":"Bucket","versions":\[\],"resources":\[\],"hidden":0,"incomplete":\[`},
		{"getPlanStatus" + suffix, call{path: at + "/plan"}, 200, `^{"on":false`},
		{"planComposite" + suffix, call{method: "POST", path: at + "/plan", body: `{"cluster":"away","manifest":{"apiVersion":"shops.example.org/v1","kind":"Shop"}}`}, 503, `"message":"Cannot make a plan: plans are not configured; ask the operators of the portal; set plan.program`},
		{"listClusters" + suffix, call{path: "/api/" + orchestrator + "/clusters"}, 200, `^{"items":\[{"name":"away",.*{"name":"unread",`},
		// test/service reads these from a cluster.
		{"getServiceObjects" + suffix, call{method: "POST", path: "/api/" + orchestrator + "/services/a", body: `{"entity":{"kind":"Component","metadata":{"name":"a"}},"auth":{}}`}, 200, `^{"items":\[\]}$`},
		{"queryWorkloads" + suffix, call{method: "POST", path: "/api/" + orchestrator + "/resources/workloads/query", body: `{"entityRef":"component:default/a","auth":{}}`}, 200, `^{"items":\[\]}$`},
		{"queryCustomResources" + suffix, call{method: "POST", path: "/api/" + orchestrator + "/resources/custom/query", body: `{"entityRef":"component:default/a","customResources":[{"group":"argoproj.io","apiVersion":"v1alpha1","plural":"rollouts"}]}`}, 200, `^{"items":\[\]}$`},
		{"getContainerLog" + suffix, call{path: "/api/" + orchestrator + "/logs/by-name/component/default/a?cluster=away&namespace=shop&pod=a-1"}, 404, `"message":"component:default/a has no pod a-1 in namespace shop of cluster away"`},
		{"listWorkloadEvents" + suffix, call{path: "/api/" + orchestrator + "/events/by-name/component/default/a?cluster=away&namespace=shop&type=pods&object=a-1"}, 404, `has no pod a-1`},
		{"proxyContainerLog" + suffix, call{path: "/api/" + orchestrator + "/proxy/api/v1/namespaces/shop/pods/a-1/log?container=a", header: http.Header{"Backstage-Kubernetes-Cluster": {"away"}}}, 403, `Missing permission kubernetes.proxy`},
		{"proxyEvents" + suffix, call{path: "/api/" + orchestrator + "/proxy/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name=a-1", header: http.Header{"Backstage-Kubernetes-Cluster": {"away"}}}, 403, `Missing permission kubernetes.proxy`},
		{"getResourceStatus", call{path: "/api/resources/by-name/resource/default/photos-ac4740c5/status"}, 404, `"message":"resource:default/photos-ac4740c5 was not read from a cluster"`},
		{"streamResourceStatus", call{path: "/api/resources/by-name/resource/default/photos-ac4740c5/eventstream"}, 404, `was not read from a cluster`},
		{"getResourceObject", call{path: "/api/resources/by-name/resource/default/photos-ac4740c5/object"}, 404, `was not read from a cluster`},
		{"getResourceHistory", call{path: "/api/resources/by-name/resource/default/photos-ac4740c5/history"}, 404, `was not read from a cluster`},
	}
}

// yamlBody is the header of a body in YAML.
var yamlBody = http.Header{"Content-Type": {"application/yaml"}}

// TestPreview checks that every authenticated caller can preview the entities
// of a definition, that the command in the response prints the same entities,
// and that a preview leaves nothing behind.
func TestPreview(t *testing.T) {
	s := setup{sections: map[string]any{"composerIngestor": map[string]any{"defaultOwner": "storage-team"}}}
	w := start(t, s)
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "bucket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/composer-ingestor/preview"
	for name, tc := range map[string]struct{ reason, query string }{
		"Service":     {"The default preview shows what the service writes.", ""},
		"Variant B":   {"A profile shows what variant B writes.", "?profile=clusterIngestor"},
		"Other words": {"The vocabulary can be selected.", "?profile=cli&words=portal"},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct {
				Definitions []struct{ YAML, Command string }
			}
			w.in(t).want(call{method: "POST", path: path + tc.query, body: string(text), header: yamlBody, token: noToken}, http.StatusOK, &got)
			if len(got.Definitions) != 1 {
				t.Fatalf("preview returned %d definitions, want 1", len(got.Definitions))
			}
			args := strings.Fields(got.Definitions[0].Command)[1:]
			// Only the path of the file differs.
			args[0] = filepath.Join("..", "..", "examples", "bucket.yaml")
			args[slices.Index(args, "--config")+1] = s.write(t)
			var out, notes bytes.Buffer
			env := &app.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes, Now: time.Now, Getenv: func(string) string { return "" }}
			if code := app.Run(t.Context(), ingestor.Name, env, ingestor.Run); code != 0 {
				t.Fatalf("command %q ended with %d: %s", args, code, notes.String())
			}
			want := strings.ReplaceAll(out.String(), "file:"+args[0], "file:definition.yaml")
			if diff := cmp.Diff(want, got.Definitions[0].YAML); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
	if r := w.send(call{path: "/api/catalog/entities?filter=kind=template"}); strings.TrimSpace(string(r.body)) != "[]" {
		t.Errorf("preview changed the catalog: %s", brief(r.body))
	}
	large := strings.Repeat("# a line that says nothing\n", 40_000)
	w.want(call{method: "POST", path: path, body: large, header: yamlBody}, http.StatusRequestEntityTooLarge, nil)
	w.want(call{method: "POST", path: path + "?profile=nosuch", body: "a: 1", header: yamlBody}, http.StatusBadRequest, nil)
	closed := start(t, setup{sections: map[string]any{"auth": map[string]any{"environment": "production"}}})
	closed.want(call{method: "POST", path: path, body: string(text), header: yamlBody, token: noToken}, http.StatusUnauthorized, nil)
}

// ingestionHealth is the response of the health operation.
type ingestionHealth struct {
	Status   string
	Clusters map[string]string
	LastRun  string
	Sources  []sourceHealth
}

type sourceHealth struct{ Name, Cluster, State, LastError string }

// TestIngestionHealth checks that operators see the health of each source, and
// guests only the overall status.
func TestIngestionHealth(t *testing.T) {
	w := start(t, setup{sections: ingesting(t)})
	const path = "/api/composer-ingestor/health"
	var all ingestionHealth
	w.until("both sources are tried", func() bool {
		w.get(path, &all)
		return !slices.ContainsFunc(all.Sources, func(s sourceHealth) bool { return s.State == "waiting" })
	})
	if all.Status != "degraded" || all.Clusters["away"] != "unreachable" || all.LastRun == "" || len(all.Sources) != 2 {
		t.Fatalf("health is %+v, want degraded with one of two sources down", all)
	}
	states := map[string]string{}
	for _, s := range all.Sources {
		states[s.Name] = s.State
		if (s.State == "connected") != (s.LastError == "") {
			t.Errorf("source %s has state %s and last error %q", s.Name, s.State, s.LastError)
		}
	}
	want := map[string]string{"composerIngestor/away": "unreachable", "composerIngestor/sources/examples": "connected"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("source states differ (-want +got):\n%s", diff)
	}

	r := w.want(call{path: path, token: w.guest()}, http.StatusOK, nil)
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(r.body, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"sources", "failures"} {
		if _, there := keys[key]; there {
			t.Errorf("guest sees %s: %s", key, brief(r.body))
		}
	}
	if got := string(keys["status"]); got != `"degraded"` {
		t.Errorf("guest sees status %s, want degraded", got)
	}
}

// TestIngestionRuns checks that a triggered scan is recorded as a run.
func TestIngestionRuns(t *testing.T) {
	w := start(t, setup{sections: ingesting(t)})
	const path = "/api/composer-ingestor/runs"
	const source = "composerIngestor/sources/examples"
	type run struct {
		ID, Source, Trigger                string
		Added, Updated, Removed, Unchanged int
		Discovered                         int
		Phases                             map[string]int
	}
	runs := func() []run {
		var page struct{ Items []run }
		w.get(path, &page)
		return page.Items
	}
	w.until("the source is scanned", func() bool {
		return slices.ContainsFunc(runs(), func(r run) bool { return r.Source == source && r.Added == 4 && r.Discovered == 1 })
	})
	type changes struct{ Added, Updated, Removed, Failed, Refused []string }
	all := runs()
	first := all[slices.IndexFunc(all, func(r run) bool { return r.Added == 4 })]
	var one struct {
		run
		Changes changes
	}
	w.get(path+"/"+first.ID, &one)
	want := changes{Added: []string{"api:default/" + ingested + "-api", "resource:default/" + ingested + "-xrd", "resource:default/photos-ac4740c5", "template:default/" + ingested}}
	if diff := cmp.Diff(want, one.Changes, cmpopts.EquateEmpty()); diff != "" || one.Added != 4 {
		t.Errorf("changes of the run differ (-want +got):\n%s", diff)
	}
	w.want(call{method: "POST", path: path, body: fmt.Sprintf(`{"source":%q}`, source)}, http.StatusAccepted, nil)
	w.until("the triggered scan is a run", func() bool {
		return slices.ContainsFunc(runs(), func(r run) bool {
			_, read := r.Phases["read"]
			return r.Source == source && r.Trigger == "manual" && r.Added+r.Updated+r.Removed == 0 && read
		})
	})
	var started struct{ Sources []string }
	w.want(call{method: "POST", path: path}, http.StatusAccepted, &started)
	slices.Sort(started.Sources)
	if diff := cmp.Diff([]string{"composerIngestor/away", source}, started.Sources); diff != "" {
		t.Errorf("scan without a name did not start all sources (-want +got):\n%s", diff)
	}

	for name, tc := range map[string]struct {
		reason string
		call   call
		status int
		says   string
	}{
		"UnknownSource": {"An unknown source is not found.", call{method: "POST", path: path, body: `{"source":"composerIngestor/nosuch"}`}, 404, "composerIngestor/nosuch"},
		"EmptySource":   {"An empty source name is not found.", call{method: "POST", path: path, body: `{"source":""}`}, 404, "No source"},
		"NoSourceName":  {"A source name that is not a string is rejected.", call{method: "POST", path: path, body: `{"source":7}`}, 400, "InputError"},
		"BrokenBody":    {"Malformed JSON is rejected.", call{method: "POST", path: path, body: `{`}, 400, "JSON"},
		"LimitNone":     {"A limit of zero is rejected.", call{path: path + "?limit=0"}, 400, "from 1 to 500"},
		"LimitMany":     {"A limit over the maximum is rejected.", call{path: path + "?limit=501"}, 400, "from 1 to 500"},
		"LimitText":     {"A limit that is not a number is rejected.", call{path: path + "?limit=all"}, 400, "from 1 to 500"},
		"UnknownRun":    {"An unknown run is not found.", call{path: path + "/99"}, 404, "No run 99"},
		"NoRun":         {"An invalid run id is not found.", call{path: path + "/first"}, 404, "No run first"},
		"Unexplained":   {"A definition that no source has is not found.", call{path: "/api/composer-ingestor/explain/nosuch.example.org"}, 404, "nosuch.example.org"},
		"Workload":      {"A workload is not a definition.", call{path: "/api/composer-ingestor/explain/workload:shop"}, 404, "workload:shop"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := w.in(t).send(tc.call); r.status != tc.status || !strings.Contains(string(r.body), tc.says) {
				t.Errorf("got %d %s, want %d with %q: %s", r.status, brief(r.body), tc.status, tc.says, tc.reason)
			}
		})
	}
	var page struct{ Items []run }
	if w.get(path+"?limit=1", &page); len(page.Items) != 1 {
		t.Errorf("response has %d runs, want one", len(page.Items))
	}
}

// TestFindings checks that permitted callers get the findings of definitions,
// by severity and in pages.
func TestFindings(t *testing.T) {
	sections := ingesting(t)
	dir := sections["composerIngestor"].(map[string]any)["sources"].([]any)[0].(map[string]any)["path"].(string)
	text, err := os.ReadFile(filepath.Join(dir, "bucket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.NewReplacer("buckets", "pails", "Bucket", "Pail", "default: 0", "default: never", "description: A bucket for files.", "").Replace(string(text))
	if err := os.WriteFile(filepath.Join(dir, "pail.yaml"), []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{sections: sections})
	const path = "/api/composer-ingestor/findings"
	type item struct {
		Rule, Severity, Message, Definition, Entity string
		Sources, Clusters                           []string
	}
	type findings struct {
		Items               []item
		TotalItems, Pending int
		Rules               []struct {
			Rule, Title, Severity string
			Findings, Definitions int
		}
	}
	get := func(query string) (f findings) {
		t.Helper()
		w.get(path+query, &f)
		return f
	}
	w.until("definitions are inspected, and the missing owner and system are found", func() bool {
		f := get("?limit=0")
		return f.Pending == 0 && len(f.Rules) > 2
	})
	all := get("")
	rank := map[string]int{"error": 0, "warning": 1, "info": 2}
	if !slices.IsSortedFunc(all.Items, func(a, b item) int { return rank[a.Severity] - rank[b.Severity] }) {
		t.Errorf("findings are not sorted by severity: %+v", all.Items)
	}
	sum := 0
	for _, r := range all.Rules {
		sum += r.Findings
		if of := get("?rule=" + r.Rule); of.TotalItems != r.Findings || len(of.Items) != r.Findings || len(of.Rules) != 1 || r.Title == "" {
			t.Errorf("rule %+v has findings %+v", r, of)
		}
	}
	if sum != all.TotalItems || len(all.Items) != all.TotalItems {
		t.Errorf("page has %d findings, total is %d and the sum by rule %d", len(all.Items), all.TotalItems, sum)
	}
	for i := range all.Items {
		if page := get(fmt.Sprintf("?limit=1&offset=%d", i)); len(page.Items) != 1 || !cmp.Equal(page.Items[0], all.Items[i]) {
			t.Errorf("page %d is %+v, want %+v", i, page.Items, all.Items[i])
		}
	}
	if f := all.Items[0]; !cmp.Equal(f.Sources, []string{"composerIngestor/sources/examples"}) || len(f.Clusters) != 0 || !w.exists(strings.Replace(f.Entity, ":", "/", 1)) {
		t.Errorf("finding has no source or entity: %+v", f)
	}
	if away := get("?cluster=away"); away.TotalItems != 0 || len(away.Rules) != 0 {
		t.Errorf("cluster that was never read has findings %+v", away)
	}
	for name, query := range map[string]string{"Limit": "?limit=501", "Offset": "?offset=-1", "Severity": "?severity=bad"} {
		t.Run(name, func(t *testing.T) {
			if r := w.in(t).send(call{path: path + query}); r.status != http.StatusBadRequest {
				t.Errorf("got %d %s, want 400", r.status, brief(r.body))
			}
		})
	}
	for _, p := range []string{path, "/api/composer-ingestor/runs/1"} {
		if r := w.send(call{path: p, token: w.guest()}); r.status != http.StatusForbidden {
			t.Errorf("guest got %d for %s, want 403", r.status, p)
		}
	}
}

// TestClusters checks that all callers see the names of clusters, only
// permitted callers their URLs, and none their tokens.
func TestClusters(t *testing.T) {
	w := start(t, setup{sections: ingesting(t)})
	guest := w.guest()
	for _, path := range []string{"/api/orchestrator/clusters", "/api/kubernetes/clusters"} {
		r := w.want(call{path: path}, http.StatusOK, nil)
		if !strings.Contains(string(r.body), `"url":"https://127.0.0.1:`) {
			t.Errorf("service does not see the URLs of clusters: %s", brief(r.body))
		}
		want := `{"items":[{"name":"away","authProvider":"serviceAccount"},{"name":"unread","authProvider":"serviceAccount"}]}`
		if got := w.want(call{path: path, token: guest}, http.StatusOK, nil); strings.TrimSpace(string(got.body)) != want {
			t.Errorf("guest sees %s, want %s", got.body, want)
		}
	}
	for _, path := range []string{"/api/orchestrator/clusters", "/api/composer-ingestor/health", "/api/composer-ingestor/runs", "/metrics"} {
		if r := w.send(call{path: path}); strings.Contains(string(r.body), clusterToken) {
			t.Errorf("%s shows the token of a cluster", path)
		}
	}
}

// TestProvidersOfTheService checks that clients cannot push or delete under the
// provider names of ingestion.
func TestProvidersOfTheService(t *testing.T) {
	w := start(t, setup{sections: ingesting(t)})
	w.until("the definition is in the catalog", func() bool { return w.exists("template/default/" + ingested) })
	var providers struct{ Items []struct{ Name string } }
	w.get("/api/catalog/providers", &providers)
	names := []string{"workload:shop", "xrdTemplates"}
	for _, p := range providers.Items {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, "definition:"+ingested) {
		t.Fatalf("no provider is named after the definition: %v", names)
	}
	for _, name := range names {
		at := "/api/catalog/providers/" + name
		for _, x := range []call{
			{method: "PUT", path: at + "/entities?allowEmpty=true", body: component("a"), header: ndjson},
			{method: "POST", path: at + "/delta", body: `{"remove":"template:default/` + ingested + `"}`, header: ndjson},
			{method: "DELETE", path: at},
		} {
			if r := w.send(x); r.status != http.StatusBadRequest {
				t.Errorf("%s %s: got %d %s, want 400", x.method, x.path, r.status, brief(r.body))
			}
		}
	}
	if !w.exists("template/default/" + ingested) {
		t.Error("Template of the definition was removed")
	}
	// Clients cannot take over the entity under another provider name either.
	r := w.push("first", strings.Replace(component(ingested), `"Component"`, `"Template"`, 1))
	if len(r.Refused) != 1 || r.Added != 0 {
		t.Errorf("push took over the Template of the definition: %+v", r)
	}
}

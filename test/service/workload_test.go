package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/npm"
)

// stockResults are the results of the clients of Backstage.
type stockResults struct {
	Clusters []map[string]any
	Auth     map[string]any
	Objects, Workloads, Custom, NotServed,
	Secrets, Missing map[string]json.RawMessage
	Detected           map[string][]string
	Log                struct{ Text, Error string }
	Events             []string
	Removal, Elsewhere struct{ Error string }
}

// stockCluster are the objects of a cluster, as Backstage's plugin groups them.
type stockCluster struct {
	Objects map[string][]string
	Errors  []struct {
		ErrorType, ResourcePath, Message string
		StatusCode                       int
	}
}

// TestStockClient reads workloads with the clients of Backstage's Kubernetes plugin, from
// npm, through the portal, whose account has the roles that the project ships.
func TestStockClient(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{CRDs: "both"})
	c.Apply(t, "../../deploy/rbac.yaml", "../../deploy/rbac-workloads.yaml", runningShop(t))
	c.Apply(t, "---\n"+`{apiVersion: platform.example.org/v1, kind: Rollout, metadata: {name: canary, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}}`)
	crash(t, c)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, c.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	section := both(sections{"name": "prod", "url": c.URL, "caFile": ca, "authProvider": "token", "token": c.Token(t, "composer-ingestor", "composer-ingestor")},
		everySecond(sections{}), sections{"permission": sections{"rules": []any{sections{"who": []any{"tests"}, "permissions": []any{"kubernetes.proxy"}, "result": "allow"}}}})
	described := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(described, []byte(describedShop), 0o600); err != nil {
		t.Fatal(err)
	}
	section["catalog"] = sections{"locations": []any{sections{"type": "file", "target": described}}}
	section["composerIngestor"] = sections{"clusters": []any{sections{"name": "gone", "url": "https://127.0.0.1:1", "authProvider": "token", "token": "x"}}}
	s := start(t, setup{sections: section})
	s.waitForRefs("kind=component", "component:default/shop", "component:default/web")
	var found struct {
		Items []struct{ Cluster struct{ Name string } }
	}
	if _, err := s.ask(http.MethodPost, "/api/kubernetes/resources/workloads/query", strings.NewReader(`{"entityRef":"component:default/shop"}`), &found); err != nil || len(found.Items) != 1 || found.Items[0].Cluster.Name != "prod" {
		t.Errorf("an ingested Component has %+v (error %v), want only the cluster that it was found in", found, err)
	}

	got := s.stock(t)
	if diff := cmp.Diff([]map[string]any{
		{"name": "gone", "url": "https://127.0.0.1:1", "authProvider": "serviceAccount"}, {"name": "prod", "url": c.URL, "authProvider": "serviceAccount"},
	}, got.Clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	if len(got.Auth) != 0 {
		t.Errorf("the plugin sends credentials: %v", got.Auth)
	}
	running := map[string][]string{"pods": {"web-1"}, "deployments": {"web"}, "services": {"web"}}
	for name, all := range map[string]map[string]json.RawMessage{"objects": got.Objects, "workloads": got.Workloads} {
		prod := decodeCluster(t, all, "prod")
		if diff := cmp.Diff(running, prod.Objects); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(prod.Errors) != 1 || prod.Errors[0].StatusCode != 403 || prod.Errors[0].ResourcePath != "/api/v1/namespaces/shop/configmaps" {
			t.Errorf("errors of %s are %+v, want only that of ConfigMaps, which the role does not have", name, prod.Errors)
		}
		if gone := decodeCluster(t, all, "gone"); len(gone.Errors) != 1 || gone.Errors[0].Message != "Cluster gone cannot be reached" || gone.Errors[0].ErrorType != "FETCH_ERROR" {
			t.Errorf("errors of the cluster that is down are %+v", gone.Errors)
		}
	}
	if diff := cmp.Diff([]string{"container-waiting web-1 CrashLoopBackOff", "containers-restarting web-1 "}, got.Detected["prod"]); diff != "" {
		t.Errorf("problems that the plugin detects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"customResources": {"canary"}}, decodeCluster(t, got.Custom, "prod").Objects); diff != "" {
		t.Errorf("custom resources (-want +got):\n%s", diff)
	}
	if e := decodeCluster(t, got.NotServed, "prod").Errors; len(e) != 1 || e[0].ErrorType != "UNKNOWN_ERROR" && e[0].ErrorType != "NOT_FOUND" {
		t.Errorf("errors of a kind that is not served are %+v", e)
	}
	if text := string(got.Secrets["error"]); !strings.Contains(text, "403") || !strings.Contains(text, "Secrets are not shown") {
		t.Errorf("result for Secrets is %s", text)
	}
	if text := string(got.Missing["error"]); !strings.Contains(text, "404") {
		t.Errorf("result for an entity that does not exist is %s", text)
	}
	if got.Log.Text != "log of shop/web-1/web\n" {
		t.Errorf("log is %q, error %s", got.Log.Text, got.Log.Error)
	}
	if diff := cmp.Diff([]string{"restarting"}, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if !strings.Contains(got.Removal.Error, "404") && !strings.Contains(got.Removal.Error, "405") {
		t.Errorf("removal of a pod results in %q", got.Removal.Error)
	}
	if !strings.Contains(got.Elsewhere.Error, "not found") {
		t.Errorf("log of a cluster that is not configured results in %q", got.Elsewhere.Error)
	}
}

func decodeCluster(t *testing.T, all map[string]json.RawMessage, name string) (out stockCluster) {
	t.Helper()
	if err := json.Unmarshal(all[name], &out); err != nil {
		t.Errorf("no cluster %s: %v in %s", name, err, all)
	}
	return out
}

// describedShop is an entity that describes the same workloads, in any cluster.
const describedShop = `
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: web, annotations: {backstage.io/kubernetes-id: shop, backstage.io/kubernetes-namespace: shop}}
spec: {type: service, lifecycle: production, owner: team}
`

// runningShop are a Deployment with a pod, on a node whose kubelet has logs.
func runningShop(t *testing.T) string {
	t.Helper()
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "log of %s\n", strings.TrimPrefix(r.URL.Path, "/containerLogs/"))
	}))
	t.Cleanup(kubelet.Close)
	_, port, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`---
{apiVersion: v1, kind: Node, metadata: {name: node}, status: {addresses: [{type: InternalIP, address: 127.0.0.1}], daemonEndpoints: {kubeletEndpoint: {Port: %s}}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:1}]}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, labels: {backstage.io/kubernetes-id: shop}}, spec: {ports: [{port: 80}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, backstage.io/kubernetes-id: shop}}
spec: {nodeName: node, containers: [{name: web, image: web:1}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: shop, labels: {app: other}}, spec: {nodeName: node, containers: [{name: other, image: other:1}]}}
---
{apiVersion: v1, kind: Event, metadata: {name: a, namespace: shop}, involvedObject: {kind: Pod, namespace: shop, name: web-1}, type: Warning, reason: BackOff, message: restarting}
`, port) + apiserver.CRD("platform.example.org", "Rollout", "rollouts", "Namespaced")
}

// crash sets the status of the pod, as its kubelet would.
func crash(t *testing.T, c *apiserver.Server) {
	t.Helper()
	status := `{"status":{"phase":"Running","containerStatuses":[{"name":"web","image":"web:1","imageID":"","ready":false,"restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s"}}}]}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, c.URL+"/api/v1/namespaces/shop/pods/web-1/status", strings.NewReader(status))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := c.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot set the status of a pod: %s %v", resp.Status, err)
	}
}

// stock runs the clients of Backstage. The entity that they send has other annotations
// than that of the catalog.
func (s *service) stock(t *testing.T) (out stockResults) {
	t.Helper()
	const dir = "testdata/kubernetes"
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	node, modules, err := npm.Install("kubernetes-client", read("package.json"), read("package-lock.json"))
	if errors.Is(err, npm.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	forged := `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"web","namespace":"default","annotations":{"backstage.io/kubernetes-label-selector":"app=other"}}}`
	var notes, result bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(dir, "client.mjs"), modules, s.base, theToken, forged)
	cmd.Stdout, cmd.Stderr = &result, &notes
	if err := cmd.Run(); err != nil {
		t.Fatalf("cannot run the clients: %v\n%s", err, notes.String())
	}
	if err := json.Unmarshal(result.Bytes(), &out); err != nil {
		t.Fatalf("%v: %s", err, result.String())
	}
	return out
}

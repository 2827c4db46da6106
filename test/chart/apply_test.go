package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// kinds are minimal definitions of the kinds that operators of a cluster install, and a
// priority class.
const kinds = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: portals }
value: 1000
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: servicemonitors.monitoring.coreos.com }
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: { kind: ServiceMonitor, plural: servicemonitors }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: httproutes.gateway.networking.k8s.io, annotations: { api-approved.kubernetes.io: "https://github.com/kubernetes-sigs/gateway-api/pull/1" } }
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: { kind: HTTPRoute, plural: httproutes }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
`

// namespace enforces the strictest of Kubernetes' standards for pods.
const namespace = `
apiVersion: v1
kind: Namespace
metadata:
  name: %s
  labels: { pod-security.kubernetes.io/enforce: restricted }
`

// TestApply applies the manifests of every case to a real API server, and lets it create a pod
// as the Deployment would in a namespace that enforces the restricted standard.
func TestApply(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := apiserver.Start(t, apiserver.Options{CRDs: "both", XRCRDs: true, Apply: append(examples, kinds)})
	for name, tc := range values {
		t.Run(name, func(t *testing.T) {
			stream, space := manifests(t, tc.values), strings.ToLower(name)
			s.Apply(t, fmt.Sprintf(namespace, space))
			s.Apply(t, inNamespace(t, stream, space))
			for _, o := range objects(t, stream) {
				if o["kind"] != "Deployment" {
					continue
				}
				template := o["spec"].(map[string]any)["template"].(map[string]any)
				template["apiVersion"], template["kind"] = "v1", "Pod"
				template["metadata"].(map[string]any)["name"] = "probe"
				if status, body := post(t, s, "/api/v1/namespaces/"+space+"/pods?dryRun=All&fieldValidation=Strict", template); status != http.StatusCreated {
					t.Errorf("%s: pod is answered with %d: %s", tc.reason, status, body)
				}
			}
		})
	}
	t.Run("Runs", func(t *testing.T) { runs(t, s) })
}

// runs starts the portal with the configuration and the permissions that the cluster has
// after the manifests were applied.
func runs(t *testing.T, s *apiserver.Server) {
	stream := manifests(t, "auth: { guest: true }\ncluster: { ingestAll: true }\nrbac: { apiGroups: [platform.example.org, storage.example.org] }\n")
	s.Apply(t, fmt.Sprintf(namespace, "portal"), inNamespace(t, stream, "portal"))
	var stored struct{ Data map[string]string }
	get(t, s, "/api/v1/namespaces/portal/configmaps/portal-ingestor", &stored)

	// What a pod finds at its well-known places is here in a folder of the test.
	dir := t.TempDir()
	port, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(dir, "token")
	for file, text := range map[string][]byte{token: []byte(s.Token(t, "portal", "portal-ingestor")), filepath.Join(dir, "ca.crt"): s.CA} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer(
		"https://kubernetes.default.svc", s.URL, "/var/run/secrets/kubernetes.io/serviceaccount", dir,
		"/data", filepath.Join(dir, "data"), ":7007", fmt.Sprintf("127.0.0.1:%d", port),
		"http://localhost127.0.0.1", "http://localhost",
	).Replace(stored.Data["app-config.yaml"])
	file := filepath.Join(dir, "app-config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	var log process.Log
	ended := make(chan int, 1)
	go func() {
		ended <- app.Run(ctx, portal.Name, &app.Env{
			Args: []string{"--config", file}, Stdin: strings.NewReader(""), Stdout: &log, Stderr: &log,
			Getenv: func(string) string { return "" }, Now: time.Now,
		}, portal.Run)
	}()
	defer func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("portal exits with %d:\n%s", code, log.Tail())
		}
	}()
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	deadline := time.Now().Add(time.Minute)
	for {
		n := templates(t, url)
		if n >= 5 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("portal has %d Templates after a minute:\n%s", n, log.Tail())
		}
		time.Sleep(200 * time.Millisecond)
	}
	if strings.Contains(log.String(), "forbidden") {
		t.Errorf("role of the chart lacks a permission:\n%s", log.Tail())
	}
}

// templates returns how many Templates a portal has, as a guest sees it.
func templates(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Post(url+"/api/auth/guest/refresh", "application/json", nil)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	var session struct {
		BackstageIdentity struct{ Token string }
	}
	if err := json.NewDecoder(res.Body).Decode(&session); err != nil {
		return 0
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/catalog/entities?filter=kind=template", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+session.BackstageIdentity.Token)
	list, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = list.Body.Close() }()
	var entities []json.RawMessage
	if err := json.NewDecoder(list.Body).Decode(&entities); err != nil {
		return 0
	}
	return len(entities)
}

// inNamespace sets the namespace of the namespaced objects, as helm install does.
func inNamespace(t *testing.T, stream, namespace string) string {
	t.Helper()
	var b strings.Builder
	for _, o := range objects(t, stream) {
		if kind := o["kind"].(string); !strings.HasPrefix(kind, "ClusterRole") {
			o["metadata"].(map[string]any)["namespace"] = namespace
		}
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.String()
}

func get(t *testing.T, s *apiserver.Server, path string, v any) {
	t.Helper()
	res, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s is answered with %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

func post(t *testing.T, s *apiserver.Server, path string, v any) (int, []byte) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Client().Post(s.URL+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

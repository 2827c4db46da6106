package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// TestDemo starts the demo with a kubeconfig alone: the XRDs of the cluster are in the
// catalog, labelled or not, and a guest cannot run Templates unless writes are allowed.
func TestDemo(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{`
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: { name: xvaults.platform.example.org }
spec:
  group: platform.example.org
  names: { kind: XVault, plural: xvaults }
  versions:
    - name: v1
      served: true
      referenceable: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: string } } } } } }
`}})
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   int
	}{
		"ReadOnly": {"Without the flag, a guest may not run Templates.", nil, http.StatusForbidden},
		"Writes":   {"With the flag, the Template is run.", []string{"--allow-writes"}, http.StatusCreated},
	} {
		t.Run(name, func(t *testing.T) {
			url, dir := startDemo(t, s.Kubeconfig, tc.args...)
			token := ""
			var found []struct {
				Metadata struct{ Name string }
			}
			for deadline := time.Now().Add(time.Minute); len(found) == 0; time.Sleep(100 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("XRD without a label is not in the catalog after a minute")
				}
				var session struct{ BackstageIdentity struct{ Token string } }
				if send(t, http.MethodPost, url+"/api/auth/guest/refresh", "", "", &session) == http.StatusOK {
					token = session.BackstageIdentity.Token
					send(t, http.MethodGet, url+"/api/catalog/entities?filter=kind=template", token, "", &found)
				}
			}
			body := fmt.Sprintf(`{"templateRef":"template:default/%s","values":{"name":"mine","owner":"group:default/a"}}`, found[0].Metadata.Name)
			if got := send(t, http.MethodPost, url+"/api/scaffolder/v2/tasks", token, body, nil); got != tc.want {
				t.Errorf("%s Task is answered with %d, want %d", tc.reason, got, tc.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "app-config.yaml")); err != nil {
				t.Errorf("configuration was not written: %v", err)
			}
		})
	}
}

// startDemo starts the demo, and stops it with the test.
func startDemo(t *testing.T, kubeconfig string, args ...string) (url, dir string) {
	t.Helper()
	port, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	var log process.Log
	ended := make(chan int, 1)
	go func() {
		ended <- app.Run(ctx, Name, &app.Env{
			Args:  append([]string{"demo", "--kubeconfig", kubeconfig, "--data", dir, "--listen", fmt.Sprintf("localhost:%d", port)}, args...),
			Stdin: strings.NewReader(""), Stdout: &log, Stderr: &log, Getenv: func(string) string { return "" }, Now: time.Now,
		}, Run)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("demo exits with %d", code)
		}
		if t.Failed() {
			t.Log(log.Tail())
		}
	})
	return fmt.Sprintf("http://localhost:%d", port), dir
}

// send sends a request, decodes the response into v, and returns the status: 0 if there is no server yet.
func send(t *testing.T, method, url, token, body string, v any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	if v != nil && res.StatusCode == http.StatusOK {
		if err := json.NewDecoder(res.Body).Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

func TestDemoRefused(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\ncontexts: [{ name: dev, context: { cluster: c, user: u } }]\ncurrent-context: dev\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	const text = "backend: { listen: localhost:7008 }\n"
	if err := os.WriteFile(filepath.Join(own, "app-config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Own":          {"A configuration that the demo did not write is not overwritten.", []string{"--kubeconfig", kubeconfig, "--data", own}, "cannot overwrite"},
		"Open":         {"A demo needs no sign-in, so it stays on this machine.", []string{"--listen", ":7007"}, "must stay on this machine"},
		"Address":      {"An address of the network is refused.", []string{"--listen", "10.0.0.1:7007"}, "must stay on this machine"},
		"Config":       {"A demo has its own configuration.", []string{"--config", "app-config.yaml"}, "cannot use --config with demo"},
		"NoKubeconfig": {"A kubeconfig that does not exist is named.", []string{"--kubeconfig", "nosuch"}, "nosuch"},
		"NoContext":    {"An unknown context is named, with those that exist.", []string{"--kubeconfig", kubeconfig, "--context", "prod"}, `cannot find context "prod"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			code := app.Run(t.Context(), Name, &app.Env{
				Args: append([]string{"demo", "--data", t.TempDir()}, tc.args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
				Getenv: func(string) string { return "" }, Now: time.Now,
			}, Run)
			if code != app.ExitUsage || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s Exit code is %d, output:\n%s", tc.reason, code, out.String())
			}
		})
	}
	if got, err := os.ReadFile(filepath.Join(own, "app-config.yaml")); err != nil || string(got) != text {
		t.Errorf("configuration is %q, %v; want %q", got, err, text)
	}
}

package backstage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const chromium = "/usr/bin/chromium"

// shop is the path of the App that the journey creates.
const shop = "apps.example.org/v1/namespaces/team/apps/shop"

// composed is what a controller would do for the App of the journey, whose UID it has: it composes one object, and
// cannot create another.
const composed = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-settings
  namespace: team
  ownerReferences: [{ apiVersion: apps.example.org/v1, kind: App, name: shop, uid: %[1]s, controller: true }]
---
apiVersion: apps.example.org/v1
kind: App
metadata: { name: shop, namespace: team }
spec:
  crossplane:
    resourceRefs:
      - { apiVersion: v1, kind: ConfigMap, name: shop-settings }
      - { apiVersion: v1, kind: ConfigMap, name: shop-missing }
---
apiVersion: v1
kind: Event
metadata: { name: shop.1, namespace: team }
involvedObject: { apiVersion: apps.example.org/v1, kind: App, name: shop, namespace: team, uid: %[1]s }
type: Warning
reason: ComposeResources
message: cannot create ConfigMap shop-missing
lastTimestamp: %[2]s
`

// failing is the status of the App when its controller cannot compose an object.
const failing = `{"status":{"conditions":[
	{"type":"Synced","status":"False","reason":"ReconcileError","message":"cannot compose resources: quota of namespace team exceeded","lastTransitionTime":"%[1]s"},
	{"type":"Ready","status":"False","reason":"Unavailable","lastTransitionTime":"%[1]s"}]}}`

// fail lets the App fail.
func (w *world) fail(t *testing.T) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, w.cluster.URL+"/apis/"+shop+"/status", strings.NewReader(fmt.Sprintf(failing, now())))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := w.cluster.Client().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("cannot change the status of the App: %s", resp.Status)
	}
	return nil
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// compose does what a controller would do for the App.
func (w *world) compose(t *testing.T) {
	t.Helper()
	var made struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal([]byte(w.object(shop)), &made); err != nil {
		t.Fatal(err)
	}
	w.cluster.Apply(t, fmt.Sprintf(composed, made.Metadata.UID, now()))
}

// frontend returns the address of a Backstage frontend with the plugin. Requests to its API go to the backend, and
// requests below /test/ change the world.
func (w *world) frontend(t *testing.T) string {
	t.Helper()
	backend, err := url.Parse(w.backstage)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mux := http.NewServeMux()
	mux.Handle("/api/", httputil.NewSingleHostReverseProxy(backend))
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		path := filepath.Join(dir, filepath.Clean("/"+r.URL.Path))
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			path = filepath.Join(dir, "index.html")
		}
		http.ServeFile(rw, r, path)
	})
	refusal := filepath.Join(w.dir, "refuse-ingestion")
	for name, do := range map[string]func() error{
		"down":    func() error { w.down(); return nil },
		"up":      func() error { w.up(); return nil },
		"compose": func() error { w.compose(t); return nil },
		"fail":    func() error { return w.fail(t) },
		"refuse":  func() error { return os.WriteFile(refusal, nil, 0o600) },
		"allow":   func() error { return os.Remove(refusal) },
	} {
		mux.HandleFunc("POST /test/"+name, func(rw http.ResponseWriter, _ *http.Request) {
			if err := do(); err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	bundle := exec.CommandContext(t.Context(), w.node, "test/bundle.mjs", dir, server.URL)
	bundle.Dir = w.dir
	began := time.Now()
	if out, err := bundle.CombinedOutput(); err != nil {
		t.Fatalf("cannot bundle the frontend: %v\n%s", err, out)
	}
	t.Logf("bundled the frontend in %v", time.Since(began).Round(time.Second))
	return server.URL
}

// browse follows a resource through the pages of Backstage, in a browser. INGESTOR_SCREENSHOTS is the folder for
// screenshots; without it there are none.
func (w *world) browse(t *testing.T) {
	if _, err := os.Stat(chromium); err != nil {
		t.Skipf("%v: make chromium installs it", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.node, "test/journey.mjs", w.frontend(t), chromium)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v (%v)\n%s", err, context.Cause(ctx), out)
	}
	t.Logf("%s", out)
	w.untilDeleted(t)
}

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
	"testing"
	"time"
)

const (
	chromium = "/usr/bin/chromium"
	// screenshots is the environment variable with the folder for screenshots; without it there are none.
	screenshots = "INGESTOR_SCREENSHOTS"
)

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

func (w *world) compose(t *testing.T) {
	t.Helper()
	var app struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal([]byte(w.object("apps.example.org/v1/namespaces/team/apps/shop")), &app); err != nil {
		t.Fatal(err)
	}
	w.cluster.Apply(t, fmt.Sprintf(composed, app.Metadata.UID, time.Now().UTC().Format(time.RFC3339)))
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
	for name, do := range map[string]func(){"down": func() { w.down() }, "up": w.up, "compose": func() { w.compose(t) }} {
		mux.HandleFunc("POST /test/"+name, func(http.ResponseWriter, *http.Request) { do() })
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

// browse follows a resource through the pages of Backstage, in a browser.
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

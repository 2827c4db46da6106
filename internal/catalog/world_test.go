package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/test/database"
)

// world is a catalog with entities, as a client sees it.
type world struct {
	t       testing.TB
	store   *store.Store
	handler http.Handler
}

const entities = `
apiVersion: portal.io/v1alpha1
kind: Location
metadata: { name: root, annotations: { portal.io/managed-by-location: "file:/x" } }
spec: { type: file, target: /x }
---
apiVersion: portal.io/v1alpha1
kind: Component
metadata:
  name: Demo-Service
  title: Demo Service
  description: answers
  labels: { tier: backend }
  tags: [go, demo]
  annotations:
    portal.io/managed-by-location: url:http://x/a.yaml
    portal.io/managed-by-origin-location: url:http://x/a.yaml
    example.org/kept: "yes"
spec: { type: service, lifecycle: production, owner: platform, system: shop, providesApis: [demo-api] }
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: site
  namespace: web
  title: Shop
  annotations: { backstage.io/managed-by-location: "url:http://x/b.yaml" }
spec: { type: website, lifecycle: production, owner: "group:default/other" }
---
apiVersion: portal.io/v1alpha1
kind: API
metadata: { name: demo-api }
spec: { type: openapi, lifecycle: production, owner: platform, definition: "{}" }
---
apiVersion: portal.io/v1alpha1
kind: System
metadata: { name: shop, title: "" }
spec: { owner: platform }
---
apiVersion: portal.io/v1alpha1
kind: Group
metadata: { name: platform }
spec: { type: team, children: [] }
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: databases, title: Databases }
spec:
  type: infrastructure
  owner: platform
  parameters: [ { title: Name, properties: { size: { type: string } } } ]
  steps: [ { id: a, action: "debug:log" } ]
`

// newWorld returns a catalog with the entities above, whose parent is the first.
func newWorld(t testing.TB, rules ...config.PermissionRule) *world {
	t.Helper()
	w := newEmptyWorld(t, rules...)
	w.put(entities)
	return w
}

// newEmptyWorld returns a catalog without entities.
func newEmptyWorld(t testing.TB, rules ...config.PermissionRule) *world {
	t.Helper()
	s := store.New(database.Open(t, database.SQLite(t)), store.Options{})
	c := New(s, permission.New(config.Permission{Enabled: true, Rules: rules}))
	srv := httpd.New(httpd.Options{
		Plugins:      []rest.Plugin{{Names: []string{"catalog"}, Routes: c.Routes()}, c.SearchPlugin()},
		Authenticate: authenticate,
		AllowedHosts: []string{"example.com"},
		Log:          slog.New(slog.DiscardHandler),
		Now:          time.Now,
		Registry:     prometheus.NewRegistry(),
	})
	return &world{t: t, store: s, handler: srv.Handler()}
}

// authenticate trusts the request: "guest" is a guest, any other name a user who
// owns the entities of the group of that name.
func authenticate(r *http.Request) (context.Context, error) {
	name := r.Header.Get("Authorization")
	caller := auth.Caller{Kind: auth.User, Subject: "user:default/" + name, Ownership: []string{"user:default/" + name, "group:default/" + name}}
	if name == "guest" {
		caller = auth.Caller{Kind: auth.Guest, Subject: "user:development/guest"}
	}
	return auth.With(r.Context(), caller), nil
}

// put adds entities.
func (w *world) put(yaml string) {
	w.t.Helper()
	docs, errs := parser.DecodeBytes([]byte(yaml))
	if len(errs) > 0 {
		w.t.Fatal(errs[0])
	}
	change := write.Change{Provider: "test"}
	for i, n := range docs {
		d := write.Document{Node: n}
		if i > 0 {
			d.Parent = "location:default/root"
		}
		change.Put = append(change.Put, d)
	}
	if _, err := w.store.Sync(w.t.Context(), change); err != nil {
		w.t.Fatal(err)
	}
}

// many adds n components, with some names that differ only in their namespace,
// and many equal or missing titles.
func (w *world) many(n int) {
	w.t.Helper()
	var b strings.Builder
	for i := range n {
		title := fmt.Sprintf(", title: T%d", i%4)
		if i%5 == 0 {
			title = ""
		}
		fmt.Fprintf(&b, "---\napiVersion: portal.io/v1alpha1\nkind: Component\nmetadata: { name: c%03d, namespace: ns%d%s }\nspec: { type: service, lifecycle: x, owner: team }\n", i/3, i%3, title)
	}
	w.put(b.String())
}

// response is an HTTP response.
type response struct {
	status int
	header http.Header
	body   string
}

// do sends a request below /api/catalog. more has pairs of header names and values.
func (w *world) do(method, path, body string, more ...string) response {
	w.t.Helper()
	return w.send(method, "/api/catalog"+path, body, more...)
}

// at sends a GET request for a whole path.
func (w *world) at(path string, more ...string) response {
	w.t.Helper()
	return w.send(http.MethodGet, path, "", more...)
}

func (w *world) send(method, path, body string, more ...string) response {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "platform")
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	res := rec.Result()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response{status: res.StatusCode, header: res.Header, body: string(data)}
}

func (w *world) get(path string, more ...string) response {
	w.t.Helper()
	return w.do(http.MethodGet, path, "", more...)
}

// page is the response to a query.
type page struct {
	Items []struct {
		Kind     string
		Metadata struct{ Namespace, Name string }
	}
	TotalItems int
	PageInfo   struct{ NextCursor, PrevCursor string }
}

// names returns the names of the items.
func (p page) names() []string {
	var out []string
	for _, i := range p.Items {
		out = append(out, i.Metadata.Namespace+"/"+i.Metadata.Name)
	}
	return out
}

// decode decodes the body of a response that must be 200.
func decode[T any](t testing.TB, r response) T {
	t.Helper()
	var v T
	if r.status != http.StatusOK {
		t.Fatalf("response is %d: %s", r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("response %s cannot be decoded: %v", r.body, err)
	}
	return v
}

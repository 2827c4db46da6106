package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/test/postgres"
)

// site is a server with pages that can be changed.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
	asked map[string]int
	// tag, if not empty, is the ETag of all pages, even if they change.
	tag string
	// hold, if not nil, blocks responses until it is closed.
	hold chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: map[string]string{}, asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		text, ok := s.pages[r.URL.Path]
		hold, tag := s.hold, cmp.Or(s.tag, rest.ETagOf([]byte(text)))
		s.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// set changes a page; an empty text removes it.
func (s *site) set(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" {
		delete(s.pages, path)
		return
	}
	s.pages[path] = text
}

func (s *site) times(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

// shared is the PostgreSQL server of tests with several replicas.
var shared postgres.Shared

func TestMain(m *testing.M) { os.Exit(shared.End(m.Run())) }

// harness is a provider of locations, as a client sees it.
type harness struct {
	t        *testing.T
	store    *store.Store
	handler  http.Handler
	intake   *Providers
	queue    *jobs.Queue
	registry *prometheus.Registry
	// stop stops reading locations and closes the databases.
	stop func()
}

// everyKind allows all kinds.
var everyKind = []config.CatalogRule{{Allow: []string{"Component", "API", "System", "Location", "Group", "Template"}}}

// newHarness creates a provider with options on a database at path and runs it;
// an empty path is a new database.
func newHarness(t *testing.T, path string, opts Options, rules ...config.PermissionRule) *harness {
	t.Helper()
	f := openHarness(t, path, opts, rules...)
	f.run()
	return f
}

// openHarness creates a provider whose jobs do not run yet. The path may also be
// the URL of a PostgreSQL.
func openHarness(t *testing.T, path string, opts Options, rules ...config.PermissionRule) *harness {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "portal.db")
	}
	f := &harness{t: t, registry: prometheus.NewRegistry()}
	at := db.Options{Client: db.SQLite, Path: path, Now: time.Now}
	queue := jobs.Options{Client: db.SQLite, Path: path + ".jobs", Now: time.Now, Registry: f.registry}
	if strings.HasPrefix(path, "postgres") {
		at = db.Options{Client: db.Postgres, URL: path, Now: time.Now}
		queue = jobs.Options{Client: db.Postgres, URL: path, Now: time.Now, Registry: f.registry}
	}
	d, err := db.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	f.store = store.New(d, store.Options{})
	if f.queue, err = jobs.Open(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	f.stop = sync.OnceFunc(func() {
		if err := errors.Join(f.queue.Close(), f.store.Close()); err != nil {
			t.Errorf("Close returned %v", err)
		}
	})
	t.Cleanup(func() { f.stop() })
	opts.Store, opts.Queue, opts.Policy = f.store, f.queue, permission.New(config.Permission{Enabled: true, Rules: rules})
	opts.Now, opts.Registry = time.Now, f.registry
	opts.Catalog = catalog.New(f.store, opts.Policy)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Config.Rules == nil {
		opts.Config.Rules = everyKind
	}
	if opts.Config.LocationTypes == nil {
		opts.Config.LocationTypes = []string{"url"}
	}
	f.intake = New(opts)
	f.handler = httpd.New(httpd.Options{
		Plugins: []rest.Plugin{{Names: []string{"catalog"}, Routes: f.intake.Routes()}}, Authenticate: authenticate,
		Log: opts.Log, Now: time.Now, Registry: prometheus.NewRegistry(), MaxBody: 1 << 20, AllowedHosts: []string{"example.com"},
	}).Handler()
	return f
}

// run runs the jobs until the test ends or stop is called.
func (f *harness) run() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.queue.Run(ctx) }()
	end := f.stop
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("Run returned %v", err)
		}
		end()
	})
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

// response is an HTTP response.
type response struct {
	status int
	body   string
}

// do sends a request. more has pairs of header names and values.
func (f *harness) do(method, path, body string, more ...string) response {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, "/api/catalog"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "platform")
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	return response{rec.Code, rec.Body.String()}
}

func (f *harness) get(path string) response {
	f.t.Helper()
	return f.do(http.MethodGet, path, "")
}

// decode decodes the body of a response that must be 200.
func decode[T any](t *testing.T, r response) T {
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

// readingOf returns settings that allow a site and a folder, with a short
// interval.
func readingOf(address, root string) Options {
	host := strings.TrimPrefix(address, "http://")
	return Options{
		Reading: config.Reading{Allow: []config.AllowedHost{{Host: host}}, Roots: []string{root}, Timeout: 20 * time.Second},
		Config:  config.Catalog{Interval: 50 * time.Millisecond, LocationTypes: []string{"url", "file"}},
	}
}

// until waits until a condition is true.
func (f *harness) until(what string, ok func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("timed out waiting for %s; entities are %v, locations %s", what, f.refs(), f.get("/locations").body)
		}
	}
}

// refs returns the entities, except those of the locations themselves.
func (f *harness) refs() []string {
	f.t.Helper()
	var out []string
	err := f.store.Each(f.t.Context(), store.Query{Limit: store.NoLimit}, func(e *store.Entity) error {
		if !strings.HasPrefix(e.Ref, "location:default/generated-") {
			out = append(out, e.Ref)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func (f *harness) untilRefs(what string, want ...string) {
	f.t.Helper()
	f.until(what, func() bool { return slices.Equal(f.refs(), want) })
}

// register registers a location and returns its id.
func (f *harness) register(typ, target string) string {
	f.t.Helper()
	res := f.do(http.MethodPost, "/locations", fmt.Sprintf(`{"type":%q,"target":%q}`, typ, target))
	var body struct{ Location locationView }
	if err := json.Unmarshal([]byte(res.body), &body); err != nil || res.status != http.StatusCreated {
		f.t.Fatalf("registering %s returned %d %s", target, res.status, res.body)
	}
	return body.Location.ID
}

// location returns one location.
func (f *harness) location(id string) locationView {
	f.t.Helper()
	return decode[locationView](f.t, f.get("/locations/"+id))
}

// component returns the text of a Component of a team.
func component(name, owner string) string {
	return "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: " + name + " }\n" +
		"spec: { type: service, lifecycle: production, owner: " + owner + " }\n"
}

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"example.dev/ingestor/internal/rest"
)

// site is a server with pages that can be changed.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
	asked map[string]int
	// hold, if not nil, is waited for before a page is sent.
	hold chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: map[string]string{}, asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		text, ok := s.pages[r.URL.Path]
		hold := s.hold
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
		tag := rest.ETagOf([]byte(text))
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

// set changes a page; an empty text takes it away.
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

// harness is an intake that reads locations, as a client sees it.
type harness struct {
	t        *testing.T
	store    *store.Store
	handler  http.Handler
	intake   *Providers
	registry *prometheus.Registry
	// stop ends the reading of locations, and waits for it.
	stop func()
}

// everyKind lets all kinds come.
var everyKind = []config.CatalogRule{{Allow: []string{"Component", "API", "System", "Location", "Group", "Template"}}}

// newHarness makes an intake of the options on a database at path; an empty path
// is a new one.
func newHarness(t *testing.T, path string, opts Options, rules ...config.PermissionRule) *harness {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "portal.db")
	}
	d, err := db.Open(t.Context(), db.Options{Client: db.SQLite, Path: path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(d, store.Options{})
	f := &harness{t: t, store: s, registry: prometheus.NewRegistry()}
	opts.Store, opts.Policy, opts.Now, opts.Registry = s, permission.New(config.Permission{Enabled: true, Rules: rules}), time.Now, f.registry
	opts.Catalog, opts.Log = catalog.New(s, opts.Policy), slog.New(slog.DiscardHandler)
	if opts.Config.Rules == nil {
		opts.Config.Rules = everyKind
	}
	if opts.Config.LocationTypes == nil {
		opts.Config.LocationTypes = []string{"url"}
	}
	f.intake = New(opts)
	f.handler = rest.New(rest.Options{
		Plugins: []rest.Plugin{{Names: []string{"catalog"}, Routes: f.intake.Routes()}}, Authenticate: authenticate,
		Log: opts.Log, Now: time.Now, Registry: prometheus.NewRegistry(), MaxBody: 1 << 20, AllowedHosts: []string{"example.com"},
	}).Handler()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.intake.Run(ctx)
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// authenticate believes what the request says: "guest" is one, and anybody
// else a user who owns what is owned by a group of that name.
func authenticate(r *http.Request) (context.Context, error) {
	name := r.Header.Get("Authorization")
	caller := auth.Caller{Kind: auth.User, Subject: "user:default/" + name, Ownership: []string{"user:default/" + name, "group:default/" + name}}
	if name == "guest" {
		caller = auth.Caller{Kind: auth.Guest, Subject: "user:development/guest"}
	}
	return auth.With(r.Context(), caller), nil
}

// response is what a client gets.
type response struct {
	status int
	body   string
}

// do sends a request. More are pairs of header names and values.
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

// decode reads the body of a response that must be 200.
func decode[T any](t *testing.T, r response) T {
	t.Helper()
	var v T
	if r.status != http.StatusOK {
		t.Fatalf("got %d: %s", r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return v
}

// readingOf lets the farm read a site and a folder, often.
func readingOf(address, root string) Options {
	host := strings.TrimPrefix(address, "http://")
	return Options{
		Reading: config.Reading{Allow: []config.AllowedHost{{Host: host}}, Roots: []string{root}, Timeout: 20 * time.Second},
		Config:  config.Catalog{Interval: 50 * time.Millisecond, LocationTypes: []string{"url", "file"}},
	}
}

// until waits for something to become true.
func (f *harness) until(what string, ok func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited in vain for %s; there are %v, and locations %s", what, f.refs(), f.get("/locations").body)
		}
	}
}

// refs returns what there is, but for the entities of locations themselves.
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
		f.t.Fatalf("registering %s: %d %s", target, res.status, res.body)
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

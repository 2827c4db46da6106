package service_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// programConfig is the environment variable that makes this test binary run the
// program with a configuration.
const programConfig = "INGESTOR_TEST_PROGRAM_CONFIG"

// TestProgram runs portal-backend, for tests that need it as a separate process
// that can be killed.
func TestProgram(*testing.T) {
	path := os.Getenv(programConfig)
	if path == "" {
		return
	}
	os.Args = []string{portal.Name, "--config", path, "--log-format", "json"}
	app.Main(portal.Name, portal.Run)
}

// program is a service in a separate process.
type program struct {
	*service
	*process.Process
}

// launch starts a service in a separate process and does not wait until it is
// ready. The process ends with the test at the latest.
func launch(t *testing.T, s setup) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, at := address(t)
	path := s.write(t, at)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p := &program{service: &service{t: t, base: "http://" + at, log: &process.Log{}}}
	cmd := exec.Command(self, "-test.run=^TestProgram$", "-test.timeout=0")
	if s.executable != "" {
		cmd = exec.Command(s.executable, "--config", path, "--log-format", "json")
	}
	if len(s.wrapper) > 0 {
		cmd = exec.Command(s.wrapper[0], slices.Concat(s.wrapper[1:], cmd.Args)...)
	}
	cmd.Env = append(append(os.Environ(), programConfig+"="+path), s.environment...)
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if p.Process, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	p.stop = p.Kill
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", p.base, p.log.Tail())
		}
	})
	return p
}

// ready waits until a program responds.
func (p *program) ready() *program {
	p.t.Helper()
	p.until("ready", func() error {
		select {
		case <-p.Ended():
			p.t.Fatalf("program ended:\n%s", p.log.Tail())
		default:
		}
		_, err := p.get("/health/ready", nil)
		return err
	})
	return p
}

// answers waits until the service responds to requests for the catalog and for
// its health.
func (s *service) answers() {
	s.t.Helper()
	s.until("answers", func() error {
		if _, err := s.refs("kind=none"); err != nil {
			return err
		}
		_, err := s.get("/api/composer-ingestor/health", nil)
		return err
	})
}

// runs returns the recorded runs of a source, newest first.
func (s *service) runs(source string) ([]ingest.Run, error) {
	var all struct{ Items []ingest.Run }
	if _, err := s.get("/api/composer-ingestor/runs?limit=500", &all); err != nil {
		return nil, err
	}
	var out []ingest.Run
	for _, r := range all.Items {
		if r.Source == source {
			out = append(out, r)
		}
	}
	return out, nil
}

// ran waits for a run of a source that began after a time, and returns the
// first one.
func (s *service) ran(source string, after time.Time) (first ingest.Run) {
	s.t.Helper()
	s.until("a run of "+source, func() error {
		runs, err := s.runs(source)
		if err != nil {
			return err
		}
		found := false
		for _, r := range runs {
			if r.Started.After(after) {
				first, found = r, true
			}
		}
		if !found {
			return fmt.Errorf("none of %d runs began later", len(runs))
		}
		return nil
	})
	return first
}

// wroteNothing checks that a run left the catalog unchanged and built the given
// number of units again.
func wroteNothing(t *testing.T, what string, r ingest.Run, changed int) {
	t.Helper()
	if r.Error != "" || r.Changed != changed || r.Added+r.Updated+r.Removed+r.Failed > 0 {
		t.Errorf("%s: run is %+v, want %d units built and nothing written", what, r, changed)
	}
}

// stamps returns uid and etag of all entities that match a filter, by
// reference.
func (s *service) stamps(filter string) map[string]string {
	s.t.Helper()
	var all []found
	query := url.Values{}
	if filter != "" {
		query.Set("filter", filter)
	}
	if _, err := s.get("/api/catalog/entities?"+query.Encode(), &all); err != nil {
		s.t.Fatal(err)
	}
	out := make(map[string]string, len(all))
	for i := range all {
		m := &all[i].Metadata
		out[all[i].ref()] = m.UID + " " + m.ETag
	}
	return out
}

// waitUntilStable waits until the catalog has not changed for a second. A healthy source
// has been read, but an entity of two sources may be built once more.
func (s *service) waitUntilStable() map[string]string {
	s.t.Helper()
	last, since := s.stamps(""), time.Now()
	s.until("a catalog at rest", func() error {
		if now := s.stamps(""); !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
		if rested := time.Since(since); rested < time.Second {
			return fmt.Errorf("catalog last changed %s ago", rested)
		}
		return nil
	})
	return last
}

// checkUnchanged checks that the entities refs are the same as before.
func (s *service) checkUnchanged(before map[string]string, refs ...string) {
	s.t.Helper()
	now := s.stamps("")
	for _, ref := range refs {
		if before[ref] == "" || now[ref] != before[ref] {
			s.t.Errorf("%s was %q and is now %q", ref, before[ref], now[ref])
		}
	}
}

// TestRestartFetchesNothing checks that a restarted service fetches only the
// objects that have changed.
func TestRestartFetchesNothing(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one"), definition("betas", "one"), definition("gammas", "one")}})
	g := newGate(t, c)
	how := setup{database: inFile(t), sections: composer(sections{}, g.cluster("prod", "reader"))}
	s := start(t, how)
	s.waitForRefs("", entities("alphas", "betas", "gammas")...)
	s.wantHealth("healthy", nil)
	s.waitUntilStable()
	s.stop()
	if g.whole.Load() == 0 {
		t.Fatal("gate saw no request for whole definitions")
	}
	g.whole.Store(0)
	began := time.Now()
	again := start(t, how)
	again.ran("composerIngestor/prod", began)
	again.waitUntilStable()
	again.stop()
	if n := g.whole.Load(); n > 0 {
		t.Errorf("%d requests for whole definitions were made after a restart without changes, want 0", n)
	}
	c.Apply(t, definition("betas", "two"))
	start(t, how).until("the change", func() error {
		if n := g.whole.Load(); n == 0 {
			return errors.New("changed definition was not fetched")
		}
		return nil
	})
}

// warnings counts how often the log contains a text.
func (s *service) warnings(text string) int { return strings.Count(s.log.String(), text) }

// gate is a proxy in front of an API server. It identifies clients by their
// tokens, and can delay their requests.
type gate struct {
	url string

	mu   sync.Mutex
	hold func(who, path string, query url.Values) bool
	held chan string
	free chan struct{}
	// whole counts the requests for whole objects, not for their metadata.
	whole atomic.Int64
}

func newGate(t *testing.T, c *apiserver.Server) *gate {
	t.Helper()
	at, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{held: make(chan string, 100), free: make(chan struct{})}
	proxy := &httputil.ReverseProxy{
		// Watch events are passed on immediately.
		FlushInterval: -1, Transport: c.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Header.Del("Authorization")
		},
		// Clients may have been killed.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.mu.Lock()
		stop := g.hold != nil && g.hold(who, r.URL.Path, r.URL.Query())
		g.mu.Unlock()
		if stop {
			g.held <- who
			select {
			case <-g.free:
			case <-r.Context().Done():
			}
			return
		}
		if strings.Contains(r.URL.Path, "compositeresourcedefinitions") && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			g.whole.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = nil
	t.Cleanup(func() {
		close(g.free)
		server.CloseClientConnections()
		server.Close()
	})
	g.url = server.URL
	return g
}

// holds delays matching requests from now on; nil delays none.
func (g *gate) holds(which func(who, path string, query url.Values) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = which
}

// cluster returns the configuration of the API server behind the gate, for a
// client.
func (g *gate) cluster(name, who string) sections {
	return sections{"name": name, "url": g.url, "authProvider": "token", "token": who, "skipTLSVerify": true}
}

// numbered returns n definitions in one text, and the references of their
// entities.
func numbered(n int) (text string, refs []string) {
	var b strings.Builder
	for i := range n {
		plural := fmt.Sprintf("many%03ds", i)
		b.WriteString("---\n" + definition(plural, "one"))
		refs = append(refs, entities(plural)...)
	}
	return b.String(), refs
}

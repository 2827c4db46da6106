// Package service_test tests the ingesting service end to end: a portal in this
// process or in a separate one, real API servers, PostgreSQL and Redis. Results
// are checked through the HTTP API of the catalog.
package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// theToken is the token of a service account with all permissions.
const theToken = "a-static-token-of-the-tests-4711"

// patience is how long a test waits for a condition.
const patience = time.Minute

// sections are sections of a configuration.
type sections = map[string]any

// setup is what a service is started with.
type setup struct {
	// database is the section backend.database; nil means SQLite in a folder
	// of the test.
	database any
	// redis is the address of a Redis server, if there is one.
	redis string
	// telemetry is the section backend.telemetry; nil means none.
	telemetry sections
	// sections has further sections of the configuration.
	sections sections
	// build names the version of the program.
	build string
	// environment has further variables, for a separate process.
	environment []string
	// executable is the program, for a separate process; empty means this test
	// binary.
	executable string
	// extension is code around the engine.
	extension engine.Extension
	now       func() time.Time
	// wrapper is a command that runs the program, which is passed as its last
	// arguments.
	wrapper []string
}

// write writes the configuration to a folder of the test.
func (s *setup) write(t *testing.T, address string) string {
	t.Helper()
	if s.database == nil {
		s.database = sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}
	}
	backend := sections{
		"baseUrl": "http://" + address, "listen": address, "database": s.database,
		"auth": sections{"externalAccess": []any{sections{"type": "static", "options": sections{"token": theToken, "subject": "tests"}}}},
	}
	if s.redis != "" {
		backend["cache"] = sections{"store": "redis", "connection": s.redis}
	}
	if s.telemetry != nil {
		backend["telemetry"] = s.telemetry
	}
	all := sections{"backend": backend, "auth": sections{"providers": sections{"guest": sections{}}}}
	maps.Copy(all, s.sections)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// service is a running service.
type service struct {
	t    *testing.T
	base string
	log  *process.Log
	stop func()
}

func address(t *testing.T) (net.Listener, string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Addr().String()
}

// start starts a service in this process. It ends with the test, or when its
// stop is called.
func start(t *testing.T, s setup) *service {
	t.Helper()
	l, at := address(t)
	cfg, findings := config.Load([]string{s.write(t, at)}, config.Options{})
	for _, f := range findings {
		if f.Severity == finding.Error {
			t.Fatalf("configuration of the test is invalid: %v", f)
		}
	}
	if s.now == nil {
		s.now = time.Now
	}
	log := &process.Log{}
	p, err := server.New(t.Context(), server.Options{
		Config: cfg, Build: s.build, Extension: s.extension, Now: s.now, Log: slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("portal ended with %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		end()
		if strings.Contains(log.String(), theToken) {
			t.Error("log contains the token of a service")
		}
		if t.Failed() {
			t.Logf("end of the service's log:\n%s", log.Tail())
		}
	})
	w := &service{t: t, base: "http://" + at, log: log, stop: end}
	w.until("ready", func() error {
		_, err := w.get("/health/ready", nil)
		return err
	})
	return w
}

// get sends a GET request for a path, and decodes the response into v unless v
// is nil.
func (s *service) get(path string, v any) (int, error) { return s.ask(http.MethodGet, path, nil, v) }

func (s *service) ask(method, path string, body io.Reader, v any) (int, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+theToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	if v == nil {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(data, v)
}

// until waits until check returns nil.
func (s *service) until(what string, check func() error) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not reached within %v: %v", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// found is an entity of the catalog.
type found struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Title       string            `json:"title"`
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
		UID         string            `json:"uid"`
		ETag        string            `json:"etag"`
		Links       []struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"links"`
		Tags []string `json:"tags"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

func (f *found) ref() string {
	return strings.ToLower(f.Kind + ":" + f.Metadata.Namespace + "/" + f.Metadata.Name)
}

// entity returns an entity, nil if there is none.
func (s *service) entity(ref string) *found {
	s.t.Helper()
	kind, rest, _ := strings.Cut(ref, ":")
	var f found
	status, err := s.get("/api/catalog/entities/by-name/"+kind+"/"+rest, &f)
	if status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return &f
}

// refs returns the references of the entities that match a filter.
func (s *service) refs(filter string) ([]string, error) {
	var all []found
	query := url.Values{"fields": {"kind,metadata.name,metadata.namespace"}}
	if filter != "" {
		query.Set("filter", filter)
	}
	if _, err := s.get("/api/catalog/entities?"+query.Encode(), &all); err != nil {
		return nil, err
	}
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].ref()
	}
	slices.Sort(out)
	return out, nil
}

// waitForRefs waits until exactly these entities match a filter.
func (s *service) waitForRefs(filter string, refs ...string) {
	s.t.Helper()
	slices.Sort(refs)
	s.until("the entities of "+filter, func() error {
		got, err := s.refs(filter)
		if err == nil && !slices.Equal(got, refs) {
			err = fmt.Errorf("entities are %v, want %v", got, refs)
		}
		return err
	})
}

// health returns the health of the service.
func (s *service) health() health.Health {
	s.t.Helper()
	var h health.Health
	if _, err := s.get("/api/composer-ingestor/health", &h); err != nil {
		s.t.Fatal(err)
	}
	return h
}

// wantHealth waits until health has this status and these clusters; nil clusters are
// not compared.
func (s *service) wantHealth(status string, clusters map[string]string) {
	s.t.Helper()
	s.until("health "+status, func() error {
		h := s.health()
		if h.Status != status || clusters != nil && !maps.Equal(h.Clusters, clusters) {
			return fmt.Errorf("health is %s with clusters %v: %+v", h.Status, h.Clusters, h.Sources)
		}
		return nil
	})
}

// scan triggers a scan of a source, or of all if the name is empty, and waits
// for its run.
func (s *service) scan(source string) ingest.Run {
	s.t.Helper()
	asked := time.Now()
	var body io.Reader
	if source != "" {
		body = strings.NewReader(fmt.Sprintf(`{"source":%q}`, source))
	}
	if _, err := s.ask(http.MethodPost, "/api/composer-ingestor/runs", body, nil); err != nil {
		s.t.Fatal(err)
	}
	var last ingest.Run
	s.until("a run of "+source, func() error {
		var runs struct{ Items []ingest.Run }
		if _, err := s.get("/api/composer-ingestor/runs", &runs); err != nil {
			return err
		}
		for _, r := range runs.Items {
			// A scan that was already queued counts too.
			if r.Source != "" && r.Started.After(asked) && (source == "" || r.Source == source) {
				last = r
				return nil
			}
		}
		return fmt.Errorf("none of %d runs is of this scan", len(runs.Items))
	})
	return last
}

// cluster returns the configuration of an API server with the credentials of
// its administrator.
func cluster(name string, s *apiserver.Server) sections {
	return sections{"name": name, "kubeconfig": s.Kubeconfig}
}

// composer returns the section of variant A for clusters, with further
// settings.
func composer(more sections, clusters ...sections) sections {
	out := sections{"clusters": clusters, "schedule": sections{"frequency": "1h", "timeout": "30s"}}
	maps.Copy(out, more)
	return sections{"composerIngestor": out}
}

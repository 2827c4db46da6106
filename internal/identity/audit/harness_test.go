package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
)

// noon is the time at which tests begin.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.FixedZone("", 7200))

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: noon} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// stream is a standard output that can fail.
type stream struct {
	mu sync.Mutex
	b  bytes.Buffer
	// fail, if not nil, handles a write.
	fail func(p []byte) (int, error)
	// writes counts the calls.
	writes int
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.fail != nil {
		n, err := s.fail(p)
		s.b.Write(p[:n])
		return n, err
	}
	return s.b.Write(p)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// open returns a log that is closed with the test.
func open(t *testing.T, opts Options) *Log {
	t.Helper()
	if opts.Now == nil {
		opts.Now = newClock().now
	}
	l, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func toStdout(s *stream) Options {
	return Options{Config: config.Audit{To: config.AuditStdout}, Stdout: s}
}

func toFile(path string) Options {
	return Options{Config: config.Audit{To: config.AuditFile, File: path}}
}

// linesOf decodes lines, each of which must be complete.
func linesOf(t *testing.T, text string) []line {
	t.Helper()
	var out []line
	for l := range strings.Lines(text) {
		d := json.NewDecoder(strings.NewReader(l))
		d.DisallowUnknownFields()
		var one line
		if err := d.Decode(&one); err != nil || !strings.HasSuffix(l, "\n") {
			t.Fatalf("line %q cannot be decoded: %v", l, err)
		}
		out = append(out, one)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// as calls f in the context of a request of a caller.
func as(t *testing.T, c auth.Caller, remote, id string, f func(ctx context.Context)) {
	t.Helper()
	s := httpd.New(httpd.Options{
		Now: time.Now, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
		Authenticate: func(r *http.Request) (context.Context, error) { return auth.With(r.Context(), c), nil },
		Plugins: []rest.Plugin{{Names: []string{"test"}, Routes: []rest.Route{{
			Method: http.MethodPost, Path: "/event", Handle: func(_ http.ResponseWriter, r *http.Request) error { f(r.Context()); return nil },
		}}}},
	})
	r := httptest.NewRequest(http.MethodPost, "http://localhost/api/test/event", nil)
	r.RemoteAddr = remote
	r.Header.Set("X-Request-Id", id)
	w := httptest.NewRecorder()
	if s.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Fatalf("request returned %d, want 200", w.Code)
	}
}

// counters returns counters by name and labels.
func counters(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	all, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			out[name] = m.GetCounter().GetValue()
		}
	}
	return out
}

var ada = auth.Caller{Kind: auth.User, Subject: "user:default/ada"}

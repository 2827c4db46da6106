package httpd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/rest"
)

type subjectKey struct{}

// fill sets defaults for options. The name of a caller is its token, except
// "bad", which is refused.
func fill(o Options) Options {
	if o.Authenticate == nil {
		o.Authenticate = func(r *http.Request) (context.Context, error) {
			token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			switch {
			case !ok:
				return nil, rest.Unauthenticated("Missing credentials")
			case token == "bad":
				return nil, rest.BadToken("Illegal token")
			}
			return context.WithValue(r.Context(), subjectKey{}, token), nil
		}
		o.Caller = func(ctx context.Context) string { return ctx.Value(subjectKey{}).(string) }
	}
	// The first is for httptest.NewRequest, the second for requests that tests write
	// by hand.
	o.AllowedHosts = append(o.AllowedHosts, "example.com", "x")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	return o
}

// start starts a server with the routes below /api/things and /api/stuff.
func start(t *testing.T, o Options, routes ...rest.Route) (*Server, *httptest.Server) {
	t.Helper()
	o.Plugins = append(o.Plugins, rest.Plugin{Names: []string{"things", "stuff"}, Routes: routes})
	s := New(fill(o))
	hs := httptest.NewUnstartedServer(s.Handler())
	hs.Config.MaxHeaderBytes = maxHeader
	hs.Start()
	t.Cleanup(hs.Close)
	return s, hs
}

// answer is a response whose body was read.
type answer struct {
	*http.Response
	body string
}

// ask sends a request with headers, each "Name: value", and follows no
// redirects.
func ask(t *testing.T, hs *httptest.Server, method, path, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, hs.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	// Otherwise the transport requests gzip and decompresses it transparently.
	req.Header.Set("Accept-Encoding", "identity")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return roundTrip(t, hs, req)
}

// roundTrip sends a request unchanged.
func roundTrip(t *testing.T, hs *httptest.Server, req *http.Request) answer {
	t.Helper()
	res, err := hs.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res, string(data)}
}

const signedIn = "Authorization: Bearer ada"

// textRoute returns a handler that responds with the result of f.
func textRoute(f func(r *http.Request) string) rest.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		return rest.Write(w, r, rest.Content{Type: "text/plain", Body: []byte(f(r))})
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// find waits for a line with a message and returns it.
func (l *lines) find(t *testing.T, message string) map[string]any {
	t.Helper()
	var found map[string]any
	eventually(t, "a line with the message "+message, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for line := range bytes.Lines(l.b.Bytes()) {
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			if m["msg"] == message {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

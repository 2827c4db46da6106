package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.dev/ingestor/internal/rest"
)

func TestHealth(t *testing.T) {
	var broken error
	var log lines
	s, hs := start(t, Options{Ready: func(context.Context) error { return broken }, Log: log.logger(slog.LevelInfo)})
	probe := func(path string, status int, body string) {
		t.Helper()
		if got := ask(t, hs, "GET", path, ""); got.StatusCode != status || got.body != body {
			t.Errorf("%s: response is %d %s", path, got.StatusCode, got.body)
		}
	}
	const ok = `{"status":"ok"}`
	for _, path := range []string{"/.backstage/health/v1/liveness", "/.backstage/health/v1/readiness", "/health/live", "/health/ready"} {
		probe(path, 200, ok)
	}
	if log.String() != "" {
		t.Errorf("probes were logged:\n%s", &log)
	}
	broken = errors.New("the password is hunter2")
	probe("/health/ready", 503, `{"status":"error","message":"The portal is not ready; see the server log"}`)
	probe("/health/live", 200, ok)
	log.find(t, "not ready")
	broken = fmt.Errorf("probe: %w", &NotReady{Reason: "cannot write to a folder", Err: errors.New("cannot write to /secret/place")})
	probe("/health/ready", 503, `{"status":"error","message":"The portal is not ready: cannot write to a folder"}`)
	if !strings.Contains(log.String(), "/secret/place") {
		t.Errorf("log lacks the reason:\n%s", &log)
	}
	broken = nil
	probe("/health/ready", 200, ok)
	s.draining.Store(true)
	probe("/.backstage/health/v1/readiness", 503, `{"status":"error","message":"The portal is shutting down"}`)
	probe("/health/live", 200, ok)
}

func TestMetrics(t *testing.T) {
	_, hs := start(t, Options{}, rest.Route{Method: "GET", Path: "/named/{name}", Handle: textRoute(func(*http.Request) string { return "x" })})
	ask(t, hs, "GET", "/api/things/named/a", "", signedIn)
	ask(t, hs, "GET", "/api/stuff/named/b", "", signedIn)
	ask(t, hs, "GET", "/api/things/named/a", "")
	ask(t, hs, "BREW", "/api/things/nosuch/1", "", signedIn)
	ask(t, hs, "GET", "/api/nosuch/2", "")
	want := []string{
		`http_requests_total{method="GET",plugin="things",route="/named/{name}",status="200"} 2`,
		`http_requests_total{method="GET",plugin="things",route="/named/{name}",status="401"} 1`,
		`http_requests_total{method="other",plugin="things",route="none",status="404"} 1`,
		`http_requests_total{method="GET",plugin="",route="none",status="404"} 1`,
		`http_request_duration_seconds_count{plugin="things",route="/named/{name}"} 3`,
		`http_requests_in_flight 1`, // This request is in flight.
		`go_goroutines`, `process_resident_memory_bytes`,
	}
	// A request is counted after its response.
	var got string
	eventually(t, strings.Join(want, "\n"), func() bool {
		got = ask(t, hs, "GET", "/metrics", "").body
		for _, line := range want {
			if !strings.Contains(got, line) {
				return false
			}
		}
		return true
	})
}

func TestWhoSeesMetrics(t *testing.T) {
	cases := map[string]struct {
		reason string
		public bool
		remote string
		header string
		status int
	}{
		"Here":         {"Metrics are visible from this machine.", false, "127.0.0.1:1", "", 200},
		"Here6":        {"Metrics are visible from this machine over IPv6.", false, "[::1]:1", "", 200},
		"Proxy":        {"Metrics are not visible through a local proxy.", false, "127.0.0.1:1", "X-Forwarded-For: 192.0.2.1", 401},
		"Elsewhere":    {"Metrics are not visible from other machines.", false, "192.0.2.1:1", "", 401},
		"ElsewhereBad": {"Metrics are not visible with an invalid token.", false, "192.0.2.1:1", "Authorization: Bearer bad", 403},
		"Token":        {"Metrics are visible with a valid token.", false, "192.0.2.1:1", signedIn, 200},
		"Public":       {"Metrics can be public.", true, "192.0.2.1:1", "", 200},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(fill(Options{PublicMetrics: tc.public}))
			r := httptest.NewRequest("GET", "/metrics", nil)
			r.RemoteAddr = tc.remote
			if key, value, ok := strings.Cut(tc.header, ": "); ok {
				r.Header.Set(key, value)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if w.Code != tc.status {
				t.Errorf("%s: status is %d", tc.reason, w.Code)
			}
		})
	}
}

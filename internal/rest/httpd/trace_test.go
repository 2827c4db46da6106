package httpd

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/telemetry"
	"example.dev/ingestor/test/collector"
)

// TestTrace checks the spans of requests, and that log lines name their trace.
func TestTrace(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	log := &lines{}
	tel, err := telemetry.New(t.Context(), telemetry.Options{
		Config:   config.Telemetry{Endpoint: c.URL, Traces: true, SampleRatio: 1},
		Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	inside := ""
	_, hs := start(t, Options{
		Tracer: tel.Tracer(), Log: tel.Log(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) }),
	}, rest.Route{Method: "GET", Path: "/all/{id}", Handle: textRoute(func(r *http.Request) string {
		inside = trace.SpanContextFromContext(r.Context()).TraceID().String()
		return "x"
	})}, rest.Route{Method: "POST", Path: "/fail", Handle: func(http.ResponseWriter, *http.Request) error {
		return errors.New("database of s3cr3t is gone")
	}}, rest.Route{Method: "GET", Path: "/panic", Handle: func(http.ResponseWriter, *http.Request) error {
		panic("s3cr3t")
	}})

	const parent = "0af7651916cd43dd8448eb211c80319c"
	ask(t, hs, "GET", "/api/things/all/1?token=s3cr3t", "", signedIn, "traceparent: 00-"+parent+"-b7ad6b7169203331-01")
	ask(t, hs, "GET", "/api/stuff/all/2", "", signedIn, "traceparent: nonsense")
	ask(t, hs, "GET", "/api/things/all/3", "", "Authorization: Bearer bad")
	ask(t, hs, "POST", "/api/things/fail", "", signedIn)
	ask(t, hs, "GET", "/api/things/panic", "", signedIn)
	ask(t, hs, "GET", "/api/things/nothing", "", signedIn)
	ask(t, hs, "PURGE", "/api/things/all/%ff", "", signedIn)
	for _, path := range []string{"/health/live", "/health/ready", "/metrics", "/", "/assets/x.js"} {
		ask(t, hs, "GET", path, "")
	}
	tel.Shutdown(t.Context())

	type span struct {
		name, path, route, status string
		failed                    bool
	}
	var got []span
	for _, s := range c.Spans() {
		a := s.Attributes
		got = append(got, span{s.Name, a["url.path"], a["http.route"], a["http.response.status_code"], s.Failed})
		if s.Kind != "server" || s.Description != "" || s.End.Before(s.Start) {
			t.Errorf("span is %+v", s)
		}
		// Each of these requests has one log line at least.
		if !strings.Contains(log.String(), `"traceId":"`+s.TraceID+`"`) {
			t.Errorf("log does not have the trace of %s", s.Name)
		}
	}
	want := []span{
		{"GET /api/things/all/{id}", "/api/things/all/1", "/api/things/all/{id}", "200", false},
		{"GET /api/things/all/{id}", "/api/stuff/all/2", "/api/things/all/{id}", "200", false},
		{"GET /api/things/all/{id}", "/api/things/all/3", "/api/things/all/{id}", "403", false},
		{"POST /api/things/fail", "/api/things/fail", "/api/things/fail", "500", true},
		{"GET /api/things/panic", "/api/things/panic", "/api/things/panic", "500", true},
		{"GET", "/api/things/nothing", "", "404", false},
		{"_OTHER", "/api/things/all/\uFFFD", "", "405", false},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" {
		t.Fatalf("spans (-want +got):\n%s", diff)
	}
	all := c.Spans()
	if all[0].TraceID != parent || all[0].Parent != "b7ad6b7169203331" {
		t.Errorf("span %+v does not continue the trace of its caller", all[0])
	}
	if all[1].TraceID != inside || all[1].Parent != "" {
		t.Errorf("span %+v does not begin the trace %s of its handler", all[1], inside)
	}
	if n := strings.Count(log.String(), all[3].TraceID); n != 2 {
		t.Errorf("%d log lines have the trace of a failed request, want those of the failure and of the request:\n%s", n, log)
	}
	for _, r := range c.Requests() {
		if bytes.Contains(r.Body, []byte("s3cr3t")) {
			t.Error("an export has a query, or the text of an error")
		}
	}
}

package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/collector"
)

// TestTransport checks the spans of requests to a cluster.
func TestTransport(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("x"))
		case "/slow":
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte("{}"))
		}
	}))
	defer api.Close()
	tel, _ := open(t, settings(c.URL), nil)
	client := &http.Client{Transport: tel.Transport("prod", http.DefaultTransport)}
	get := func(timeout time.Duration, path string) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, api.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer s3cr3t")
		resp, err := client.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		if (path == "/cut") != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: body ended with %v", path, err)
		}
	}
	get(time.Minute, "/apis/a?labelSelector=s3cr3t")
	get(time.Minute, "/apis/b?watch=true")
	get(time.Minute, "/missing")
	get(time.Minute, "/cut")
	get(50*time.Millisecond, "/slow")
	get(time.Minute, "/%ff")
	tel.Shutdown(t.Context())

	type span struct{ path, status, kind string }
	var got []span
	for _, s := range c.Spans() {
		a := s.Attributes
		got = append(got, span{a["url.path"], a["http.response.status_code"], a["error.type"]})
		if s.Kind != "client" || s.Name != "GET" || a["k8s.cluster.name"] != "prod" || a["server.address"] != "127.0.0.1" || s.Failed != (a["error.type"] != "") || s.Description != "" {
			t.Errorf("span is %+v", s)
		}
	}
	want := []span{{"/apis/a", "200", ""}, {"/apis/b", "200", ""}, {"/missing", "404", "404"}, {"/cut", "200", "connection"}, {"/slow", "", "timeout"}, {"/\uFFFD", "200", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for _, r := range c.Requests() {
		if bytes.Contains(r.Body, []byte("s3cr3t")) {
			t.Error("an export has a header or a query")
		}
	}
}

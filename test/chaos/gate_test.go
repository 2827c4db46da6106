package chaos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"example.dev/ingestor/test/apiserver"
)

// What a gate does with requests.
const (
	passes = iota
	// cuts aborts connections, hangs sends no response, and lies returns empty
	// lists with a valid resource version.
	cuts
	hangs
	lies
)

// gate is a proxy in front of the API server.
type gate struct {
	url    string
	server *httptest.Server

	mu sync.Mutex
	// mode is one of the constants, changed is closed when the mode changes.
	mode    int
	changed chan struct{}
}

func newGate(t *testing.T, c *apiserver.Server) *gate {
	t.Helper()
	at, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{changed: make(chan struct{})}
	behind := &httputil.ReverseProxy{
		// Watch events are passed on immediately.
		FlushInterval: -1, Transport: c.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Header.Del("Authorization")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) },
	}
	g.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		mode, changed := g.mode, g.changed
		g.mu.Unlock()
		switch {
		case mode == cuts:
			panic(http.ErrAbortHandler)
		case mode == hangs:
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			panic(http.ErrAbortHandler)
		case mode == lies && r.URL.Query().Get("limit") != "" && r.URL.Query().Get("watch") == "":
			r.Header.Del("Accept-Encoding")
			truth := httptest.NewRecorder()
			behind.ServeHTTP(truth, r)
			var list struct {
				Metadata struct{ ResourceVersion string }
			}
			if json.Unmarshal(truth.Body.Bytes(), &list) != nil || list.Metadata.ResourceVersion == "" {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":%q},"items":[]}`, list.Metadata.ResourceVersion)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	g.url = g.server.URL
	t.Cleanup(func() {
		g.to(cuts)
		g.server.Close()
	})
	return g
}

// to changes the mode. Existing connections are closed, as watches would not
// notice the change.
func (g *gate) to(mode int) {
	g.mu.Lock()
	g.mode = mode
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
	if mode != passes {
		g.server.CloseClientConnections()
	}
}

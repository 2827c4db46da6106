package httpd

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

// nowhere is a response that is discarded.
type nowhere struct{ h http.Header }

func (n *nowhere) Header() http.Header              { return n.h }
func (n *nowhere) Write(p []byte) (int, error)      { return len(p), nil }
func (n *nowhere) WriteHeader(int)                  {}
func (n *nowhere) SetWriteDeadline(time.Time) error { return nil }
func (n *nowhere) SetReadDeadline(time.Time) error  { return nil }

// BenchmarkRequest measures the overhead of a request with everything enabled,
// without the network.
func BenchmarkRequest(b *testing.B) {
	body := []byte(`{"kind":"Component"}`)
	s := New(fill(Options{
		Plugins: []rest.Plugin{{Names: []string{"catalog"}, Routes: []rest.Route{{
			Method: "GET", Path: "/entities/by-name/{kind}/{namespace}/{name}",
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				return rest.Write(w, r, rest.Content{ETag: "v1", Body: body})
			},
		}}}},
		Log:       slog.New(slog.NewJSONHandler(io.Discard, nil)),
		CORS:      config.CORS{Origins: []string{"https://portal.example.org"}},
		RateLimit: config.RateLimit{Enabled: true, Requests: 1e9, Window: time.Second},
	}))
	h := s.Handler()
	r := httptest.NewRequest("GET", "/api/catalog/entities/by-name/component/default/x?a=b", nil)
	r.Header.Set("Authorization", "Bearer ada")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(&nowhere{http.Header{}}, r)
	}
}

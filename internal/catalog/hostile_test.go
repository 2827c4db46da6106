package catalog

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestSameRefs requests a long entity many times, and checks that memory does
// not grow with the size of the response.
func TestSameRefs(t *testing.T) {
	w := newEmptyWorld(t)
	w.put("apiVersion: portal.io/v1alpha1\nkind: API\nmetadata: { name: long }\nspec: { type: x, lifecycle: y, owner: z, definition: \"" + strings.Repeat("long ", 200_000) + "\" }\n")
	body := `{"entityRefs":["api:default/long"` + strings.Repeat(`,"api:default/long"`, batch-1) + `]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/catalog/entities/by-refs", strings.NewReader(body))
	out := &sink{header: http.Header{}}
	w.handler.ServeHTTP(out, r)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; out.status != http.StatusOK || out.bytes < batch<<20/2 || used > 100 {
		t.Errorf("status is %d, with %d bytes sent and %d MiB allocated", out.status, out.bytes, used)
	}
}

// sink counts the bytes written to it.
type sink struct {
	header        http.Header
	status, bytes int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

package catalog

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkRead measures the most frequent requests, through the whole server
// except the network.
func BenchmarkRead(b *testing.B) {
	w := newEmptyWorld(b)
	w.many(3000)
	for name, path := range map[string]string{
		"ByName":    "/entities/by-name/component/ns1/c500",
		"List100":   "/entities?limit=100&filter=kind=component",
		"Query20":   "/entities/by-query?limit=20&filter=kind=component&orderField=metadata.name,asc",
		"Fields20":  "/entities/by-query?limit=20&filter=kind=component&fields=kind,metadata.namespace,metadata.name,metadata.title",
		"Unchanged": "/entities",
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/catalog"+path, http.NoBody)
			r.Header.Set("Authorization", "team")
			if name == "Unchanged" {
				r.Header.Set("If-None-Match", w.get(path).header.Get("Etag"))
			}
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				w.handler.ServeHTTP(rec, r)
				if rec.Code >= http.StatusBadRequest {
					b.Fatalf("response is %d: %s", rec.Code, rec.Body)
				}
			}
		})
	}
}

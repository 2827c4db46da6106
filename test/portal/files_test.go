package portal_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// files is a file server on loopback, as a target of locations.
type files struct {
	// base is the URL of the files, host the host of the server.
	base, host string
	mu         sync.Mutex
	handlers   map[string]http.HandlerFunc
}

// serveFiles serves the files of a folder below /_files, unless the folder is
// empty.
func serveFiles(t *testing.T, dir string) *files {
	t.Helper()
	f := &files{handlers: map[string]http.HandlerFunc{}}
	folder := http.NotFoundHandler()
	if dir != "" {
		folder = http.StripPrefix("/_files", http.FileServer(http.Dir(dir)))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		handler := f.handlers[strings.TrimPrefix(r.URL.Path, "/_files/")]
		f.mu.Unlock()
		if handler == nil {
			folder.ServeHTTP(w, r)
			return
		}
		handler(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	f.host = strings.TrimPrefix(s.URL, "http://")
	f.base = s.URL + "/_files"
	return f
}

// handle registers a handler for a file.
func (f *files) handle(name string, handler http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[name] = handler
}

// put serves a file, in which BASE is replaced by the URL of the files, and
// returns its URL.
func (f *files) put(name, content string) string {
	f.handle(name, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write([]byte(strings.ReplaceAll(content, "BASE", f.base)))
	})
	return f.base + "/" + name
}

// oracleFiles returns the folder of the files that were used when Backstage was
// recorded, and that the official client expects.
func oracleFiles(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{
		filepath.Join(os.Getenv("INGESTOR_ORACLE_DIR"), "files"),
		filepath.Join(os.Getenv("INGESTOR_TRANSCRIPTS"), "..", "..", "oracle", "files"),
	} {
		if _, err := os.Stat(filepath.Join(dir, "catalog-info.yaml")); err == nil {
			return dir
		}
	}
	t.Skip("INGESTOR_ORACLE_DIR is not set; that folder has the files for recorded requests")
	return ""
}

// listen listens on a free loopback port.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// closedPort returns a loopback address without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

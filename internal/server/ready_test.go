package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
)

// TestReadyWithoutWorkspaces checks that the portal is not ready without a
// workspace folder, and reports why.
func TestReadyWithoutWorkspaces(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	c := &config.Config{}
	c.Backend.Database = config.Database{Client: config.ClientSQLite, Path: filepath.Join(dir, "portal.sqlite")}
	c.Backend.BaseURL, c.Scaffolder.WorkingDirectory = "http://localhost", work
	p, err := New(t.Context(), Options{Config: c, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // it was only looked at
	ready := func(status int, says string) {
		t.Helper()
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/health/ready", nil))
		if w.Code != status || !strings.Contains(w.Body.String(), says) || strings.Contains(w.Body.String(), dir) {
			t.Errorf("response is %d %s", w.Code, w.Body)
		}
	}
	ready(200, "ok")
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	ready(200, "ok") // The folder is created again.
	if err := errors.Join(os.RemoveAll(work), os.WriteFile(work, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	ready(503, "The portal is not ready: cannot use workspace folder: not a directory")
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	ready(200, "ok")
}

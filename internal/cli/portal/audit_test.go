package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
)

// screen is a stream that is safe for concurrent use.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// configured writes a configuration with an audit section and a free port, and
// returns its path and the address.
func configured(t *testing.T, audit string) (path, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "app-config.yaml")
	text := fmt.Sprintf("backend: { baseUrl: 'http://%[1]s', listen: '%[1]s', database: { client: sqlite, connection: '%[2]s' } }\naudit: %[3]s\nscaffolder: { workingDirectory: '%[4]s' }\n",
		address, filepath.Join(dir, "portal.sqlite"), audit, filepath.Join(dir, "tasks"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, address
}

// TestAuditStdout checks that standard output has only the audit log.
func TestAuditStdout(t *testing.T) {
	path, address := configured(t, "{ to: stdout }")
	out, errs := &screen{}, &screen{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	env := &app.Env{Args: []string{"--config", path}, Stdout: out, Stderr: errs, Getenv: func(string) string { return "" }, Now: time.Now}
	go func() { ended <- app.Run(ctx, Name, env, Run) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Post("http://"+address+"/api/auth/guest/refresh", "application/json", nil) //nolint:noctx // it is asked again
		if err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("program does not respond: %v\n%s", err, errs)
		}
	}
	stop()
	if code := <-ended; code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var line struct {
		Event string
		Actor struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil || line.Event != "auth.sign-in" || line.Actor.Kind != "guest" {
		t.Errorf("standard output is %q: %v", out, err)
	}
	if !strings.Contains(errs.String(), "Ctrl-C stops it") {
		t.Errorf("address of the portal is not printed:\n%s", errs)
	}
}

// TestAuditFile checks that a program whose audit log cannot be opened does not
// start.
func TestAuditFile(t *testing.T) {
	path, _ := configured(t, "{ to: file, file: nowhere/audit.jsonl }")
	out, errs := &screen{}, &screen{}
	env := &app.Env{Args: []string{"--config", path}, Stdout: out, Stderr: errs, Getenv: func(string) string { return "" }, Now: time.Now}
	code := app.Run(t.Context(), Name, env, Run)
	want := fmt.Sprintf("%s: cannot open audit log %s: no such file or directory\n  create the folder, or set audit.file to another path\n", Name, filepath.Join(filepath.Dir(path), "nowhere", "audit.jsonl"))
	if code != app.ExitFailed || errs.String() != want {
		t.Errorf("exit code is %d, standard error is\n%s, want\n%s", code, errs, want)
	}
}

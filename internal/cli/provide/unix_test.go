//go:build unix

package provide

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
)

// TestTokenPipe checks that a token that can be read only once, as with
// --token-file <(command), is sent with every request.
func TestTokenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(path, []byte("sesame\n"), 0o600) }()
	var shown atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer sesame" {
			shown.Add(1)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"items":[],"added":1}`)
	}))
	defer server.Close()
	var notes strings.Builder
	env := &app.Env{
		Args: []string{"--api-url", server.URL, "--token-file", path}, Stdin: strings.NewReader(component("a")), Stdout: io.Discard, Stderr: &notes,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}
	ended := make(chan int, 1)
	go func() { ended <- app.Run(t.Context(), Name, env, Run) }()
	select {
	case code := <-ended:
		if code != app.ExitOK || shown.Load() != 2 {
			t.Errorf("exit code is %d, token was sent %d times\n%s", code, shown.Load(), notes.String())
		}
	case <-time.After(patience):
		t.Error("command waits for a second read of the token")
	}
}

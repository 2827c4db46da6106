package provide

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
)

// TestHelp wants every command to have a page with examples that use it.
func TestHelp(t *testing.T) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }})
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c.Long == "" || !strings.Contains(c.Example, "  "+c.CommandPath()+" ") {
			t.Errorf("%s has no help, or no example", c.CommandPath())
		}
	}
}

// TestInterrupted wants a program that waits for a pipe to stop when told to.
func TestInterrupted(t *testing.T) {
	in, _ := io.Pipe()
	var notes bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	env := &app.Env{
		Args: []string{"--api-url", "http://127.0.0.1:1"}, Stdin: in, Stdout: io.Discard, Stderr: &notes, Now: time.Now,
		Getenv: func(string) string { return "" },
	}
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, Name, env, Run) }()
	cancel()
	select {
	case code := <-ended:
		if code != app.ExitFailed || notes.String() != "portal-provide: interrupted\n" {
			t.Errorf("exit code %d: %s", code, notes.String())
		}
	case <-time.After(patience):
		t.Error("it waits for ever")
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestOutputFails wants a disk that is full to be a failure, and a reader that
// has seen enough not.
func TestOutputFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"items":[],"added":1}`)
	}))
	defer server.Close()
	for _, format := range []string{"text", "json"} {
		for _, tc := range []struct {
			err  error
			code int
		}{{syscall.EPIPE, app.ExitOK}, {syscall.ENOSPC, app.ExitFailed}} {
			var notes strings.Builder
			env := &app.Env{
				Args: []string{"--api-url", server.URL, "--output-format", format}, Stdin: strings.NewReader(component("a")), Stdout: failing{tc.err}, Stderr: &notes,
				Getenv: func(string) string { return "" }, Now: time.Now,
			}
			if code := app.Run(t.Context(), Name, env, Run); code != tc.code || (code == app.ExitOK) != (notes.Len() == 0) {
				t.Errorf("%s, %v: exit code %d, want %d\n%s", format, tc.err, code, tc.code, notes.String())
			}
		}
	}
}

// TestAuthority wants a portal whose certificate a named authority signed to be
// believed, and no other.
func TestAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"items":[]}`) }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	put(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	for name, tc := range map[string]struct {
		args []string
		code int
		err  string
	}{
		"Named":   {[]string{"--ca-file", path}, app.ExitOK, ""},
		"Unknown": {nil, app.ExitFailed, "name the authority of its certificate with --ca-file"},
	} {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			env := &app.Env{
				Args: append([]string{"--api-url", server.URL, "--dry-run"}, tc.args...), Stdin: strings.NewReader(component("a")), Stdout: io.Discard, Stderr: &notes,
				Getenv: func(string) string { return "" }, Now: time.Now,
			}
			if code := app.Run(t.Context(), Name, env, Run); code != tc.code || !strings.Contains(notes.String(), tc.err) {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, notes.String())
			}
		})
	}
}

// TestPump wants what was opened to be read whole, whatever the sizes, and what
// goes wrong to be told.
func TestPump(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := strings.Repeat("entity\n", 50_000)
	got, err := io.ReadAll(pump(ctx, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }))
	if err != nil || string(got) != text {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, len(text))
	}
	if _, err := io.ReadAll(pump(ctx, func() (io.ReadCloser, error) { return os.Open(filepath.Join(t.TempDir(), "nowhere")) })); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestProgress wants somebody who is looking to see how far it has come, and
// nothing of it to stay.
func TestProgress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"items":[],"added":2}`)
	}))
	defer server.Close()
	var clock atomic.Int64
	var notes bytes.Buffer
	env := &app.Env{
		Args: []string{"--api-url", server.URL}, Stdin: strings.NewReader(component("a") + component("b")), Stdout: io.Discard, Stderr: &notes, StderrTerminal: true,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(clock.Add(1), 0) },
	}
	code := app.Run(t.Context(), Name, env, Run)
	const wipe = "\r\x1b[K"
	if got := notes.String(); code != app.ExitOK || !strings.HasPrefix(got, wipe+"reading 1 entities"+wipe+"reading 2 entities"+wipe+wipe+"pushing 2/2 entities") || !strings.HasSuffix(got, wipe) {
		t.Errorf("exit code %d: %q", code, got)
	}
}

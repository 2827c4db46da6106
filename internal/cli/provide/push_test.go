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
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
)

// TestHelp checks that every command has help with examples.
func TestHelp(t *testing.T) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }})
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c.Long == "" || !strings.Contains(c.Example, "  "+c.CommandPath()+" ") {
			t.Errorf("%s has no help or no example", c.CommandPath())
		}
	}
}

// TestDocs checks that the handbook has every flag of every command, and no other.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/portal-provide.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	// Flags that all programs have, and those of cobra.
	known := map[string]bool{"quiet": true, "verbose": true, "debug": true, "no-color": true, "help": true, "version": true}
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }})
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !known[f.Name] && !regexp.MustCompile("--"+f.Name+"[^a-z-]").MatchString(page) {
				t.Errorf("docs/portal-provide.md does not have --%s of %s", f.Name, c.CommandPath())
			}
			known[f.Name] = true
		})
	}
	for _, m := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(page, -1) {
		if !known[m[1]] {
			t.Errorf("docs/portal-provide.md has --%s, which no command has", m[1])
		}
	}
}

// TestInterrupted checks that a program that waits for a pipe stops when
// interrupted.
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
			t.Errorf("exit code is %d: %s", code, notes.String())
		}
	case <-time.After(patience):
		t.Error("program did not stop")
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestOutputFails checks that a full disk is a failure, and a closed pipe is
// not.
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

// TestAuthority checks that only a certificate of the configured authority is
// trusted.
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
		"Unknown": {nil, app.ExitFailed, "set --ca-file to the CA that signed its certificate"},
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

// TestPump checks that input of all sizes is read completely, and that errors
// are returned.
func TestPump(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := strings.Repeat("entity\n", 50_000)
	got, err := io.ReadAll(pump(ctx, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }))
	if err != nil || string(got) != text {
		t.Errorf("pump returned %d bytes, %v; want %d", len(got), err, len(text))
	}
	if _, err := io.ReadAll(pump(ctx, func() (io.ReadCloser, error) { return os.Open(filepath.Join(t.TempDir(), "nowhere")) })); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pump returned %v, want os.ErrNotExist", err)
	}
}

// TestProgress checks that a terminal gets progress, which is cleared
// afterwards.
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
		t.Errorf("exit code is %d: %q", code, got)
	}
}

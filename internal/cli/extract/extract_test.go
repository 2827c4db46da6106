package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/test/size"
)

// text returns a definition on one line.
func text(name string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.crossplane.io/v2","kind":"CompositeResourceDefinition","metadata":{"name":%q},"spec":{"group":"example.org"}}`+"\n", name)
}

func newEnv(in io.Reader, out, notes io.Writer, args ...string) *app.Env {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &app.Env{Args: args, Stdin: in, Stdout: out, Stderr: notes, Getenv: func(string) string { return "" }, Now: func() time.Time {
		at = at.Add(time.Second)
		return at
	}}
}

func TestRun(t *testing.T) {
	var out, notes bytes.Buffer
	code := app.Run(t.Context(), Name, newEnv(strings.NewReader(text("a")+text("b")), &out, &notes), Run)
	record := func(name, at string) string {
		return `{"source":"file","timestamp":"2026-01-02T03:04:` + at + `Z","xrd":` + strings.TrimSpace(text(name)) + `,"metadata":{"path":"stdin"}}` + "\n"
	}
	if diff := cmp.Diff(record("a", "06")+record("b", "07"), out.String()); diff != "" || code != app.ExitOK {
		t.Errorf("exit code %d, %s; standard output (-want +got):\n%s", code, notes.String(), diff)
	}
}

// TestAtOnce checks that each record is written before the next is read.
func TestAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	out, tap := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- app.Run(t.Context(), Name, newEnv(in, tap, io.Discard), Run)
		_ = tap.Close()
	}()
	lines := make(chan string)
	go func() {
		all := make([]byte, 1<<16)
		for {
			n, err := out.Read(all)
			if err != nil {
				close(lines)
				return
			}
			lines <- string(all[:n])
		}
	}()
	for _, name := range []string{"a", "b"} {
		// The end of a document is known when the next one begins.
		if _, err := io.WriteString(feed, text(name)+"{}\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case line := <-lines:
			if !strings.Contains(line, `"name":"`+name+`"`) {
				t.Errorf("line is %q, want the record of %s", line, name)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no record was written")
		}
	}
	_ = feed.Close()
	if code := <-done; code != app.ExitOK {
		t.Errorf("exit code is %d, want 0", code)
	}
}

// TestInterrupted checks that an interrupted run writes an error record.
func TestInterrupted(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close() //nolint:errcheck // it cannot fail
	ctx, stop := context.WithCancel(t.Context())
	var out, notes bytes.Buffer
	done := make(chan int)
	go func() { done <- app.Run(ctx, Name, newEnv(in, &out, &notes), Run) }()
	if _, err := io.WriteString(feed, text("a")+"{}\n"); err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case code := <-done:
		if code != app.ExitFailed || notes.String() != "xrd-extract: interrupted\n" {
			t.Errorf("exit code is %d, standard error is %q", code, notes.String())
		}
		if !strings.HasSuffix(out.String(), `{"error":{"message":"xrd-extract: interrupted"}}`+"\n") {
			t.Errorf("standard output is %q", out.String())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("command did not return")
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestBrokenOutput(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		code   int
		notes  string
	}{
		"Closed": {"A closed pipe is no failure.", syscall.EPIPE, app.ExitOK, ""},
		"Full":   {"Any other write error is a failure.", errors.New("no space left"), app.ExitFailed, "xrd-extract: cannot write records: no space left\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes bytes.Buffer
			code := app.Run(t.Context(), Name, newEnv(strings.NewReader(text("a")+text("b")), brokenWriter{tc.err}, &notes), Run)
			if code != tc.code || notes.String() != tc.notes {
				t.Errorf("%s: exit code is %d, standard error is %q", tc.reason, code, notes.String())
			}
		})
	}
}

// TestFolder checks the content of a directory after errors.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	// A directory that is not empty is in the place of a file.
	if err := os.MkdirAll(filepath.Join(dir, "a.json", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	code := app.Run(t.Context(), Name, newEnv(strings.NewReader(text("a")+text("b")), &out, &notes, "--output", dir), Run)
	if code != app.ExitFailed || !strings.HasPrefix(notes.String(), fmt.Sprintf("xrd-extract: cannot write %q: ", filepath.Join(dir, "a.json"))) || out.Len() > 0 {
		t.Errorf("exit code is %d, standard output %q, standard error %q", code, out.String(), notes.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files are left: %v, %v", entries, err)
	}
}

// TestFolderLink checks that a link in a directory is replaced, not followed.
func TestFolderLink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	code := app.Run(t.Context(), Name, newEnv(strings.NewReader(text("a")), &out, &notes, "--output", dir), Run)
	kept, err := os.ReadFile(other)
	if code != app.ExitOK || err != nil || string(kept) != "precious" {
		t.Errorf("exit code is %d, %s; target of the link is %q, %v", code, notes.String(), kept, err)
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]bool{
		"xdatabases.platform.example.org": true, "a": true, strings.Repeat("a", longestName): true,
		"../a": false, "a/b": false, `a\b`: false, "..": false, ".a": false, "a\x00b": false, "a\nb": false, "c:": false, strings.Repeat("a", longestName+1): false, "a ": false,
	} {
		if got := isFileName(name); got != want {
			t.Errorf("isFileName(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestProgress checks that a terminal gets progress, and that messages have
// their own lines.
func TestProgress(t *testing.T) {
	var out, notes bytes.Buffer
	env := newEnv(strings.NewReader(text("a")+"{\n"+text("b")), &out, &notes)
	env.StderrTerminal = true
	if code := app.Run(t.Context(), Name, env, Run); code != app.ExitInvalid {
		t.Errorf("exit code is %d", code)
	}
	if got := notes.String(); !strings.Contains(got, "extracted 1 definitions\r\x1b[K") || !strings.Contains(got, "extracted 2 definitions\r\x1b[K") {
		t.Errorf("standard error is %q", got)
	}
}

// counter counts lines.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// TestMemory pipes more through the command than fits in its memory limit.
func TestMemory(t *testing.T) {
	n := size.Of(10_000, 50_000)
	in, feed := io.Pipe()
	var top uint64
	go func() {
		var now runtime.MemStats
		var err error
		for i := 0; i < n && err == nil; i++ {
			if i%(n/4) == n/4-1 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				top = max(top, now.HeapAlloc)
			}
			_, err = io.WriteString(feed, text(fmt.Sprint(i)))
		}
		feed.CloseWithError(err)
	}()
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var out counter
	if code := app.Run(t.Context(), Name, newEnv(in, &out, io.Discard), Run); code != app.ExitOK || out.n != n {
		t.Fatalf("exit code is %d, with %d records", code, out.n)
	}
	if most := before.HeapAlloc + 16<<20; top > most {
		t.Errorf("%d bytes are in use, want at most %d", top, most)
	}
}

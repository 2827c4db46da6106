package transform

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
)

// watched is a run with --watch.
type watched struct {
	*testing.T
	dir string
	*call
	// read is how much of standard error was seen.
	read int
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// next waits for another run to end, and wants it to have said something.
func (w *watched) next(want string) {
	w.Helper()
	await(w.T, want, func() bool {
		said := w.stderr.String()[w.read:]
		i := strings.Index(said, want)
		if i < 0 || !strings.Contains(said[i:], "watching\n") {
			return false
		}
		w.read += i + strings.Index(said[i:], "watching\n")
		return true
	})
}

func (w *watched) want(name, text string) {
	w.Helper()
	got, err := os.ReadFile(w.path(name))
	if err != nil || !strings.Contains(string(got), text) {
		w.Errorf("%s: %v, want %q in\n%s", name, err, text, got)
	}
}

// TestWatch changes inputs and templates, and wants the files to follow.
func TestWatch(t *testing.T) {
	w := &watched{T: t, dir: t.TempDir(), call: &call{}}
	place(t, w.path("xrds/as.json"), record("as"))
	place(t, w.path("templates/portal/default.eta"), small)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int, 1)
	go func() {
		done <- w.run(ctx, "--watch", "--input", w.path("xrds"), "--templates", w.path("templates"), "--output", w.path("out"))
	}()
	w.next("1 entity from 1 definition (1 Resource) in 1 file")
	w.want("out/resource-as-example-org.yaml", "type: small")

	// A definition comes.
	place(t, w.path("out/mine.yaml"), "kept")
	place(t, w.path("xrds/bs.json"), record("bs"))
	w.next("2 entities from 2 definitions")
	w.want("out/resource-bs-example-org.yaml", "name: bs-example-org")

	// A template changes, and then breaks: what is there stays.
	place(t, w.path("templates/portal/default.eta"), strings.Replace(small, "small", "other", 1))
	w.next("2 entities from 2 definitions")
	w.want("out/resource-as-example-org.yaml", "type: other")
	place(t, w.path("templates/portal/default.eta"), small+"<% throw new Error('not today') %>")
	w.next("not today")
	w.want("out/resource-as-example-org.yaml", "type: other")
	place(t, w.path("templates/metadata.yaml"), "nonsense: true\n")
	await(t, "the complaint", func() bool { return strings.Contains(w.stderr.String(), `"nonsense" is not known`) })
	w.want("out/resource-as-example-org.yaml", "type: other")

	// A definition goes while the template is broken: nothing is removed yet.
	if err := os.Remove(w.path("xrds/bs.json")); err != nil {
		t.Fatal(err)
	}
	place(t, w.path("templates/metadata.yaml"), "name: mine\n")
	w.next("not today")
	w.want("out/resource-bs-example-org.yaml", "type: other")

	// It is mended: what is gone goes, and nothing else.
	place(t, w.path("templates/portal/default.eta"), strings.Replace(small, "small", "mended", 1))
	w.next("1 entity from 1 definition")
	w.want("out/resource-as-example-org.yaml", "type: mended")
	w.want("out/mine.yaml", "kept")
	if _, err := os.Stat(w.path("out/resource-bs-example-org.yaml")); err == nil {
		t.Error("the file of a definition that is gone is still there")
	}

	// All are gone, which is said.
	if err := os.Remove(w.path("xrds/as.json")); err != nil {
		t.Fatal(err)
	}
	w.next("nothing matched")

	stop()
	select {
	case code := <-done:
		if code != app.ExitOK {
			t.Errorf("exit code %d: to be ended is the way it ends", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

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
	// read is the length of standard error that was checked.
	read int
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// next waits for the end of the next run, and checks its message.
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
		w.Errorf("%s: read returned %v, want %q in\n%s", name, err, text, got)
	}
}

// TestWatch changes inputs and templates, and checks that the files follow.
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

	// A definition is added.
	place(t, w.path("out/mine.yaml"), "kept")
	place(t, w.path("xrds/bs.json"), record("bs"))
	w.next("2 entities from 2 definitions")
	w.want("out/resource-bs-example-org.yaml", "name: bs-example-org")

	// A template changes and then breaks: the files stay.
	place(t, w.path("templates/portal/default.eta"), strings.Replace(small, "small", "other", 1))
	w.next("2 entities from 2 definitions")
	w.want("out/resource-as-example-org.yaml", "type: other")
	place(t, w.path("templates/portal/default.eta"), small+"<% throw new Error('not today') %>")
	w.next("not today")
	w.want("out/resource-as-example-org.yaml", "type: other")
	place(t, w.path("templates/metadata.yaml"), "nonsense: true\n")
	await(t, "the complaint", func() bool { return strings.Contains(w.stderr.String(), `unknown key "nonsense"`) })
	w.want("out/resource-as-example-org.yaml", "type: other")

	// A definition is removed while the template is broken: nothing is removed yet.
	if err := os.Remove(w.path("xrds/bs.json")); err != nil {
		t.Fatal(err)
	}
	place(t, w.path("templates/metadata.yaml"), "name: mine\n")
	w.next("not today")
	w.want("out/resource-bs-example-org.yaml", "type: other")

	// The template is fixed: only the files of the removed definition are removed.
	place(t, w.path("templates/portal/default.eta"), strings.Replace(small, "small", "mended", 1))
	w.next("1 entity from 1 definition")
	w.want("out/resource-as-example-org.yaml", "type: mended")
	w.want("out/mine.yaml", "kept")
	if _, err := os.Stat(w.path("out/resource-bs-example-org.yaml")); err == nil {
		t.Error("file of the removed definition still exists")
	}

	// All definitions are removed, which is reported.
	if err := os.Remove(w.path("xrds/as.json")); err != nil {
		t.Fatal(err)
	}
	w.next("nothing matched")

	stop()
	select {
	case code := <-done:
		if code != app.ExitOK {
			t.Errorf("exit code is %d after an interrupt, want 0", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("program did not stop")
	}
}

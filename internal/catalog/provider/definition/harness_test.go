package definition

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/test/database"
)

// frequency is the refresh interval of the tests.
const frequency = 10 * time.Minute

// world is a folder and its catalog.
type world struct {
	*Folder
	t        *testing.T
	dir      string
	catalog  *store.Store
	registry *prometheus.Registry

	mu    sync.Mutex
	clock time.Time
	log   bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "entities"), clock: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.catalog = store.New(database.Open(t, database.SQLite(t)), store.Options{})
	w.restart(config.XRDTemplates{Enabled: true, Watch: true, Directory: w.dir, Frequency: frequency})
	return w
}

// restart creates a new provider with the same catalog.
func (w *world) restart(c config.XRDTemplates) {
	w.registry = prometheus.NewRegistry()
	w.Folder = New(Options{
		Store: w.catalog, Config: c, Now: w.time, Log: slog.New(slog.NewTextHandler(w, nil)), Registry: w.registry,
	})
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

// Write implements io.Writer for the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// logged returns the log lines since its last call.
func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.log.String()
	w.log.Reset()
	return text
}

// put writes a file of the folder atomically; an empty text removes it.
func (w *world) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case text == "":
		err = os.Remove(path)
	default:
		hidden := filepath.Join(filepath.Dir(path), ".new")
		if err = os.WriteFile(hidden, []byte(text), 0o644); err == nil {
			err = os.Rename(hidden, path)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// refresh refreshes and fails the test on an error.
func (w *world) refresh() {
	w.t.Helper()
	if _, err := w.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// refs returns the entities of the folder, without the default kind and
// namespace.
func (w *world) refs() []string {
	w.t.Helper()
	refs, err := w.catalog.Refs(w.t.Context(), Provider)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range refs {
		refs[i] = strings.Replace(strings.TrimPrefix(refs[i], "component:"), "default/", "", 1)
	}
	return refs
}

// want checks the entities in the catalog and the number of problems.
func (w *world) want(reason string, problems int, refs ...string) {
	w.t.Helper()
	if diff := cmp.Diff(refs, w.refs()); diff != "" {
		w.t.Errorf("%s: entities (-want +got):\n%s", reason, diff)
	}
	if s := w.Status(); s.Problems != problems || (s.Error == "") != (problems == 0) {
		w.t.Errorf("%s: %d problems, want %d\n%s", reason, s.Problems, problems, s.Error)
	}
}

// lifecycle returns the lifecycle of a Component.
func (w *world) lifecycle(name string) string {
	w.t.Helper()
	e, err := w.catalog.Get(w.t.Context(), "component:default/"+name)
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(e.JSON), `"lifecycle":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// counted returns the value of a metric, with its label if it has one.
func (w *world) counted(name string) float64 {
	w.t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			full := f.GetName()
			for _, l := range m.GetLabel() {
				full += " " + l.GetValue()
			}
			if full == name {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

// until waits until a condition is true.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: condition was not met within a minute; entities are %v, status %+v\n%s", what, w.refs(), w.Status(), w.logged())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// watching runs Watch until the test ends or stop is called.
func (w *world) watching() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { w.Watch(ctx) })
	stop = func() {
		cancel()
		wg.Wait()
	}
	w.t.Cleanup(stop)
	return stop
}

// component returns a valid entity.
func component(name, lifecycle string) string {
	return fmt.Sprintf(`---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: %s
spec:
  type: service
  lifecycle: %s
  owner: platform-team
`, name, lifecycle)
}

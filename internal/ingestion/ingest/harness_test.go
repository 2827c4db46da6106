package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/source"
	"example.dev/ingestor/test/database"
	"example.dev/ingestor/xrd"
)

// definition returns a definition that the variant of the tests selects.
func definition(plural, field string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: %[1]s.example.org
  labels: {openportal.dev/ingest: "true"}
spec:
  group: example.org
  names: {kind: X%[1]s, plural: %[1]s}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%[2]s: {type: string}}}}}}
`, plural, field)
}

// aComposition returns a Composition for a definition.
func aComposition(name, plural string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: %s}
spec: {compositeTypeRef: {apiVersion: example.org/v1, kind: X%s}, mode: Pipeline, pipeline: [{step: one, functionRef: {name: one}}]}
`, name, plural)
}

// aComposite returns a composite of a definition, which refers to its parts.
func aComposite(name, plural string, parts ...string) string {
	return fmt.Sprintf(`apiVersion: example.org/v1
kind: X%s
metadata: {name: %s, namespace: shop}
spec: {crossplane: {resourceRefs: [%s]}}
`, plural, name, strings.Join(parts, ", "))
}

// fakeSource is a source of documents by name. If fails is set, Read returns it
// after the documents.
type fakeSource struct {
	mu    sync.Mutex
	files map[string]string
	// stamps counts the writes of each file.
	stamps map[string]int
	fails  error
}

func (s *fakeSource) set(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files, s.stamps = map[string]string{}, map[string]int{}
	}
	s.files[name] = text
	s.stamps[name]++
	if text == "" {
		delete(s.files, name)
	}
}

// stamp returns a value that changes with each write of a file.
func (s *fakeSource) stamp(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.files[name]; !there {
		return ""
	}
	return fmt.Sprint(s.stamps[name])
}

func (s *fakeSource) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// Read implements source.Source.
func (s *fakeSource) Read(context.Context) (*xrd.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := &xrd.Set{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		errs = append(errs, set.Read(strings.NewReader(s.files[name]), xrd.Origin{File: name}))
	}
	return set, errors.Join(append(errs, s.fails)...)
}

// fakeCatalog is a catalog in memory.
type fakeCatalog struct {
	mu        sync.Mutex
	documents map[string]map[string]string
	// lacks are the references to entities that do not exist.
	lacks []inspect.MissingRef
}

// Prepare implements Catalog.
func (*fakeCatalog) Prepare(*tree.Node) any { return nil }

// Put implements Catalog.
func (l *fakeCatalog) Put(_ context.Context, outcomes []unit.Build) ([]batch.Written, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]batch.Written, len(outcomes))
	for i, o := range outcomes {
		had := l.documents[o.Provider]
		has := map[string]string{}
		for _, data := range o.Entities {
			var e struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err := json.Unmarshal(data, &e); err != nil {
				return nil, err
			}
			ref := e.Kind + " " + e.Metadata.Name
			has[ref] = string(data)
			switch before, ok := had[ref]; {
			case !ok:
				out[i].Added++
				out[i].Changed.Added = append(out[i].Changed.Added, ref)
			case before != string(data):
				out[i].Updated++
				out[i].Changed.Updated = append(out[i].Changed.Updated, ref)
			default:
				out[i].Unchanged++
			}
		}
		out[i].Removed = len(had) + out[i].Added - len(has)
		for ref := range had {
			if _, ok := has[ref]; !ok {
				out[i].Changed.Removed = append(out[i].Changed.Removed, ref)
			}
		}
		if l.documents[o.Provider] = has; len(has) == 0 {
			delete(l.documents, o.Provider)
		}
	}
	return out, nil
}

// Missing implements Catalog.
func (l *fakeCatalog) Missing(context.Context, int) ([]inspect.MissingRef, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lacks, nil
}

// entries returns all documents by reference.
func (l *fakeCatalog) entries() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{}
	for _, documents := range l.documents {
		maps.Copy(out, documents)
	}
	return out
}

// harness is an Ingest with its dependencies.
type harness struct {
	*Ingest
	catalog *fakeCatalog
	sources map[string]*fakeSource
	log     *bytes.Buffer
	clock   atomic.Pointer[time.Time]
}

// later advances the clock.
func (b *harness) later(d time.Duration) {
	now := b.clock.Load().Add(d)
	b.clock.Store(&now)
}

// newHarness creates an Ingest over sources, with SQLite. change may alter its
// options.
func newHarness(t *testing.T, names []string, change func(*Options)) *harness {
	t.Helper()
	d := database.Open(t, database.SQLite(t))
	b := &harness{
		catalog: &fakeCatalog{documents: map[string]map[string]string{}}, sources: map[string]*fakeSource{},
		log: &bytes.Buffer{},
	}
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.clock.Store(&begun)
	log := slog.New(slog.NewJSONHandler(&locked{to: b.log}, nil))
	part := variant.Options{
		Name: "composerIngestor", Profile: engine.ComposerIngestor, Definitions: true, Log: log, Every: time.Hour, Timeout: time.Minute,
		Detection: variant.Detection{Enabled: true, Method: variant.ByVersion, Marks: marks.NewMemory()},
	}
	for _, name := range names {
		b.sources[name] = &fakeSource{}
		part.Folders = append(part.Folders, variant.Folder{Name: name, Source: source.Source(b.sources[name]), Stamp: b.sources[name].stamp})
	}
	opts := Options{
		Variants: []variant.Options{part}, Mirror: mirror.New(d), Catalog: b.catalog, Log: log, Now: func() time.Time { return *b.clock.Load() },
		Processing: batch.Processing{BatchSize: 10, Parallelism: 2},
	}
	if change != nil {
		change(&opts)
	}
	b.Ingest = New(opts)
	return b
}

// queued sets a queue, which start runs.
func queued(t *testing.T, o *Options) {
	t.Helper()
	q, err := jobs.Open(t.Context(), jobs.Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "jobs.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	o.Queue = q
}

// start runs the service and its queue until the test ends.
func (b *harness) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	running.Go(func() {
		if err := b.Queue.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// locked is a writer that is safe for concurrent use.
type locked struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// read scans a source a second later. It returns the error of the source.
func (b *harness) read(t *testing.T, name string) (Run, error) {
	t.Helper()
	b.later(time.Second)
	return b.Scan(t.Context(), "composerIngestor/sources/"+name, TriggerManual)
}

// Package ingest keeps a catalog in sync with many sources. It reads clusters, folders
// and repositories, stores what it saw in a mirror, and builds entities from what
// changed. Objects of a source that is unreachable or denies access stay as they were
// last seen.
//
// Data flows in one direction. Scanning or watching a target yields observations;
// observations mark units dirty; dirty units are loaded, transformed and written to the
// catalog. Package scan reads, batch builds, inspect and health report; this package puts
// them together, schedules them, and records runs. See docs/design/0010 for the reasons.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/internal/jobs"
)

// Catalog stores entities. Its methods may be called concurrently.
type Catalog interface {
	unit.Preparer
	batch.Catalog
	inspect.Catalog
}

// Options are the options of New.
type Options struct {
	// Variants are in order of precedence: a definition that several would select belongs
	// to the first of them.
	Variants   []variant.Options
	Mirror     *mirror.Mirror
	Catalog    Catalog
	Processing batch.Processing
	Caching    unit.Caching
	// Build identifies this version of the program and its settings: when it changes,
	// everything is built again.
	Build string
	// Replica is the name of this process in runs. Sole says that it is the only replica.
	Replica  string
	Sole     bool
	Now      func() time.Time
	Log      *slog.Logger
	Registry prometheus.Registerer
	// Queue runs scans, builds and inspections. Tests leave it nil: then nothing runs
	// unless it is called.
	Queue *jobs.Queue
	// Wrap, if not nil, wraps the transport of calls to clusters.
	Wrap func(cluster string, next http.RoundTripper) http.RoundTripper

	// reached, if not nil, is called before certain steps. Tests intervene there.
	reached func(step, detail string)
}

// Ingest is the service. Its methods may be called concurrently.
type Ingest struct {
	Options
	*health.Reader
	*inspect.Inspector
	once     *once.Log
	metrics  *metrics.Metrics
	variants []*variant.Variant
	targets  []*scan.Target
	// requested has when scanSoon was last called, by target.
	requested sync.Map
	connected []connection
	processor *batch.Processor
}

// New prepares everything but reads nothing yet. Invalid settings of a cluster are
// reported when it is scanned; the others are not affected.
func New(opts Options) *Ingest {
	if opts.reached == nil {
		opts.reached = func(string, string) {}
	}
	in := &Ingest{Options: opts, once: &once.Log{}, metrics: metrics.New(opts.Registry)}
	in.addTargets()
	targets := make([]status.Target, len(in.targets))
	for i, t := range in.targets {
		targets[i] = t.Target
	}
	in.metrics.Begin(targets)
	builder := unit.New(unit.Options{
		Mirror: opts.Mirror, Variants: in.variants, Targets: targets, Catalog: opts.Catalog, Metrics: in.metrics, Once: in.once,
		Now: opts.Now, Caching: opts.Caching, Reached: opts.reached,
	})
	quiet := time.Duration(0)
	if opts.Queue != nil {
		// Without a queue nothing would release the units.
		quiet = quietly
	}
	in.processor = batch.New(batch.Options{
		Builder: builder, Mirror: opts.Mirror, Catalog: opts.Catalog, Metrics: in.metrics, Once: in.once, Now: opts.Now, Log: opts.Log,
		Processing: opts.Processing, Quiet: quiet, Requested: in.lastRequested, BuildSoon: in.buildSoon, Reached: opts.reached,
	})
	in.Inspector = inspect.New(inspect.Options{Builder: builder, Mirror: opts.Mirror, Catalog: opts.Catalog, Targets: targets, Now: opts.Now})
	in.Reader = health.New(health.Options{Mirror: opts.Mirror, Targets: targets, Now: opts.Now, Missing: in.Missing, Remedy: in.remedy})
	if opts.Queue != nil {
		in.register(opts.Queue)
	}
	return in
}

// quietly is how long units whose sources became stale or fresh wait for more of them,
// for each source that cannot be read.
const quietly = time.Second

// Targets returns the names of all targets.
func (in *Ingest) Targets() []string {
	out := make([]string, len(in.targets))
	for i, p := range in.targets {
		out[i] = p.Name
	}
	return out
}

func (in *Ingest) target(name string) (*scan.Target, error) {
	i := slices.IndexFunc(in.targets, func(p *scan.Target) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("cannot scan %q: the configuration has no such source", name)
	}
	return in.targets[i], nil
}

// Run watches targets, and deletes sources that no configuration names any more, until
// ctx ends. Scans, builds and inspections run in the queue.
func (in *Ingest) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, t := range in.targets {
		if t.Variant.Watch && t.Watch != nil {
			wg.Go(func() { t.Watch(ctx) })
		}
	}
	wg.Go(func() { in.tidy(ctx) })
	wg.Wait()
}

// Restore restores the entities of a provider, if it belongs to the service.
func (in *Ingest) Restore(ctx context.Context, provider string) error {
	if !unit.Provides(provider) {
		return nil
	}
	if err := in.Mirror.Touch(ctx, []string{unit.Of(provider)}); err != nil {
		return err
	}
	in.buildSoon()
	return nil
}

// Conditions returns the last seen conditions of a composite or claim. It reports false
// if no source has that object.
func (in *Ingest) Conditions(ctx context.Context, c object.Composite) ([]object.Condition, bool, error) {
	return object.Conditions(ctx, in.Mirror, c)
}

// Confirm makes the next scan of a target carry out a pending removal. since identifies
// the removal.
func (in *Ingest) Confirm(ctx context.Context, name, by string, since time.Time) (status.PendingRemoval, error) {
	if _, err := in.target(name); err != nil {
		return status.PendingRemoval{}, err
	}
	return status.Confirm(ctx, in.Mirror, name, by, since)
}

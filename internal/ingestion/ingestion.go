// Package ingestion is the ingestion service of the portal: it derives variants and
// sources from the configuration, schedules scans in the job queue, and serves the API
// about them.
package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/jobs"
)

// Options are the options of New. All are required except Redis, Extension, Registry
// and Audit.
type Options struct {
	Config *config.Config
	Store  *store.Store
	Mirror *mirror.Mirror
	Queue  *jobs.Queue
	// Redis, if not nil, stores shared marks and caches.
	Redis  *marks.Redis
	Policy *permission.Policy
	// Build is the version of the program, Replica the name of this process.
	Build, Replica string
	// Extension is third-party code around the engine.
	Extension engine.Extension
	Now       func() time.Time
	Log       *slog.Logger
	Registry  prometheus.Registerer
	// Audit records requested scans; nil records nothing.
	Audit *audit.Log
}

// Ingestion is the service.
type Ingestion struct {
	ingest *ingest.Ingest
	store  *store.Store
	queue  *jobs.Queue
	policy *permission.Policy
	audit  *audit.Log
	how    jobs.How
	// previews builds previews of text that users type, independently of everything else.
	previews *previewer
}

// taskScan is the task that scans a source.
const taskScan = "scan"

// New assembles the service and registers its schedules with the queue.
func New(opts Options) *Ingestion {
	in := &Ingestion{store: opts.Store, queue: opts.Queue, policy: opts.Policy, audit: opts.Audit, previews: newPreviewer(opts.Config, opts.Extension)}
	c := opts.Config
	in.how = jobs.How{Attempts: 1 + c.Composer.Processing.RetryAttempts, RetryDelay: c.Composer.Processing.RetryDelay}
	in.ingest = ingest.New(ingest.Options{
		Variants: opts.parts(), Memory: opts.Mirror, Catalog: catalog{opts.Store},
		Processing: ingest.Processing(c.Composer.Processing),
		Caching:    opts.caching(),
		Build:      strings.TrimSpace(opts.Build + " " + opts.Extension.Version), Replica: opts.Replica, Sole: c.Backend.Database.Client == config.ClientSQLite,
		Now: opts.Now, Log: opts.log(), Registry: opts.Registry,
		Again: func(ctx context.Context, place string) error { return in.scanSoon(ctx, place, ingest.TriggerWatch) },
	})
	opts.Queue.Handle(jobs.Task{
		Name: taskScan,
		Run: func(ctx context.Context, j jobs.Job) error {
			run, err := in.ingest.Scan(ctx, j.Key, j.Trigger)
			if err == nil && run.Again > 0 {
				return jobs.Later(run.Again)
			}
			return err
		},
		How: func(place string) (jobs.How, bool) {
			p, ok := in.place(place)
			return in.as(p, ""), ok
		},
	})
	for _, p := range in.ingest.Places() {
		opts.Queue.Every(taskScan, p.Name, p.Every, in.as(p, ingest.TriggerSchedule))
	}
	if opts.Registry != nil {
		opts.Registry.MustRegister(&staleness{in: in.ingest})
	}
	return in
}

// as returns the job options for scanning a target.
func (in *Ingestion) as(p ingest.Target, trigger string) jobs.How {
	how := in.how
	how.Trigger, how.Timeout = trigger, p.Timeout
	return how
}

// scanSoon adds a scan to the queue.
func (in *Ingestion) scanSoon(ctx context.Context, place, trigger string) error {
	p, ok := in.place(place)
	if !ok {
		return fmt.Errorf("cannot scan %q: the configuration has no such source", place)
	}
	how := in.as(p, trigger)
	how.Hurry = trigger == ingest.TriggerManual
	_, err := in.queue.Add(ctx, taskScan, place, how)
	return err
}

// place returns a target by its name.
func (in *Ingestion) place(name string) (ingest.Target, bool) {
	all := in.ingest.Places()
	if i := slices.IndexFunc(all, func(p ingest.Target) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return ingest.Target{}, false
}

// Restore restores an entity of the service that was deleted: it exists as long as its
// definition does.
func (in *Ingestion) Restore(ctx context.Context, e *store.Entity) error {
	return in.ingest.Restore(ctx, e.Provider)
}

// Run watches sources and processes changes until ctx ends. It also deletes sources
// that no configuration names any more.
func (in *Ingestion) Run(ctx context.Context) { in.ingest.Run(ctx) }

// catalog adapts the store to ingest.Catalog.
type catalog struct{ store *store.Store }

// Prepare implements ingest.Catalog.
func (catalog) Prepare(n *tree.Node) any { return store.Prepare(n) }

// Put implements ingest.Catalog.
func (c catalog) Put(ctx context.Context, outcomes []ingest.Build) ([]ingest.Written, error) {
	changes := make([]store.Change, len(outcomes))
	for i, o := range outcomes {
		changes[i] = store.Change{Provider: o.Provider, Full: true, Keep: o.Keep, Put: make([]store.Document, len(o.Entities))}
		for j, e := range o.Entities {
			changes[i].Put[j] = store.Document{JSON: e}
			if j < len(o.Prepared) {
				changes[i].Put[j].Prepared, _ = o.Prepared[j].(*store.Prepared)
			}
		}
	}
	results, err := c.store.SyncAll(ctx, changes)
	if err != nil {
		return nil, err
	}
	out := make([]ingest.Written, len(results))
	for i, r := range results {
		out[i] = ingest.Written{Added: r.Added, Updated: r.Updated, Removed: r.Removed, Unchanged: r.Unchanged,
			Changed: ingest.Changes{Added: r.Refs.Added, Updated: r.Refs.Updated, Removed: r.Refs.Removed}}
		for _, no := range r.Refused {
			out[i].Refused = append(out[i].Refused, ingest.Refused{Ref: no.Ref, Owner: no.Owner})
		}
	}
	return out, nil
}

// Missing implements ingest.Catalog.
func (c catalog) Missing(ctx context.Context, limit int) ([]ingest.MissingRef, error) {
	var out []ingest.MissingRef
	for _, prefix := range ingest.ProviderPrefixes() {
		all, err := c.store.Dangling(ctx, prefix, limit)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			out = append(out, ingest.MissingRef{Ref: m.Ref, Relation: m.Type, Entities: m.Sources, Example: m.First})
		}
	}
	return out, nil
}

// staleness is a collector that counts the objects of sources that cannot be read, on
// every scrape.
type staleness struct{ in *ingest.Ingest }

var staleObjects = prometheus.NewDesc("composer_ingestor_stale_objects",
	"Objects of lists that cannot be read now, as they were last seen.", []string{"source"}, nil)

// Describe implements prometheus.Collector.
func (s *staleness) Describe(to chan<- *prometheus.Desc) { to <- staleObjects }

// Collect implements prometheus.Collector.
func (s *staleness) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, err := s.in.Stale(ctx)
	if err != nil {
		// Report the other metrics even so: they matter most now.
		return
	}
	for source, n := range counts {
		to <- prometheus.MustNewConstMetric(staleObjects, prometheus.GaugeValue, float64(n), source)
	}
}

// Package ingestion is the ingestion service of the portal: it derives variants and
// sources from the configuration, schedules scans in the job queue, and serves the API
// about them.
package ingestion

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/admission"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/preview"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/source/cluster"
)

// Options are the options of New. All are required except Redis, Extension, Registry,
// Wrap and Audit.
type Options struct {
	Config *config.Config
	// Catalog receives the entities, and Entities reads them.
	Catalog  ingest.Catalog
	Entities Entities
	Mirror   *mirror.Mirror
	Queue    *jobs.Queue
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
	// Cluster returns a cluster whose calls are made for the caller of the context. The error
	// is a *rest.Fault if the caller may not use it.
	Cluster func(ctx context.Context, name string) (*cluster.Cluster, error)
	// Wrap, if not nil, wraps the transport of calls to clusters.
	Wrap func(cluster string, next http.RoundTripper) http.RoundTripper
	// Audit records requested scans; nil records nothing.
	Audit *audit.Log
}

// Entities reads the catalog. Its methods may be called concurrently.
type Entities interface {
	// Entity returns the provider of an entity and its JSON with relations. The error is
	// db.ErrNotFound if there is none.
	Entity(ctx context.Context, ref string) (provider string, entity []byte, err error)
	// Each calls do with the same for each of some references that has an entity, and its
	// index, until do returns an error.
	Each(ctx context.Context, refs []string, do func(i int, provider string, entity []byte) error) error
	// Providers returns how many entities each provider owns.
	Providers(ctx context.Context) (map[string]int, error)
}

// Ingestion is the service.
type Ingestion struct {
	ingest   *ingest.Ingest
	entities Entities
	policy   *permission.Policy
	audit    *audit.Log
	// previews builds previews of text that users type, independently of everything else.
	previews *preview.Previewer
	// admission validates resources that users are about to create or change.
	admission *admission.Validator
	// changes compares text that users type with what is ingested.
	changes *change.Changes
}

// New assembles the service, which registers its tasks and schedules with the queue.
func New(opts Options) *Ingestion {
	in := &Ingestion{entities: opts.Entities, policy: opts.Policy, audit: opts.Audit, previews: preview.New(opts.Config, opts.Extension)}
	in.admission = admission.New(in.definitionOf)
	c := opts.Config
	in.ingest = ingest.New(ingest.Options{
		Variants: opts.variants(), Mirror: opts.Mirror, Catalog: opts.Catalog,
		Processing: batch.Processing(c.Composer.Processing),
		Caching:    opts.caching(),
		Build:      strings.TrimSpace(opts.Build + " " + opts.Extension.Version), Replica: opts.Replica, Sole: c.Backend.Database.Client == config.ClientSQLite,
		Now: opts.Now, Log: opts.log(), Registry: opts.Registry,
		Queue: opts.Queue, Wrap: opts.Wrap,
	})
	in.changes = change.New(change.Options{Ingested: in.ingest.Ingested, Definition: in.ingested, Readable: in.readableOf, Cluster: opts.Cluster, Policy: opts.Policy})
	if opts.Registry != nil {
		opts.Registry.MustRegister(&staleness{in: in.ingest})
	}
	return in
}

// Restore restores the entities of a provider, if it is the service, after one was
// deleted: they exist as long as their definition does.
func (in *Ingestion) Restore(ctx context.Context, provider string) error {
	return in.ingest.Restore(ctx, provider)
}

// Run watches sources and processes changes until ctx ends. It also deletes sources
// that no configuration names any more.
func (in *Ingestion) Run(ctx context.Context) { in.ingest.Run(ctx) }

// staleness is a collector that counts the objects of sources that cannot be read, on
// every scrape.
type staleness struct{ in *ingest.Ingest }

var staleObjects = prometheus.NewDesc("composer_ingestor_stale_objects",
	"Last known objects of lists that cannot be read now.", []string{"source"}, nil)

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

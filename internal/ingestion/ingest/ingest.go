// Package ingest keeps a catalog in sync with many sources. It reads clusters, folders
// and repositories, stores what it saw in a mirror, and builds entities from what
// changed. Objects of a source that is unreachable or denies access stay as they were
// last seen.
//
// Data flows in one direction. Scanning or watching a target yields observations;
// observations mark units dirty; dirty units are loaded, transformed and written to the
// catalog. See docs/design/0010 for the reasons.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// Catalog stores entities. Its methods may be called concurrently.
type Catalog interface {
	// Prepare does the part of Put that can be done ahead for one document, and returns
	// the value for Build.Prepared. It does not retain the node.
	Prepare(n *tree.Node) any
	// Put updates the catalog to match each of the builds, in one transaction that writes
	// only differences. It returns the results in the order of the builds.
	Put(ctx context.Context, outcomes []Build) ([]Written, error)
	// Missing returns owners and systems that entities of the service refer to but that do
	// not exist, sorted, at most limit.
	Missing(ctx context.Context, limit int) ([]MissingRef, error)
}

// Build is the set of entities that the catalog is to have for a unit.
type Build struct {
	// Provider owns the entities.
	Provider string
	// Entities are JSON documents; nil for a document that is prepared and not cached.
	Entities [][]byte
	// Prepared are the prepared documents, if they were just built. They are not cached.
	Prepared []any `json:"-"`
	// Keep are references of further entities that the provider keeps, if it has them. All
	// entities that are in neither are removed.
	Keep []string
}

// Written is the result of writing a Build.
type Written struct {
	Added, Updated, Removed, Unchanged int
	// Refused are entities that belong to other providers.
	Refused []Refused
	// Changed are the references of added, updated and removed entities.
	Changed Changes
}

// Refused is an entity that belongs to another provider.
type Refused struct{ Ref, Owner string }

// Folder is a source that is not a cluster.
type Folder struct {
	Name   string
	Source source.Source
	// Watch, if not nil, calls changed when the source should be read again, until ctx
	// ends.
	Watch func(ctx context.Context, changed func()) error
	// Settle is how long a file must be unchanged before objects missing from it count as
	// removed: the file may be in the middle of a write.
	Settle time.Duration
	// Stamp returns a text that changes whenever a file is written; empty for a file that
	// does not exist. It is required with Settle.
	Stamp func(file string) string
}

// Detection configures how change detection recognizes unchanged objects.
type Detection struct {
	Enabled bool
	// Method is ByVersion, ByHash or ByTimestamp.
	Method string
	Marks  marks.Marks
}

// The methods of change detection.
const (
	ByVersion   = "resourceVersion"
	ByHash      = "hash"
	ByTimestamp = "timestamp"
)

// Processing configures how dirty units are processed.
type Processing struct {
	// BatchSize units are loaded together, Parallelism batches concurrently.
	BatchSize, Parallelism int
	// A failed unit is retried RetryAttempts times, with a pause of RetryDelay.
	RetryAttempts int
	RetryDelay    time.Duration
}

// Variant configures a variant of the service.
type Variant struct {
	// Name is the name of its section in the configuration.
	Name    string
	Profile engine.Profile
	Engine  engine.Options
	// Extension is third-party code around the engine.
	Extension engine.Extension
	// Filter selects definitions, after the profile.
	Filter xrd.Filter
	// Namespaces are those whose composites and claims are read; empty means all.
	Namespaces []string
	Clusters   []source.Cluster
	Folders    []Folder
	// Definitions says that definitions are ingested, Workloads that labelled workloads
	// are.
	Definitions, Workloads bool
	// NoCompositions and NoComposites exclude these objects of definitions.
	NoCompositions, NoComposites bool
	// Every is the interval between scans of definitions, WorkloadsEvery that of
	// workloads. Timeout bounds a scan.
	Every, WorkloadsEvery, Timeout time.Duration
	// Watch says that clusters and folders are watched between scans.
	Watch     bool
	Detection Detection
	// MassRemoval configures which removals need a confirmation.
	MassRemoval MassRemoval
	// Log receives events; Requests, if not nil, every request to a cluster. Stacks says
	// that the stack of a panic is logged.
	Log      *slog.Logger
	Requests *slog.Logger
	Stacks   bool
}

// Caching configures the caches.
type Caching struct {
	Enabled bool
	// TTL and MaxSize are those of the cache of decoded objects.
	TTL     time.Duration
	MaxSize int
	// Shared, if not nil, shares builds of units with other replicas.
	Shared Shared
}

// Options are the options of New.
type Options struct {
	// Variants are in order of precedence: a definition that several would select belongs
	// to the first of them.
	Variants   []Variant
	Mirror     *mirror.Mirror
	Catalog    Catalog
	Processing Processing
	Caching    Caching
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

	// reached, if not nil, is called before certain steps. Tests intervene there.
	reached func(step, detail string)
}

// Ingest is the service. Its methods may be called concurrently.
type Ingest struct {
	Options
	parts  []*variant
	places []*target
	caches *caches
	meters *meters
	// decoding bounds how many pages of objects, of all clusters, are held at once.
	decoding cluster.Gate

	mu sync.Mutex
	// tries counts consecutive failures by unit; said is what was last logged, by subject.
	tries map[string]int
	// resting contains the dirty units that are not processed for a while.
	resting map[string]rest
	said    map[string]string
	// lacks caches the missing references of the catalog.
	lacks lacking
	// refuses caches the unserved definitions of all clusters.
	refuses refusing
}

// mostPages is how many pages of objects are held at once, for all clusters together.
const mostPages = 2

// New prepares everything but reads nothing yet. Invalid settings of a cluster are
// reported when it is scanned; the others are not affected.
func New(opts Options) *Ingest {
	in := &Ingest{
		Options: opts, tries: map[string]int{}, resting: map[string]rest{}, said: map[string]string{},
		decoding: cluster.NewGate(mostPages),
	}
	in.meters = newMeters(opts.Registry)
	in.caches = newCaches(opts.Caching, in.meters, opts.Now)
	for i := range opts.Variants {
		p := newVariant(in, &opts.Variants[i])
		in.parts = append(in.parts, p)
		in.places = append(in.places, p.targets()...)
	}
	in.meters.begin(in.places)
	if opts.Queue != nil {
		in.register(opts.Queue)
	}
	if in.reached == nil {
		in.reached = func(string, string) {}
	}
	return in
}

// Targets returns the names of all targets.
func (in *Ingest) Targets() []string {
	out := make([]string, len(in.places))
	for i, p := range in.places {
		out[i] = p.name
	}
	return out
}

func (in *Ingest) target(name string) (*target, error) {
	i := slices.IndexFunc(in.places, func(p *target) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("cannot scan %q: the configuration has no such source", name)
	}
	return in.places[i], nil
}

// Run watches targets, and deletes sources that no configuration names any more, until
// ctx ends. Scans, builds and inspections run in the queue.
func (in *Ingest) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, p := range in.places {
		if p.variant.Watch && p.follow != nil {
			wg.Go(func() { p.follow(ctx) })
		}
	}
	wg.Go(func() { in.tidy(ctx) })
	wg.Wait()
}

// news reports whether text differs from what was last logged about a subject, and
// stores it. An empty text clears the subject.
func (in *Ingest) news(about, text string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.said[about] == text {
		return false
	}
	if text == "" {
		delete(in.said, about)
		return true
	}
	in.said[about] = text
	return true
}

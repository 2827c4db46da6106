// Package ingest keeps a catalog true to many sources. It reads clusters,
// folders and repositories, remembers what it saw, and makes entities of what
// changed. What a source cannot tell, because it is away or says no, stays as
// it was.
//
// Data goes one way. A place is scanned, or followed, and what is seen of it
// becomes observations; observations make units dirty; dirty units are worked
// off: loaded, transformed and handed to the catalog. docs/design/0010 says why.
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
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// Mirror remembers objects as they were last seen. See internal/ingestion/mirror for what
// its values mean; those with bodies come ordered by unit, source, list and key.
type Mirror interface {
	// Observe takes what was seen of a list and returns how many units became
	// dirty.
	Observe(ctx context.Context, o mirror.Observation) (units int, err error)
	// Known returns the versions of a list's objects by key.
	Known(ctx context.Context, source, list string) (map[string]int64, error)
	// SourceObjects returns a source's objects without their bodies, of all
	// lists if none is named.
	SourceObjects(ctx context.Context, source string, lists ...string) ([]mirror.Object, error)
	// Lists returns the lists of a source that have objects. DropLists forgets
	// some of them, DropSources the sources that are not to be kept, of which it
	// returns how many objects they had.
	Lists(ctx context.Context, source string) ([]string, error)
	DropLists(ctx context.Context, source string, lists []string) (units int, err error)
	DropSources(ctx context.Context, keep []string) (dropped map[string]int, err error)
	// UnitObjects returns the objects of units, KindObjects those of kinds.
	UnitObjects(ctx context.Context, units []string) ([]mirror.Object, error)
	KindObjects(ctx context.Context, kinds []string) ([]mirror.Object, error)
	// ObjectsNamed returns the objects of a kind that have one of the keys, with
	// how they fare.
	ObjectsNamed(ctx context.Context, kind string, keys ...string) ([]mirror.Object, error)
	// CountObjects counts objects by source and list.
	CountObjects(ctx context.Context) (map[[2]string]int, error)
}

// Agenda remembers which units are dirty.
type Agenda interface {
	// Units returns dirty units, the oldest first. Done takes off those that
	// have not become dirty again.
	Units(ctx context.Context, limit int) ([]mirror.Unit, error)
	Done(ctx context.Context, units []mirror.Unit) error
	// Touch makes units dirty, TouchSource those that have to do with a list of
	// a source, or with any if list is empty.
	Touch(ctx context.Context, units []string) error
	TouchSource(ctx context.Context, source, list string) (units int, err error)
	// Alone runs do while nobody else, here or in another replica, runs one of
	// that name.
	WithLock(ctx context.Context, name string, do func(context.Context) error) error
	// Fence returns a context with which nothing is written any more,
	// db.ErrSuperseded, once somebody else has asked for one of that name.
	Fence(ctx context.Context, name string) (context.Context, error)
}

// Journal remembers how sources fared, and what was done.
type Journal interface {
	SetSource(ctx context.Context, name string, state []byte) error
	// SourceStates returns the states under the names, or all of them if none is
	// given.
	SourceStates(ctx context.Context, names ...string) (map[string][]byte, error)
	AddRun(ctx context.Context, started time.Time, run mirror.Run) error
	// Runs returns runs without their changes, Run one with them; it reports
	// false if that is not remembered.
	Runs(ctx context.Context, limit int) ([]mirror.Run, error)
	Run(ctx context.Context, id int64) (mirror.Run, bool, error)
}

// Notebook remembers what was found of units.
type Notebook interface {
	// Unchecked returns units that changed since what was found of them was
	// remembered, CountUnchecked how many there are.
	Unchecked(ctx context.Context, limit int) ([]mirror.Unit, error)
	CountUnchecked(ctx context.Context) (int, error)
	// Uncheck has units looked at that have not changed.
	Uncheck(ctx context.Context, units []string) error
	// Checked remembers what was found of units that have not changed since.
	Checked(ctx context.Context, units []mirror.Unit, found []mirror.Finding) error
	// Findings returns findings, the worst first, CountFindings how many there
	// are of each rule, and UnitSources the sources of units.
	Findings(ctx context.Context, want mirror.Wanted, limit, offset int) ([]mirror.Finding, error)
	CountFindings(ctx context.Context, want mirror.Wanted) ([]mirror.Count, error)
	UnitSources(ctx context.Context, units []string) (map[string][]string, error)
}

// Memory is all that must outlive a process.
type Memory interface {
	Mirror
	Agenda
	Journal
	Notebook
}

// Catalog takes entities. Its methods may be called by several goroutines at
// once.
type Catalog interface {
	// Prepare does with a document whatever Put can have done ahead, and returns
	// what Put is to find in Outcome.Prepared. It does not keep the node.
	Prepare(n *tree.Node) any
	// Put makes the catalog have what each of the outcomes says, in one
	// transaction that touches only what differs. What becomes of each is
	// returned in their order.
	Put(ctx context.Context, outcomes []Build) ([]Written, error)
	// Missing returns owners and systems that entities of the service name and
	// that nobody defines, in order, at most limit.
	Missing(ctx context.Context, limit int) ([]MissingRef, error)
}

// Build is what the catalog is to have of a unit.
type Build struct {
	// Provider owns the entities.
	Provider string
	// Entities are documents in JSON; nil for one that is prepared and that
	// nobody keeps.
	Entities [][]byte
	// Prepared are what the catalog prepared of them, if they were made just
	// now. What is kept is kept without.
	Prepared []any `json:"-"`
	// Keep are references of others that the provider keeps, if it has them.
	// All that are in neither go.
	Keep []string
}

// Written is what became of an Outcome.
type Written struct {
	Added, Updated, Removed, Unchanged int
	// Refused are entities that belong to others.
	Refused []Refused
	// Changed are the references of what was added, updated and removed.
	Changed Changes
}

// Refused is an entity that belongs to another provider.
type Refused struct{ Ref, Owner string }

// Folder is a source without a cluster.
type Folder struct {
	Name   string
	Source source.Source
	// Watch, if not nil, calls changed when reading again is of use, until ctx
	// ends.
	Watch func(ctx context.Context, changed func()) error
	// Settle is how long a file must have been the same before objects that it
	// had are gone: somebody may be writing it.
	Settle time.Duration
	// Stamp returns a text that changes whenever a file is written; empty for a file
	// that does not exist. It is needed with Settle.
	Stamp func(file string) string
}

// Detection is how change detection tells that an object is the same.
type Detection struct {
	Enabled bool
	// Method is one of the constants.
	Method string
	Marks  marks.Marks
}

// The methods of change detection.
const (
	ByVersion   = "resourceVersion"
	ByHash      = "hash"
	ByTimestamp = "timestamp"
)

// Processing is how units are worked off.
type Processing struct {
	// BatchSize units are loaded together, Parallelism batches at once.
	BatchSize, Parallelism int
	// A unit that failed is tried RetryAttempts times more, RetryDelay apart.
	RetryAttempts int
	RetryDelay    time.Duration
}

// Variant is a variant of the service.
type Variant struct {
	// Name is that of its section in the configuration.
	Name    string
	Profile engine.Profile
	Engine  engine.Options
	// Extension is code of somebody else around the engine.
	Extension engine.Extension
	// Filter chooses definitions, after the profile.
	Filter xrd.Filter
	// Namespaces are those whose composites and claims are read; none means
	// all.
	Namespaces []string
	Clusters   []source.Cluster
	Folders    []Folder
	// Definitions says that definitions are ingested, Workloads that labelled
	// workloads are.
	Definitions, Workloads bool
	// NoCompositions and NoComposites leave out what belongs to definitions.
	NoCompositions, NoComposites bool
	// Every is how often definitions are scanned, and WorkloadsEvery how often
	// workloads are; a scan is given Timeout.
	Every, WorkloadsEvery, Timeout time.Duration
	// Watch follows clusters and folders between scans.
	Watch     bool
	Detection Detection
	// MassRemoval is what is not believed at first.
	MassRemoval MassRemoval
	// Log is told what happens; Requests, if not nil, of every call to a
	// cluster. Stacks logs where a panic came from.
	Log      *slog.Logger
	Requests *slog.Logger
	Stacks   bool
}

// Caching is what is kept to be used again.
type Caching struct {
	Enabled bool
	// TTL and MaxSize are those of the objects that were loaded.
	TTL     time.Duration
	MaxSize int
	// Shared, if not nil, keeps what was made of units for other replicas too.
	Shared Shared
}

// Options are what an Ingest is made of.
type Options struct {
	// Variants are in the order in which they may take a definition: one that the
	// first takes is left to it by the others.
	Variants   []Variant
	Memory     Memory
	Catalog    Catalog
	Processing Processing
	Caching    Caching
	// Build is a name for this version of the program and its settings: when it
	// is another one, everything is made anew.
	Build string
	// Replica names this process in runs. Sole says that there is no other.
	Replica  string
	Sole     bool
	Now      func() time.Time
	Log      *slog.Logger
	Registry prometheus.Registerer
	// Again, if not nil, is asked to have a place scanned soon, by whichever
	// replica: because a folder has changed, or following a cluster went wrong.
	Again func(ctx context.Context, place string) error
}

// Ingest is the service. Its methods may be called at once.
type Ingest struct {
	Options
	parts  []*variant
	places []*target
	caches *caches
	meters *meters
	// decoding bounds how many pages of objects of all clusters are held at once.
	decoding cluster.Gate
	// wake asks the worker to look for dirty units, look the inspector for what
	// has changed.
	wake, look chan struct{}
	// asking are those who see to it that places are scanned.
	asking sync.WaitGroup

	mu sync.Mutex
	// tries are how often units failed in a row, said what was last logged of
	// something.
	tries map[string]int
	// resting are dirty units that are left alone for a while.
	resting map[string]rest
	said    map[string]string
	// lacks is what the catalog lacked when it was last asked.
	lacks lacking
	// refuses caches the unserved definitions of all clusters.
	refuses refusing
}

// mostPages is how many pages of objects are held at once, however many clusters
// there are.
const mostPages = 2

// New prepares everything and reads nothing yet. What is wrong with the
// settings of one cluster is told when it is scanned; the others go on.
func New(opts Options) *Ingest {
	in := &Ingest{
		Options: opts, wake: make(chan struct{}, 1), look: make(chan struct{}, 1),
		tries: map[string]int{}, resting: map[string]rest{}, said: map[string]string{},
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
	return in
}

// Target is what can be scanned.
type Target struct {
	Name           string
	Every, Timeout time.Duration
}

// Places returns all places there are to be scanned.
func (in *Ingest) Places() []Target {
	out := make([]Target, len(in.places))
	for i, p := range in.places {
		out[i] = Target{Name: p.name, Every: p.every, Timeout: p.variant.Timeout}
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

// Run follows the places that are watched and works off dirty units, until ctx
// ends.
func (in *Ingest) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, p := range in.places {
		if p.variant.Watch && p.follow != nil {
			wg.Go(func() { p.follow(ctx) })
		}
	}
	wg.Go(func() { in.workLoop(ctx) })
	wg.Go(func() { in.inspectLoop(ctx) })
	wg.Go(func() { in.tidy(ctx) })
	wg.Wait()
	in.asking.Wait()
}

// Rouse has dirty units worked off soon.
func (in *Ingest) rouse() {
	for _, c := range []chan struct{}{in.wake, in.look} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// pendingEvents reports whether text differs from what was last said about a thing. An
// empty text forgets it.
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

// Package batch processes dirty units: it builds them in batches, writes the differences
// to the catalog, and retries what failed or was refused.
package batch

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/unit"
)

// Catalog stores entities. Its methods may be called concurrently.
type Catalog interface {
	// Put updates the catalog to match each of the builds, in one transaction that writes
	// only differences. It returns the results in the order of the builds.
	Put(ctx context.Context, builds []unit.Build) ([]Written, error)
}

// Processing configures how dirty units are processed.
type Processing struct {
	// BatchSize units are loaded together, Parallelism batches concurrently.
	BatchSize, Parallelism int
	// A failed unit is retried RetryAttempts times, with a pause of RetryDelay.
	RetryAttempts int
	RetryDelay    time.Duration
}

// Options are the options of New.
type Options struct {
	Builder    *unit.Builder
	Mirror     *mirror.Mirror
	Catalog    Catalog
	Metrics    *metrics.Metrics
	Once       *once.Log
	Now        func() time.Time
	Log        *slog.Logger
	Processing Processing
	// Quiet is how long units whose sources became stale or fresh wait for more of them,
	// for each source that cannot be read; see settle. Zero means that they do not wait.
	Quiet time.Duration
	// Requested returns when a scan of a source was last requested because the source may
	// have changed; zero if it never was.
	Requested func(source string) time.Time
	// BuildSoon requests that dirty units are processed, by any replica.
	BuildSoon func()
	// Reached is called before certain steps. Tests intervene there.
	Reached func(step, detail string)
}

// Processor processes dirty units. Its methods may be called concurrently.
type Processor struct {
	Options
	mu sync.Mutex
	// tries counts consecutive failures by unit; resting contains the dirty units that are
	// not processed for a while.
	tries   map[string]int
	resting map[string]rest
	wave    wave
}

// New returns a processor.
func New(o Options) *Processor {
	return &Processor{Options: o, tries: map[string]int{}, resting: map[string]rest{}}
}

// buildLock is the lock that makes processing dirty units exclusive across all
// replicas. Scans process what they marked dirty themselves, so that their runs record
// what they changed; the queue alone would not keep them apart from the build task.
const buildLock = "ingest"

// MostUnits is how many units are processed at once, before another job gets the lock.
const MostUnits = 50_000

// manyUnits is the number of units above which the caches are too small to help.
const manyUnits = 2000

// Process processes all dirty units. Only one replica does so at a time: what it loads
// must be what it writes.
func (p *Processor) Process(ctx context.Context) (total Tally, err error) {
	if err := p.settle(ctx); err != nil {
		return total, err
	}
	// Without dirty units there is no need to wait for the lock.
	units, err := p.Due(ctx, 1)
	if err != nil || len(units) == 0 {
		return total, err
	}
	p.Reached("lock", buildLock)
	err = p.Mirror.WithLock(ctx, buildLock, func(ctx context.Context) error {
		units, err := p.Due(ctx, MostUnits)
		if err != nil || len(units) == 0 {
			return err
		}
		pass, err := p.Builder.Pass(ctx, unit.PassOptions{Uncached: len(units) > manyUnits})
		if err != nil {
			return err
		}
		failures, err := status.Failures(ctx, p.Mirror)
		if err != nil {
			return err
		}
		before := maps.Clone(failures)
		s := &batch{Processor: p, pass: pass, failures: failures}
		err = s.run(ctx, units)
		total = s.tally
		return errors.Join(err, status.SetFailures(ctx, p.Mirror, s.failures), p.Mirror.Uncheck(ctx, differ(before, s.failures)))
	})
	return total, err
}

// differ returns the units that have begun or ceased to fail, or fail for another
// reason.
func differ(before, after map[string]string) (units []string) {
	for unit, why := range after {
		if before[unit] != why {
			units = append(units, unit)
		}
	}
	for unit := range before {
		if _, still := after[unit]; !still {
			units = append(units, unit)
		}
	}
	slices.Sort(units)
	return units
}

// batch is a set of units that are processed together.
type batch struct {
	*Processor
	pass *unit.Pass
	// failures are the units that could not be built, and why; finished are those to take
	// off the agenda. Only the goroutine that calls finish accesses them.
	failures map[string]string
	finished []mirror.Unit

	mu    sync.Mutex
	tally Tally
}

// mostDocuments is about how many documents and units are written in one transaction. Many
// documents have values in common, whose rows a transaction writes only once; but two groups
// are in memory at a time, and other writers wait for a transaction to end.
const mostDocuments = 1000

// run loads and transforms batches concurrently, and writes what is ready. Writing
// takes longest, because transactions are serialized: one CPU is left to it, so that it
// does not wait for goroutines that only produce more to write.
func (s *batch) run(ctx context.Context, units []mirror.Unit) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	batches := make(chan []mirror.Unit)
	ready := make(chan []unit.Built)
	go func() {
		defer close(batches)
		for batch := range slices.Chunk(units, max(1, s.Processing.BatchSize)) {
			select {
			case batches <- batch:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range max(1, s.Processing.Parallelism) {
		workers.Go(func() {
			for batch := range batches {
				made, err := s.buildUnits(ctx, batch)
				if err != nil {
					stop(err)
					return
				}
				select {
				case ready <- made:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(ready)
	}()
	// A writer continues while its results are processed, and while the next one gathers.
	put := make(chan *group, mostWriters)
	var gathering sync.Mutex
	var writers sync.WaitGroup
	for range mostWriters {
		writers.Go(func() {
			for {
				gathering.Lock()
				g := &group{made: gather(ready)}
				gathering.Unlock()
				if len(g.made) == 0 {
					return
				}
				if g.err = ctx.Err(); g.err == nil {
					s.put(ctx, g)
				}
				put <- g
			}
		})
	}
	go func() {
		writers.Wait()
		close(put)
	}()
	for g := range put {
		if err := s.finish(ctx, g); err != nil {
			stop(err)
		}
	}
	if err := s.tidyUp(ctx); err != nil {
		stop(err)
	}
	return context.Cause(ctx)
}

// buildUnits builds a batch of units.
func (s *batch) buildUnits(ctx context.Context, units []mirror.Unit) ([]unit.Built, error) {
	begun := s.Now()
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.Name
	}
	loaded, err := s.Builder.Load(ctx, names)
	if err != nil {
		return nil, err
	}
	took := s.Now().Sub(begun)
	s.Metrics.Phase("load", took)
	s.mu.Lock()
	s.tally.Load += took
	s.mu.Unlock()
	begun = s.Now()
	out := make([]unit.Built, len(units))
	var waited time.Duration
	for i, u := range units {
		out[i] = s.pass.Build(ctx, u, loaded[u.Name])
		waited += out[i].Waited
	}
	took = s.Now().Sub(begun) - waited
	s.Metrics.Phase("transform", took)
	s.mu.Lock()
	s.tally.Transform += took
	s.mu.Unlock()
	return out, ctx.Err()
}

// mostWriters is how many transactions run concurrently: while one of them writes, the
// next one computes its differences.
const mostWriters = 2

// group is a set of units that are written in one transaction.
type group struct {
	made []unit.Built
	// units and builds are those of made that did not fail.
	units   []mirror.Unit
	builds  []unit.Build
	written []Written
	took    time.Duration
	err     error
}

// gather returns the next builds to write: enough for a transaction, or all that are left.
func gather(ready <-chan []unit.Built) (made []unit.Built) {
	for size := 0; size < mostDocuments; {
		more, ok := <-ready
		if !ok {
			break
		}
		made = append(made, more...)
		// A unit without documents may remove some.
		size += len(more) + documents(more)
	}
	return made
}

func documents(made []unit.Built) (n int) {
	for i := range made {
		n += len(made[i].Build.Entities)
	}
	return n
}

// put writes the builds of a group to the catalog.
func (s *batch) put(ctx context.Context, g *group) {
	begun := s.Now()
	for i := range g.made {
		if d := &g.made[i]; d.Failed == "" {
			g.builds = append(g.builds, d.Build)
			g.units = append(g.units, d.Unit)
			d.Build = unit.Build{}
		}
	}
	g.written, g.err = s.Catalog.Put(ctx, g.builds)
	g.took = s.Now().Sub(begun)
	for i := range g.builds {
		g.builds[i].Prepared = nil
	}
}

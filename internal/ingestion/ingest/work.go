package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// BuildDirty processes all dirty units, and records that as a run if it changed the catalog.
func (in *Ingest) BuildDirty(ctx context.Context) error {
	begun := in.Now()
	t, err := in.work(ctx)
	if err != nil && ctx.Err() == nil {
		in.meters.failed("", "catalog")
	}
	if t.changed() || t.Failed > 0 {
		in.journal(ctx, Run{Trigger: TriggerWatch, Started: begun, Tally: t}, err)
	}
	if err == nil && t.Units >= mostUnits {
		in.buildSoon()
	}
	return err
}

// Tally counts what was done.
type Tally struct {
	// Units counts the processed units, Failed those of them that could not be built.
	Units  int `json:"units"`
	Failed int `json:"failed"`
	// Added, Updated, Removed and Unchanged count entities, Refused those that belong to
	// other providers.
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	Refused   int `json:"refused"`
	// The durations of the phases.
	Load      time.Duration `json:"-"`
	Transform time.Duration `json:"-"`
	Write     time.Duration `json:"-"`
	changes   Changes
}

func (t *Tally) changed() bool { return t.Added+t.Updated+t.Removed > 0 }

func (t *Tally) add(w Written) {
	t.Added += w.Added
	t.Updated += w.Updated
	t.Removed += w.Removed
	t.Unchanged += w.Unchanged
	t.Refused += len(w.Refused)
	t.changes.add(w.Changed)
	for _, r := range w.Refused {
		t.changes.add(Changes{Refused: []string{r.Ref}})
	}
}

// buildLock is the lock that makes processing dirty units exclusive across all
// replicas. Scans process what they marked dirty themselves, so that their runs record
// what they changed; the queue alone would not keep them apart from the build task.
const buildLock = "ingest"

// mostUnits is how many units are processed at once, before another job gets the lock.
const mostUnits = 50_000

// manyUnits is the number of units above which the caches are too small to help.
const manyUnits = 2000

// work processes all dirty units. Only one replica does so at a time: what it loads
// must be what it writes.
func (in *Ingest) work(ctx context.Context) (total Tally, err error) {
	// Without dirty units there is no need to wait for the lock.
	units, err := in.due(ctx, 1)
	if err != nil || len(units) == 0 {
		return total, err
	}
	in.reached("lock", buildLock)
	err = in.Mirror.WithLock(ctx, buildLock, func(ctx context.Context) error {
		units, err := in.due(ctx, mostUnits)
		if err != nil || len(units) == 0 {
			return err
		}
		conditions, err := in.conditions(ctx)
		if err != nil {
			return err
		}
		failures, err := in.failing(ctx)
		if err != nil {
			return err
		}
		before := maps.Clone(failures)
		s := &unitBatch{Ingest: in, caches: in.caches, now: in.Now(), conditions: conditions, failures: failures}
		if len(units) > manyUnits {
			s.caches = in.caches.none()
		}
		err = s.run(ctx, units)
		total = s.tally
		return errors.Join(err, in.fails(ctx, s.failures), in.Mirror.Uncheck(ctx, differ(before, s.failures)))
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

// unitBatch is a set of units that are processed together.
type unitBatch struct {
	*Ingest
	// caches are those of Ingest, or empty ones.
	caches *caches
	// asked says that findings about definitions are wanted. spared are units that are
	// known to fail, and why: only the worker retries them.
	asked      bool
	spared     map[string]string
	now        time.Time
	conditions map[string]condition
	// failures are the units that could not be built, and why; finished are those to take
	// off the agenda. Only the goroutine that calls finish accesses them.
	failures map[string]string
	finished []mirror.Unit
	// processors is a semaphore of CPU slots for transforming.
	processors chan struct{}

	mu    sync.Mutex
	tally Tally
}

// builtUnit is a unit with its build.
type builtUnit struct {
	unit    mirror.Unit
	outcome Build
	// failed is why the unit could not be built; its entities stay as they are.
	failed string
	// waited is how long it waited for a CPU slot.
	waited time.Duration
}

// mostDocuments is about how many documents are written in one transaction: enough to
// be worth a transaction, and few enough to limit memory and the impact on readers.
const mostDocuments = 500

// run loads and transforms batches concurrently, and writes what is ready. Writing
// takes longest, because transactions are serialized: one CPU is left to it, so that it
// does not wait for goroutines that only produce more to write.
func (s *unitBatch) run(ctx context.Context, units []mirror.Unit) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.processors = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))
	batches := make(chan []mirror.Unit)
	// While a transaction is written, the next one fills up.
	ready := make(chan []builtUnit, max(1, mostDocuments/max(1, s.Processing.BatchSize)/3))
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
	// A writer continues while its results are processed.
	put := make(chan *group, mostWriters)
	var writers sync.WaitGroup
	for range mostWriters {
		writers.Go(func() {
			for made := range ready {
				g := &group{made: gather(made, ready)}
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

// mostWriters is how many transactions run concurrently: while one of them writes, the
// next one computes its differences.
const mostWriters = 2

// group is a set of units that are written in one transaction.
type group struct {
	made []builtUnit
	// units and outcomes are those of made that did not fail.
	units    []mirror.Unit
	outcomes []Build
	written  []Written
	took     time.Duration
	err      error
}

// gather adds builds that are ready to made.
func gather(made []builtUnit, ready <-chan []builtUnit) []builtUnit {
	for size := documents(made); size < mostDocuments && len(ready) > 0; {
		more, ok := <-ready
		if !ok {
			break
		}
		made = append(made, more...)
		size += documents(more)
	}
	return made
}

func documents(made []builtUnit) (n int) {
	for i := range made {
		n += len(made[i].outcome.Entities)
	}
	return n
}

// put writes the builds of a group to the catalog.
func (s *unitBatch) put(ctx context.Context, g *group) {
	begun := s.Now()
	for i := range g.made {
		if d := &g.made[i]; d.failed == "" {
			g.outcomes = append(g.outcomes, d.outcome)
			g.units = append(g.units, d.unit)
			d.outcome = Build{}
		}
	}
	g.written, g.err = s.Catalog.Put(ctx, g.outcomes)
	g.took = s.Now().Sub(begun)
	for i := range g.outcomes {
		g.outcomes[i].Prepared = nil
	}
}

// finish records and logs the results of a group.
func (s *unitBatch) finish(ctx context.Context, g *group) error {
	if g.err != nil {
		return g.err
	}
	for i, w := range g.written {
		s.tally.add(w)
		s.told(g.units[i].Name, g.outcomes[i], w)
		if w.Removed > 0 {
			s.rested(g.outcomes[i].Provider)
		}
		if len(w.Refused) == 0 {
			s.finished = append(s.finished, g.units[i])
			continue
		}
		s.restUntil(g.units[i], w.Refused)
	}
	for _, d := range g.made {
		if d.failed == "" {
			continue
		}
		s.tally.Failed++
		s.tally.changes.add(Changes{Failed: []string{d.unit.Name}})
		if !s.retried(d) {
			s.finished = append(s.finished, d.unit)
		}
	}
	s.tally.Units += len(g.made)
	s.tally.Write += g.took
	s.meters.phase("write", g.took)
	if len(s.finished) < mostFinished {
		return nil
	}
	return s.tidyUp(ctx)
}

// mostFinished is how many units are taken off the agenda at once. If the process dies
// before, they are processed again without a difference.
const mostFinished = 1000

// tidyUp takes finished units off the agenda.
func (s *unitBatch) tidyUp(ctx context.Context) error {
	begun := s.Now()
	err := s.Mirror.Done(ctx, s.finished)
	s.finished = s.finished[:0]
	took := s.Now().Sub(begun)
	s.tally.Write += took
	s.meters.phase("write", took)
	return err
}

// told logs the result of a unit, one line per change, and clears its failures.
func (s *unitBatch) told(unit string, o Build, w Written) {
	s.Ingest.mu.Lock()
	delete(s.tries, unit)
	delete(s.resting, unit)
	s.Ingest.mu.Unlock()
	delete(s.failures, unit)
	s.news("unit "+unit, "")
	if w.Added+w.Updated+w.Removed > 0 {
		s.Log.Info("catalog changed", "unit", unit, "added", w.Added, "updated", w.Updated, "removed", w.Removed)
	}
	refs := make([]string, 0, len(w.Refused))
	for _, r := range w.Refused {
		refs = append(refs, fmt.Sprintf("%s (owned by %s)", r.Ref, r.Owner))
	}
	if text := strings.Join(refs, ", "); s.news("refused "+unit, text) && text != "" {
		s.Log.Warn("entities skipped: owned by another provider", "unit", unit, "entities", text)
		s.meters.failed("", "conflict")
	}
	s.meters.made(len(o.Entities))
}

// retried reports whether a failed unit is retried, and schedules the retry. Its
// entities stay as they were.
func (s *unitBatch) retried(d builtUnit) bool {
	s.Ingest.mu.Lock()
	s.tries[d.unit.Name]++
	tries := s.tries[d.unit.Name]
	s.Ingest.mu.Unlock()
	s.failures[d.unit.Name] = d.failed
	s.warn(s.Log, "unit "+d.unit.Name, "unit build failed; its entities in the catalog are kept", "unit", d.unit.Name, "error", d.failed)
	s.meters.failed("", "transform")
	if tries > s.Processing.RetryAttempts {
		s.Ingest.mu.Lock()
		delete(s.tries, d.unit.Name)
		s.Ingest.mu.Unlock()
		return false
	}
	s.restFor(d.unit, s.Processing.RetryDelay)
	return true
}

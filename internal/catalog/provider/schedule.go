package provider

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
)

const (
	// maxReads is how many locations are read concurrently.
	maxReads = 4
	// lookAgain is the longest delay until locations registered with another replica are
	// noticed.
	lookAgain = 5 * time.Second
	// sweepEvery is how often orphaned entities are looked for.
	sweepEvery = 15 * time.Minute
	// finishing is the timeout for writing a result after the process was told to stop.
	finishing = 20 * time.Second
	// trustMemo is how many times in a row a location may be found unchanged before it is
	// read completely, in case its entities were removed.
	trustMemo = 10
	// byDefaultInterval applies if the configuration has no interval.
	byDefaultInterval = 100 * time.Second
)

// staticPrefix is the prefix of the IDs of configured locations.
const staticPrefix = "static:"

// reading is a location and the state of reading it.
type reading struct {
	id     string
	target location.Target
	// due is when to read it, zero for immediately. fresh requests a complete reading,
	// without the memo.
	due   time.Time
	fresh bool
	// running is set while it is read; hurried if another reading was requested since.
	running, hurried bool
	// lock guards the following fields while the location is read. All readings of one ID
	// share it: if the target changes, the entities of the later one stay.
	lock *sync.Mutex
	// full is the value of fresh when reading started.
	full    bool
	memo    *location.Memo
	trusted int
	// held is how many entities there were when memo was made.
	held int
	// missing are the references that a file no longer had at the last reading. Their
	// entities stay until the next reading confirms it.
	missing []string
	// conflicts are the conflicts with other providers at the last reading.
	conflicts []location.Problem
	// problem is what was wrong at the last reading; empty if nothing was.
	problem string
}

func (r *reading) provider() string { return store.LocationProvider(r.id) }

// IsConfigured reports whether a provider is a location of the configuration.
func IsConfigured(provider string) bool {
	return strings.HasPrefix(provider, store.LocationProvider(staticPrefix))
}

func (r *reading) static() bool { return strings.HasPrefix(r.id, staticPrefix) }

// schedule decides which locations are read when.
type schedule struct {
	reader   *location.Reader
	types    []string
	interval time.Duration
	static   []*reading
	now      func() time.Time
	// wake wakes up the loop.
	wake chan struct{}

	mu   sync.Mutex
	byID map[string]*reading
	// changed says that a location was added, changed, removed or requested.
	changed bool
}

func newSchedule(opts Options) *schedule {
	s := &schedule{
		reader:   location.New(location.Options{Config: opts.Reading, Rules: opts.Config.Rules}),
		types:    opts.Config.LocationTypes,
		interval: opts.Config.Interval,
		now:      opts.Now,
		wake:     make(chan struct{}, 1),
		byID:     map[string]*reading{},
	}
	if s.interval <= 0 {
		s.interval = byDefaultInterval
	}
	for _, l := range opts.Config.Locations {
		r := &reading{
			id: staticID(l), lock: &sync.Mutex{},
			target: location.Target{Type: l.Type, Target: l.Target, Rules: l.Rules, Static: true},
		}
		if s.byID[r.id] == nil {
			s.byID[r.id] = r
			s.static = append(s.static, r)
		}
	}
	return s
}

// staticID returns the ID of a configured location, derived from its address. The hash
// only shortens it and hides nothing.
func staticID(l config.CatalogLocation) string {
	sum := sha1.Sum([]byte(l.Type + ":" + l.Target))
	return staticPrefix + hex.EncodeToString(sum[:])
}

// know updates the schedule to the registered locations.
func (s *schedule) know(registered []store.Location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make(map[string]bool, len(registered)+len(s.static))
	for _, r := range s.static {
		there[r.id] = true
	}
	for _, l := range registered {
		there[l.ID] = true
		target := location.Target{Type: l.Type, Target: l.Target}
		switch r := s.byID[l.ID]; {
		case r == nil:
			s.byID[l.ID] = &reading{id: l.ID, target: target, lock: &sync.Mutex{}}
		case r.target.String() != target.String():
			s.byID[l.ID] = &reading{id: l.ID, target: target, lock: r.lock}
		}
	}
	for id := range s.byID {
		if !there[id] {
			delete(s.byID, id)
		}
	}
}

// begin returns the locations to read now, at most so many, marked as running, and how
// long to wait until there may be more.
func (s *schedule) begin(most int) (due []*reading, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	wait = lookAgain
	for _, r := range s.byID {
		switch left := r.due.Sub(now); {
		case r.running:
		case left > 0:
			wait = min(wait, left)
		case len(due) < most:
			r.running, r.full, r.fresh = true, r.fresh, false
			due = append(due, r)
		}
	}
	return due, wait
}

// end marks a location as read. The next reading is due after the interval, plus or
// minus a tenth, so that not all happen at once; or now if it was requested in the
// meantime.
func (s *schedule) end(r *reading, retry bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.running = false
	if r.hurried {
		r.hurried = false
		return
	}
	wait := s.interval
	if retry {
		wait = min(wait, lookAgain)
	}
	r.due = s.now().Add(wait*9/10 + rand.N(wait/5+1))
}

// hurry requests an immediate and complete reading of a location. Further requests
// before it starts have no effect. A location that is unknown here is new, and read
// soon anyway.
func (s *schedule) hurry(id string) {
	s.mu.Lock()
	if r := s.byID[id]; r != nil {
		r.due, r.fresh, r.hurried = time.Time{}, true, r.running
	}
	s.changed = true
	s.mu.Unlock()
	s.poke()
}

// outdated reports whether the locations have changed since the last call, as far as
// this process knows.
func (s *schedule) outdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed
}

// current reports whether r is still the reading for its ID.
func (s *schedule) current(r *reading) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[r.id] == r
}

// troubled returns how many locations had a problem at the last reading.
func (s *schedule) troubled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.byID {
		if r.problem != "" {
			n++
		}
	}
	return n
}

// Run reads locations when they are due, until ctx ends; it returns when all readings
// have finished. It first removes the entities of locations that were removed from the
// configuration.
func (in *Providers) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, maxReads)
	var learned, swept time.Time
	for ctx.Err() == nil {
		if now := in.now(); in.locations.outdated() || learned.IsZero() || now.Sub(learned) >= lookAgain {
			learned = now
			if err := in.learn(ctx, &swept); err != nil && ctx.Err() == nil {
				in.log.Error("cannot look for locations", "error", err)
			}
		}
		due, wait := in.locations.begin(maxReads - len(slots))
		for _, r := range due {
			slots <- struct{}{}
			running.Go(func() {
				defer func() {
					<-slots
					in.locations.poke()
				}()
				in.locations.end(r, in.guarded(ctx, r))
			})
		}
		timer := time.NewTimer(max(wait, time.Millisecond))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-in.locations.wake:
		}
		timer.Stop()
	}
}

// poke wakes up the loop.
func (s *schedule) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// learn updates the schedule to the registered locations, and sweeps from time to time.
func (in *Providers) learn(ctx context.Context, swept *time.Time) error {
	all, err := in.store.Locations(ctx)
	if err != nil {
		return err
	}
	in.locations.know(all)
	if now := in.now(); swept.IsZero() || now.Sub(*swept) >= sweepEvery {
		if err := in.sweep(ctx); err != nil {
			return err
		}
		*swept = now
	}
	return nil
}

// sweep removes the entities of locations that are neither registered nor configured
// any more.
func (in *Providers) sweep(ctx context.Context) error {
	owners, err := in.store.Providers(ctx)
	if err != nil {
		return err
	}
	for owner := range owners {
		id, ok := strings.CutPrefix(owner, store.LocationProvider(""))
		if !ok || in.locations.has(id) {
			continue
		}
		if !strings.HasPrefix(id, staticPrefix) {
			// The location may have been registered a moment ago.
			if _, err := in.store.Location(ctx, id); !errors.Is(err, db.ErrNotFound) {
				continue
			}
		}
		res, err := in.store.Sync(ctx, store.Change{Provider: owner, Full: true})
		if err != nil {
			return err
		}
		in.log.Info("location is gone, and its entities with it", "provider", owner, "removed", res.Removed)
	}
	return nil
}

// targetOf returns the address of a location, empty if it is unknown here.
func (s *schedule) targetOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.byID[id]; r != nil {
		return r.target.String()
	}
	return ""
}

func (s *schedule) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id] != nil
}

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
	// maxReads is how many locations are read at once.
	maxReads = 4
	// lookAgain is how long it takes at most to notice locations that another
	// replica was told of.
	lookAgain = 5 * time.Second
	// sweepEvery is how often what nobody reads any more is looked for.
	sweepEvery = 15 * time.Minute
	// finishing is how long a result may take to be written after the end of
	// the process was asked for.
	finishing = 20 * time.Second
	// trustMemo is how many times in a row a location may be found unchanged
	// before it is read all the same, in case somebody removed its entities.
	trustMemo = 10
	// byDefaultInterval is for a configuration that says nothing.
	byDefaultInterval = 100 * time.Second
)

// staticPrefix begins the ids of locations that are in the configuration.
const staticPrefix = "static:"

// reading is a location, and how reading it goes.
type reading struct {
	id     string
	target location.Target
	// due is when it is to be read, zero for at once. fresh asks for everything
	// to be read, whatever is remembered.
	due   time.Time
	fresh bool
	// running is set while it is read; hurried when somebody asked for it
	// since.
	running, hurried bool
	// What follows belongs to whoever is reading, and has the lock. It is one
	// for all that is read under the id: of two targets in turn, the later
	// one's entities stay.
	lock *sync.Mutex
	// full is what fresh was when it began.
	full    bool
	memo    *location.Memo
	trusted int
	// held is how many entities there were when memo was made.
	held int
	// missing are the references that a file no longer had the last time, and that
	// stay until the next reading says the same.
	missing []string
	// conflicts are the problems with what belongs to others, as they were the
	// last time.
	conflicts []location.Problem
	// problem is what was wrong the last time; empty if nothing was.
	problem string
}

func (r *reading) provider() string { return store.LocationProvider(r.id) }

// IsConfigured reports whether a provider is a location of the configuration.
func IsConfigured(provider string) bool {
	return strings.HasPrefix(provider, store.LocationProvider(staticPrefix))
}

func (r *reading) static() bool { return strings.HasPrefix(r.id, staticPrefix) }

// schedule is which locations are read when.
type schedule struct {
	reader   *location.Reader
	types    []string
	interval time.Duration
	static   []*reading
	now      func() time.Time
	// wake tells the loop to look.
	wake chan struct{}

	mu   sync.Mutex
	byID map[string]*reading
	// changed says that somebody added, changed or removed a location.
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

// staticID names a location of the configuration, by its address. The hash
// shortens it, and keeps nothing secret.
func staticID(l config.CatalogLocation) string {
	sum := sha1.Sum([]byte(l.Type + ":" + l.Target))
	return staticPrefix + hex.EncodeToString(sum[:])
}

// know brings the schedule up to what is registered.
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

// begin returns the locations to read now, at most so many, and marks them as
// running; and how long it is until there may be more.
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

// end takes a location that was read. It is read again after the interval,
// give or take a tenth, so that not all come at once; or now if somebody asked
// meanwhile.
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

// hurry has a location read at once, and everything of it. Asking again before
// it begins changes nothing. One that is not known yet is new, and read soon
// anyway.
func (s *schedule) hurry(id string) {
	s.mu.Lock()
	if r := s.byID[id]; r != nil {
		r.due, r.fresh, r.hurried = time.Time{}, true, r.running
	}
	s.changed = true
	s.mu.Unlock()
	s.poke()
}

// outdated reports whether the locations have changed since it was asked last,
// as far as this process knows.
func (s *schedule) outdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.changed
	s.changed = false
	return changed
}

// current reports whether r is what is to be read under its id.
func (s *schedule) current(r *reading) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[r.id] == r
}

// troubled returns how many locations had a problem the last time.
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

// Run reads locations as they are due, until ctx ends; it returns when what it
// began is finished. First of all it removes what is left of locations that
// were taken out of the configuration.
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

// poke has the loop look again.
func (s *schedule) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// learn brings the schedule up to what is registered, and sweeps from time to
// time.
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

// sweep removes what was read from locations that are neither registered nor
// in the configuration any more.
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
			// It may have been registered a moment ago.
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

// targetOf returns the address of a location, empty if it is not known here.
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

package provider

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
)

// reading is a location and what this process remembers of reading it.
type reading struct {
	id     string
	target location.Target
	// lock guards the following fields while the location is read. All readings of one ID
	// share it: if the target changes, the entities of the later one stay.
	lock *sync.Mutex
	// fence is the number of the last reading here.
	fence   int64
	memo    *location.Memo
	trusted int
	// held is how many entities there were when memo was made.
	held int
	// missing are the references that a file no longer had at the first of two readings.
	// Their entities stay unless the second one confirms it.
	missing []string
	// conflicts are the conflicts with other providers at the last reading.
	conflicts []location.Problem
	// problem is what was wrong at the last reading; empty if nothing was.
	problem string
}

func (r *reading) provider() string { return store.LocationProvider(r.id) }

func (r *reading) static() bool { return strings.HasPrefix(r.id, staticPrefix) }

// staticPrefix is the prefix of the IDs of configured locations.
const staticPrefix = "static:"

// IsConfigured reports whether a provider is a location of the configuration.
func IsConfigured(provider string) bool {
	return strings.HasPrefix(provider, store.LocationProvider(staticPrefix))
}

// staticID returns the ID of a configured location, derived from its address. The hash
// only shortens it and hides nothing.
func staticID(l config.CatalogLocation) string {
	sum := sha1.Sum([]byte(l.Type + ":" + l.Target))
	return staticPrefix + hex.EncodeToString(sum[:])
}

// locations are the locations as this process knows them.
type locations struct {
	reader   *location.Reader
	types    []string
	interval time.Duration
	// static are the configured locations.
	static map[string]location.Target

	mu   sync.Mutex
	byID map[string]*reading
}

func newLocations(opts Options) *locations {
	s := &locations{
		reader:   location.New(location.Options{Config: opts.Reading, Rules: opts.Config.Rules}),
		types:    opts.Config.LocationTypes,
		interval: opts.Config.Interval,
		static:   map[string]location.Target{},
		byID:     map[string]*reading{},
	}
	if s.interval <= 0 {
		s.interval = byDefaultInterval
	}
	for _, l := range opts.Config.Locations {
		if id := staticID(l); s.static[id].Type == "" {
			s.static[id] = location.Target{Type: l.Type, Target: l.Target, Rules: l.Rules, Static: true}
		}
	}
	return s
}

// soon returns after which time a reading is repeated.
func (s *locations) soon() time.Duration { return min(s.interval, retryAfter) }

// update returns the IDs of all locations, and drops the state of others.
func (s *locations) update(registered []store.Location) map[string]bool {
	known := make(map[string]bool, len(registered)+len(s.static))
	for id := range s.static {
		known[id] = true
	}
	for _, l := range registered {
		known[l.ID] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.byID {
		if !known[id] {
			delete(s.byID, id)
		}
	}
	return known
}

// readingOf returns the state of a location, and db.ErrNotFound if it is neither
// configured nor registered.
func (in *Providers) readingOf(ctx context.Context, id string) (*reading, error) {
	target, ok := in.locations.static[id]
	if !ok {
		l, err := in.store.Location(ctx, id)
		if err != nil {
			return nil, err
		}
		target = location.Target{Type: l.Type, Target: l.Target}
	}
	s := in.locations
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byID[id]
	if r == nil {
		r = &reading{id: id, target: target, lock: &sync.Mutex{}}
	}
	if r.target.String() != target.String() {
		r = &reading{id: id, target: target, lock: r.lock}
	}
	s.byID[id] = r
	return r, nil
}

// troubled returns how many configured locations had a problem when this process last
// read them. Another replica may have read them since: the problems of configured
// locations are stored nowhere.
func (s *locations) troubled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id := range s.static {
		if r := s.byID[id]; r != nil && r.problem != "" {
			n++
		}
	}
	return n
}

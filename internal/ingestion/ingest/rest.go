package ingest

import (
	"context"
	"slices"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// rest is why a dirty unit is not processed for a while. The unit stays on the agenda,
// so that another replica, or this process after a restart, retries it.
type rest struct {
	// stamp is that of the unit: if the unit has changed since, the rest is over.
	stamp int64
	// owners are the providers that own entities which the unit needs; nil if the unit
	// failed.
	owners []string
}

// due returns dirty units that are not resting, at most limit.
func (in *Ingest) due(ctx context.Context, limit int) ([]mirror.Unit, error) {
	in.mu.Lock()
	resting := len(in.resting)
	in.mu.Unlock()
	units, err := in.Mirror.Units(ctx, limit+resting)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	units = slices.DeleteFunc(units, func(u mirror.Unit) bool {
		r, ok := in.resting[u.Name]
		return ok && r.stamp == u.Stamp
	})
	return units[:min(len(units), limit)], nil
}

// restFor lets a unit rest for a while. The timer does not depend on the wall clock.
func (in *Ingest) restFor(u mirror.Unit, pause time.Duration) {
	in.mu.Lock()
	in.resting[u.Name] = rest{stamp: u.Stamp}
	in.mu.Unlock()
	time.AfterFunc(pause, func() {
		in.mu.Lock()
		if in.resting[u.Name].stamp == u.Stamp {
			delete(in.resting, u.Name)
		}
		in.mu.Unlock()
		in.buildSoon()
	})
}

// restUntil lets a unit rest until one of the owners removes an entity, or until the
// next scan.
func (in *Ingest) restUntil(u mirror.Unit, refused []Refused) {
	r := rest{stamp: u.Stamp}
	for _, no := range refused {
		r.owners = append(r.owners, no.Owner)
	}
	in.mu.Lock()
	in.resting[u.Name] = r
	in.mu.Unlock()
}

// rested ends the rest of the units that wait for an owner, or for any owner if it is
// empty.
func (in *Ingest) rested(owner string) {
	in.mu.Lock()
	some := false
	for unit, r := range in.resting {
		if slices.Contains(r.owners, owner) || owner == "" && r.owners != nil {
			delete(in.resting, unit)
			some = true
		}
	}
	in.mu.Unlock()
	if some {
		in.buildSoon()
	}
}

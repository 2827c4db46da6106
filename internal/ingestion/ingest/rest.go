package ingest

import (
	"context"
	"slices"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// rest is why a unit that is dirty is left alone for a while. It stays on the
// agenda, so that another replica, or this process after a restart, tries it.
type rest struct {
	// stamp is the unit's: one that has changed since rests no longer.
	stamp int64
	// owners are providers that have entities which the unit is to have; nil if
	// it failed.
	owners []string
}

// due returns dirty units that do not rest, at most limit.
func (in *Ingest) due(ctx context.Context, limit int) ([]mirror.Unit, error) {
	in.mu.Lock()
	resting := len(in.resting)
	in.mu.Unlock()
	units, err := in.Memory.Units(ctx, limit+resting)
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

// restFor leaves a unit alone for a while. It goes by no clock that can be set.
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
		in.rouse()
	})
}

// restUntil leaves a unit alone until one of the owners gives something up, or a
// scan looks again.
func (in *Ingest) restUntil(u mirror.Unit, refused []Refused) {
	r := rest{stamp: u.Stamp}
	for _, no := range refused {
		r.owners = append(r.owners, no.Owner)
	}
	in.mu.Lock()
	in.resting[u.Name] = r
	in.mu.Unlock()
}

// rested has the units tried again that wait for an owner, or for any if it is
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
		in.rouse()
	}
}

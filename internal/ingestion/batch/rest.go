package batch

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

// Due returns dirty units that are not resting, at most limit.
func (p *Processor) Due(ctx context.Context, limit int) ([]mirror.Unit, error) {
	p.mu.Lock()
	resting := len(p.resting)
	p.mu.Unlock()
	units, err := p.Mirror.Units(ctx, limit+resting)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	units = slices.DeleteFunc(units, func(u mirror.Unit) bool {
		r, ok := p.resting[u.Name]
		return ok && r.stamp == u.Stamp
	})
	return units[:min(len(units), limit)], nil
}

// restFor lets a unit rest for a while. The timer does not depend on the wall clock.
func (p *Processor) restFor(u mirror.Unit, pause time.Duration) {
	p.mu.Lock()
	p.resting[u.Name] = rest{stamp: u.Stamp}
	p.mu.Unlock()
	time.AfterFunc(pause, func() {
		p.mu.Lock()
		if p.resting[u.Name].stamp == u.Stamp {
			delete(p.resting, u.Name)
		}
		p.mu.Unlock()
		p.BuildSoon()
	})
}

// restUntil lets a unit rest until one of the owners removes an entity, or until the
// next scan.
func (p *Processor) restUntil(u mirror.Unit, refused []Refused) {
	r := rest{stamp: u.Stamp}
	for _, no := range refused {
		r.owners = append(r.owners, no.Owner)
	}
	p.mu.Lock()
	p.resting[u.Name] = r
	p.mu.Unlock()
}

// Release ends the rest of the units that wait for an owner, or for any owner if it is
// empty.
func (p *Processor) Release(owner string) {
	p.mu.Lock()
	some := false
	for unit, r := range p.resting {
		if slices.Contains(r.owners, owner) || owner == "" && r.owners != nil {
			delete(p.resting, unit)
			some = true
		}
	}
	p.mu.Unlock()
	if some {
		p.BuildSoon()
	}
}

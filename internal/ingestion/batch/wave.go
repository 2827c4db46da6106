package batch

import (
	"context"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
)

const (
	// mostQuiet is how many times Quiet units are held at most while no other source
	// becomes stale or fresh, and mostHeld how many times in any case.
	mostQuiet = 10
	mostHeld  = 120
)

// wave is a number of sources that become stale or fresh within a short time.
type wave struct {
	// began is when its first unit was held, and last when held was last different.
	began, last time.Time
	held        mirror.Held
	// failing is the largest number of sources that could not be read.
	failing int
}

// settle releases the units that are held because their sources became stale or fresh,
// once no other source has done so for a while. The more sources cannot be read, the
// longer that is: when a network fails, its clusters are found to be unreachable one by
// one, and when it is back, they recover one by one. Without the pause, the entities of a
// definition that all of them have would be written for each of them.
func (p *Processor) settle(ctx context.Context) error {
	h, err := p.Mirror.Held(ctx)
	if err != nil {
		return err
	}
	if h.Units == 0 {
		p.mu.Lock()
		p.wave = wave{}
		p.mu.Unlock()
		return nil
	}
	states, err := status.Load(ctx, p.Mirror)
	if err != nil {
		return err
	}
	failing, doubtful := 0, false
	for name, s := range states {
		if s.Error != "" {
			failing++
		} else if s.Tried.Before(p.Requested(name)) {
			doubtful = true
		}
	}
	if wait := p.holdFor(h, failing, doubtful); wait > 0 {
		// The timer does not depend on the wall clock.
		time.AfterFunc(wait, p.BuildSoon)
		return nil
	}
	return p.Mirror.Release(ctx)
}

// holdFor returns how long to wait before the held units are looked at again; 0 if they are
// to be released. failing sources cannot be read, and if some are doubtful, a scan will tell
// whether they can: that of a cluster that does not answer takes several seconds.
func (p *Processor) holdFor(h mirror.Held, failing int, doubtful bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, w := p.Now(), &p.wave
	if now.Sub(w.last).Abs() > 2*mostQuiet*p.Quiet {
		// It is the first wave, or another replica released the units of the last one.
		*w = wave{began: now}
	}
	if w.held != h {
		w.held, w.last = h, now
	}
	w.failing = max(w.failing, failing, 1)
	quiets := min(w.failing, mostQuiet)
	if doubtful {
		quiets = mostQuiet
	}
	left := min(
		p.Quiet*time.Duration(quiets)-now.Sub(w.last).Abs(),
		p.Quiet*mostHeld-now.Sub(w.began).Abs(),
	)
	if left <= 0 {
		p.wave = wave{}
		return 0
	}
	if doubtful {
		// The scan may end at any time.
		left = min(left, p.Quiet)
	}
	return left
}

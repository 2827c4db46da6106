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
	// fewestQuiet is how many times it is at least if there are more than fewSources: a scan
	// finds that a cluster does not answer after five seconds, sooner or later than another
	// one. With few sources it costs little to write entities for each of them.
	fewestQuiet = 6
	fewSources  = 3
)

// wave is a number of sources that become stale or fresh within a short time.
type wave struct {
	// began is when its first unit was held, and last when held was last different.
	began, last time.Time
	held        mirror.Held
	// failing is the largest number of sources that could not be read.
	failing int
	// until is how long the units are held if nothing changes. There is a timer for then.
	until time.Time
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
	if p.waits(h) {
		return nil
	}
	states, err := status.Load(ctx, p.Mirror)
	if err != nil {
		return err
	}
	failing := 0
	for _, s := range states {
		if s.Error != "" {
			failing++
		}
	}
	if wait := p.holdFor(h, failing, len(states)); wait > 0 {
		// The timer does not depend on the wall clock.
		time.AfterFunc(wait, p.BuildSoon)
		return nil
	}
	return p.Mirror.Release(ctx)
}

// waits reports whether a timer will look at the held units again, and nothing has changed
// since it was set.
func (p *Processor) waits(h mirror.Held) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, w := p.Now(), &p.wave
	return w.held == h && now.Before(w.until) && !now.Before(w.last)
}

// holdFor returns how long units are still held; 0 if they are to be released. failing of
// the sources cannot be read.
func (p *Processor) holdFor(h mirror.Held, failing, sources int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, w := p.Now(), &p.wave
	if now.Sub(w.last).Abs() > 2*mostQuiet*p.Quiet {
		// Another replica released the units of the last wave.
		*w = wave{began: now}
	}
	if w.held != h {
		w.held, w.last = h, now
	}
	fewest := 1
	if sources > fewSources {
		fewest = fewestQuiet
	}
	w.failing = max(w.failing, failing)
	left := min(
		p.Quiet*time.Duration(min(max(w.failing, fewest), mostQuiet))-now.Sub(w.last).Abs(),
		p.Quiet*mostHeld-now.Sub(w.began).Abs(),
	)
	if left <= 0 {
		p.wave = wave{}
		return 0
	}
	w.until = now.Add(left)
	return left
}

package batch

import (
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// TestHoldFor checks how long units are held whose sources became stale or fresh.
func TestHoldFor(t *testing.T) {
	// A step is a look at the held units: when, with the stamp of the last one and the
	// number of sources that cannot be read, and for how long they are still held.
	type step struct {
		at      time.Duration
		stamp   int64
		failing int
		want    time.Duration
	}
	const s = time.Second
	for name, c := range map[string]struct {
		quiet  time.Duration
		steps  []step
		reason string
	}{
		"One": {s, []step{{0, 1, 1, s}, {s, 1, 1, 0}}, "One source that fails is seen after a second."},
		"Recovers": {s, []step{{0, 1, 0, s}, {s / 2, 1, 0, s / 2}, {s, 1, 0, 0}, {9 * s, 2, 0, s}},
			"So is one that recovers, and the next time it begins anew."},
		"Many": {s, []step{{0, 1, 8, 8 * s}, {5 * s, 2, 16, 10 * s}, {10 * s, 3, 24, 10 * s}, {20 * s, 3, 24, 0}},
			"The more sources cannot be read, the longer it is, up to a limit."},
		"Back": {s, []step{{0, 1, 99, 10 * s}, {9 * s, 2, 1, 10 * s}, {14 * s, 3, 0, 10 * s}, {24 * s, 3, 0, 0}},
			"The last of many to recover are waited for like the first."},
		"Endless": {s, []step{{0, 1, 50, 10 * s}, {115 * s, 2, 50, 5 * s}, {120 * s, 3, 50, 0}},
			"Sources that come and go do not hold the units forever."},
		"Clock":   {s, []step{{0, 1, 2, 2 * s}, {-time.Hour, 1, 2, 0}}, "Nor does a clock that is set back."},
		"At once": {0, []step{{0, 1, 50, 0}}, "Without a queue nothing is held."},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			p := New(Options{Quiet: c.quiet, Now: func() time.Time { return now }})
			begun := now
			for i, step := range c.steps {
				now = begun.Add(step.at)
				if got := p.holdFor(mirror.Held{Units: 1, Stamp: step.stamp}, step.failing); got != step.want {
					t.Errorf("step %d: units are held for %v, want %v: %s", i, got, step.want, c.reason)
				}
			}
		})
	}
}

package batch

import (
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// TestHoldFor checks how long units are held whose sources became stale or fresh.
func TestHoldFor(t *testing.T) {
	// A step is a look at the held units: when, with the stamp of the last one, the number
	// of sources that cannot be read, and whether others are doubtful; and when they are
	// looked at again.
	type step struct {
		at       time.Duration
		stamp    int64
		failing  int
		doubtful bool
		want     time.Duration
	}
	const s = time.Second
	var endless []step
	for i := range 12 {
		endless = append(endless, step{time.Duration(10*i) * s, int64(i), 50, false, 10 * s})
	}
	for name, c := range map[string]struct {
		quiet  time.Duration
		steps  []step
		reason string
	}{
		"One": {s, []step{{0, 1, 1, false, s}, {s, 1, 1, false, 0}}, "One source that fails is seen after a second."},
		"Recovers": {s, []step{{0, 1, 0, false, s}, {s / 2, 1, 0, false, s / 2}, {s, 1, 0, false, 0}, {9 * s, 2, 0, false, s}},
			"So is one that recovers, and the next time it begins anew."},
		"Many": {s, []step{{0, 1, 8, false, 8 * s}, {5 * s, 2, 16, false, 10 * s}, {10 * s, 3, 24, false, 10 * s}, {20 * s, 3, 24, false, 0}},
			"The more sources cannot be read, the longer it is, up to a limit."},
		"Back": {s, []step{{0, 1, 99, false, 10 * s}, {9 * s, 2, 1, false, 10 * s}, {14 * s, 3, 0, false, 10 * s}, {24 * s, 3, 0, false, 0}},
			"The last of many to recover are waited for like the first."},
		"Doubtful": {s, []step{{0, 1, 1, true, s}, {4 * s, 1, 1, true, s}, {5 * s, 2, 2, true, s}, {9 * s, 3, 3, false, 3 * s}, {12 * s, 3, 3, false, 0}},
			"Scans that will tell whether other sources can be read are waited for."},
		"Slow": {s, []step{{0, 1, 1, true, s}, {9 * s, 1, 1, true, s}, {10 * s, 1, 1, true, 0}}, "But not forever."},
		"Fine": {s, []step{{0, 1, 1, true, s}, {2 * s, 1, 1, false, 0}}, "If the others can be read, one source that fails is seen at once."},
		"Left": {s, []step{{0, 1, 9, false, 9 * s}, {60 * s, 2, 1, false, s}, {61 * s, 2, 1, false, 0}},
			"After another replica released the units, the next time begins anew."},
		"Endless": {s, append(endless, step{115 * s, 98, 50, false, 5 * s}, step{120 * s, 99, 50, false, 0}),
			"Sources that come and go do not hold the units forever."},
		"Clock":   {s, []step{{0, 1, 8, false, 8 * s}, {-8 * s, 1, 8, false, 0}}, "Nor does a clock that is set back."},
		"At once": {0, []step{{0, 1, 50, false, 0}}, "Without a queue nothing is held."},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			p := New(Options{Quiet: c.quiet, Now: func() time.Time { return now }})
			begun := now
			for i, step := range c.steps {
				now = begun.Add(step.at)
				if got := p.holdFor(mirror.Held{Units: 1, Stamp: step.stamp}, step.failing, step.doubtful); got != step.want {
					t.Errorf("step %d: units are held for %v, want %v: %s", i, got, step.want, c.reason)
				}
			}
		})
	}
}

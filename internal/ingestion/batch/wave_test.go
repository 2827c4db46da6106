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
	var endless []step
	for i := range 12 {
		endless = append(endless, step{time.Duration(10*i) * s, int64(i), 50, 10 * s})
	}
	for name, c := range map[string]struct {
		quiet   time.Duration
		sources int
		steps   []step
		reason  string
	}{
		"One": {s, 1, []step{{0, 1, 1, s}, {s, 1, 1, 0}}, "One source that fails is seen after a second."},
		"Recovers": {s, 1, []step{{0, 1, 0, s}, {s / 2, 1, 0, s / 2}, {s, 1, 0, 0}, {9 * s, 2, 0, s}},
			"So is one that recovers, and the next time it begins anew."},
		"Few":     {s, 3, []step{{0, 1, 1, s}, {s / 2, 2, 2, 2 * s}, {3 * s, 2, 2, 0}}, "With few sources, a failure is seen early."},
		"Several": {s, 4, []step{{0, 1, 1, 6 * s}, {4 * s, 2, 2, 6 * s}, {10 * s, 2, 2, 0}}, "One of several may be the first of an outage of all."},
		"Left": {s, 9, []step{{0, 1, 9, 9 * s}, {60 * s, 2, 1, 6 * s}, {66 * s, 2, 1, 0}},
			"After another replica released the units, the next time begins anew."},
		"Many": {s, 50, []step{{0, 1, 8, 8 * s}, {5 * s, 2, 16, 10 * s}, {10 * s, 3, 24, 10 * s}, {20 * s, 3, 24, 0}},
			"The more sources cannot be read, the longer it is, up to a limit."},
		"Back": {s, 100, []step{{0, 1, 99, 10 * s}, {9 * s, 2, 1, 10 * s}, {14 * s, 3, 0, 10 * s}, {24 * s, 3, 0, 0}},
			"The last of many to recover are waited for like the first."},
		"Endless": {s, 50, append(endless, step{115 * s, 98, 50, 5 * s}, step{120 * s, 99, 50, 0}),
			"Sources that come and go do not hold the units forever."},
		"Clock":   {s, 8, []step{{0, 1, 8, 8 * s}, {-8 * s, 1, 8, 0}}, "Nor does a clock that is set back."},
		"At once": {0, 50, []step{{0, 1, 50, 0}}, "Without a queue nothing is held."},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			p := New(Options{Quiet: c.quiet, Now: func() time.Time { return now }})
			begun := now
			for i, step := range c.steps {
				now = begun.Add(step.at)
				if got := p.holdFor(mirror.Held{Units: 1, Stamp: step.stamp}, step.failing, c.sources); got != step.want {
					t.Errorf("step %d: units are held for %v, want %v: %s", i, got, step.want, c.reason)
				}
			}
		})
	}
}

// TestWaits checks when the held units are looked at again.
func TestWaits(t *testing.T) {
	begun := time.Unix(1_700_000_000, 0)
	now := begun
	p := New(Options{Quiet: time.Second, Now: func() time.Time { return now }})
	h := mirror.Held{Units: 1, Stamp: 1}
	if p.waits(h) {
		t.Error("units wait before they were looked at")
	}
	if wait := p.holdFor(h, 0, 1); wait != time.Second {
		t.Fatalf("units are held for %v", wait)
	}
	for _, c := range []struct {
		reason string
		at     time.Duration
		held   mirror.Held
		want   bool
	}{
		{"a timer is set", 0, h, true},
		{"shortly before it ends", time.Second - 1, h, true},
		{"when it ends", time.Second, h, false},
		{"further units are held", 0, mirror.Held{Units: 2, Stamp: 2}, false},
		{"the clock was set back", -time.Hour, h, false},
	} {
		if now = begun.Add(c.at); p.waits(c.held) != c.want {
			t.Errorf("%s: want %v", c.reason, c.want)
		}
	}
}

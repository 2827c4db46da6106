package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHistogramQuantile(t *testing.T) {
	t.Parallel()
	var empty, h histogram
	if got := empty.quantile(0.99); got != 0 {
		t.Errorf("quantile of an empty histogram is %v, want 0", got)
	}
	for i := range 10_000 {
		h.add(time.Duration(i+1) * 10 * time.Microsecond)
	}
	for q, want := range map[float64]float64{0: 0.01, 0.01: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := h.quantile(q); math.Abs(got/want-1) > 0.01 {
			t.Errorf("quantile %v is %.3f ms, want %.3f ms to within 1 %%", q, got, want)
		}
	}
	h.add(-time.Second)
	h.add(time.Hour)
	if got := h.quantile(1); h.n != 10_002 || got < 600_000 {
		t.Errorf("with durations out of range, %d durations have a maximum of %v ms", h.n, got)
	}
}

func TestTimetable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason              string
		lasts, interval     time.Duration
		intervals, compared int
		windows             string
	}{
		"Long":  {"Five minutes are compared, without the warm-up.", 30 * time.Minute, time.Minute, 30, 5, "-00000-------------------11111-"},
		"Short": {"A sixth of a short soak is compared.", 4 * time.Minute, 40 * time.Second, 6, 1, "-0---1-"},
		"Odd":   {"Intervals are whole.", 13 * time.Minute, time.Minute, 13, 2, "-00--------11-"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Unix(0, 0)
			times := newTimetable(begin, tc.lasts)
			if want := (timetable{begin, tc.interval, tc.intervals, tc.compared}); times != want {
				t.Errorf("%s\ngot  %v\nwant %v", tc.reason, times, want)
			}
			got := ""
			for i := range times.intervals + 1 {
				got += map[int]string{-1: "-", 0: "0", 1: "1"}[times.window(begin.Add(time.Duration(i)*times.interval))]
			}
			if got != tc.windows {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.windows)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	measured := func(p99 time.Duration, rss float64) *window {
		w := &window{rss: rss}
		if p99 > 0 {
			w.all.add(p99)
		}
		return w
	}
	first := measured(10*time.Millisecond, 200)
	cases := map[string]struct {
		reason      string
		first, last *window
		errors      int
		want        []bool
	}{
		"Kept":   {"Growth below the limits is allowed.", first, measured(11800*time.Microsecond, 219), 0, []bool{true, true, true}},
		"Better": {"Lower figures are allowed.", first, measured(time.Millisecond, 20), 0, []bool{true, true, true}},
		"Slower": {"Latency may not grow by more than 20 %.", first, measured(12200*time.Microsecond, 200), 0, []bool{false, true, true}},
		"Larger": {"Memory may not grow by more than 10 %.", first, measured(10*time.Millisecond, 221), 0, []bool{true, false, true}},
		"Errors": {"No request may fail.", first, first, 1, []bool{true, true, false}},
		"Silent": {"Without responses nothing is shown.", measured(0, 200), measured(0, 200), 0, []bool{false, true, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []bool
			for _, p := range judge(tc.first, tc.last, tc.errors) {
				got = append(got, p.kept)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLatency checks that latency counts from when a request was due, also while others
// are in flight.
func TestLatency(t *testing.T) {
	t.Parallel()
	const takes = 20 * time.Millisecond
	s := &soak{places: make(chan struct{}, inFlight), times: newTimetable(time.Now().Add(-time.Second), time.Hour)}
	s.all = []request{{do: func(*rand.Rand) error { time.Sleep(takes); return nil }}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*takes)
	defer cancel()
	s.send(ctx, 1, time.Now().Add(-takes), func() time.Duration { return time.Millisecond }, func(*rand.Rand) int { return 0 })
	s.wg.Wait()
	if s.now.n < 10 || s.now.quantile(0) < 19.8 || s.now.quantile(1) < 39.6 {
		t.Errorf("%d requests that take %v took %.1f to %.1f ms, the first of them %v late", s.now.n, takes, s.now.quantile(0), s.now.quantile(1), takes)
	}
}

// TestShares checks that a soak sends every share of its load.
func TestShares(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, q := range (&harness{shape: shape{perMille}}).kinds() {
		sum += q.share
	}
	if sum != 100 {
		t.Errorf("shares add up to %d %%, want 100 %%", sum)
	}
}

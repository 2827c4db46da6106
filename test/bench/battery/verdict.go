package main

import (
	"fmt"
	"time"
)

// p99Growth and memoryGrowth are how many times the first figure the last one may be.
const p99Growth, memoryGrowth = 1.2, 1.1

// timetable divides a soak into intervals. The first one is the warm-up. A number of
// intervals after it is compared with as many at the end.
type timetable struct {
	begin               time.Time
	interval            time.Duration
	intervals, compared int
}

func newTimetable(begin time.Time, d time.Duration) timetable {
	interval := min(time.Minute, d/6)
	return timetable{begin, interval, int(d / interval), int(min(5*time.Minute, d/6) / interval)}
}

// window returns 0 for a time in the first intervals that are compared, 1 for one in the
// last, and -1 for others.
func (t timetable) window(at time.Time) int {
	switch i := int(at.Sub(t.begin) / t.interval); {
	case i >= 1 && i <= t.compared:
		return 0
	case i >= t.intervals-t.compared && i < t.intervals:
		return 1
	}
	return -1
}

// window is what was measured during the intervals that are compared.
type window struct {
	all   histogram
	kinds []histogram
	usage usage
	// rss is the largest resident memory in megabytes.
	rss float64
}

// report prints both windows and the promises, and returns an error if one is not kept.
func (s *soak) report() error {
	first, last := &s.windows[0], &s.windows[1]
	for i, x := range []*window{first, last} {
		fmt.Fprintf(s.w, "  %s %v: %d requests, p50 %.2f ms, p99 %.2f ms, RSS at most %.0f MB; %.1f %% of the CPU in use, %.1f %% by the server, %.1f %% stolen\n",
			[]string{"first", "last"}[i], time.Duration(s.times.compared)*s.times.interval, x.all.n, x.all.quantile(0.5), x.all.quantile(0.99), x.rss,
			100*x.usage.busy(), x.usage.percent(x.usage.server), x.usage.percent(x.usage.steal))
	}
	for i, q := range s.all {
		a, b := &first.kinds[i], &last.kinds[i]
		fmt.Fprintf(s.w, "    %s: %d and %d requests, p50 %.2f and %.2f ms, p99 %.2f and %.2f ms\n",
			q.name, a.n, b.n, a.quantile(0.5), b.quantile(0.5), a.quantile(0.99), b.quantile(0.99))
	}
	for _, text := range s.messages {
		fmt.Fprintf(s.w, "  error: %s\n", text)
	}
	broken := writePromises(s.w, judge(first, last, s.errors))
	if broken > 0 {
		return fmt.Errorf("%d of the promises were not kept", broken)
	}
	return nil
}

// promise is what a soak is to show, with its figures.
type promise struct {
	text string
	kept bool
}

// judge compares the last window with the first one.
func judge(first, last *window, failed int) []promise {
	a, b := first.all.quantile(0.99), last.all.quantile(0.99)
	return []promise{
		{fmt.Sprintf("p99 is %.2f ms at the end and %.2f ms at first, %+.0f %% (at most +20 %%)", b, a, 100*(b/a-1)), a > 0 && b > 0 && b <= p99Growth*a},
		{fmt.Sprintf("RSS is %.0f MB at the end and %.0f MB at first, %+.0f %% (at most +10 %%)", last.rss, first.rss, 100*(last.rss/first.rss-1)), last.rss <= memoryGrowth*first.rss},
		{fmt.Sprintf("%d errors (none)", failed), failed == 0},
	}
}

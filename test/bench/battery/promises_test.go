package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPromises checks which figures are judged, and how.
func TestPromises(t *testing.T) {
	few := &column{entities: 10_000, figures: []figure{
		{name: kindByName, unit: "ms", target: "1", p50: 0.2, p99: 3},
		{name: kindCount, unit: "ms", target: "100", p50: 1},
		{name: "orphans", unit: "ms", p50: 1},
	}}
	many := &column{entities: promisedEntities, figures: []figure{
		{name: kindByName, unit: "ms", target: "1", p50: 0.25, p99: 3},
		{name: kindCount, unit: "ms", target: "100", p50: 4},
		{name: "full-text search", unit: "ms", target: "30", p50: 1, p99: 31},
		{name: "resident memory", unit: "MB", target: "400", p50: 216},
		{name: "orphans", unit: "ms", p50: 9},
	}}
	for _, c := range []struct {
		reason, engine string
		columns        []*column
		want           []string
		broken         int
	}{
		{"Targets and growth are judged.", "SQLite", []*column{few, many}, []string{
			"  kept: by name: 0.25 ms in the median (at most 1)",
			"  kept: by name: with 750000 entities 1.25 times as long as with 10000 (at most 1.5)",
			"  kept: count by kind and lifecycle, after a change: 4.00 ms in the median (at most 100)",
			"  NOT KEPT: count by kind and lifecycle, after a change: with 750000 entities 4.00 times as long as with 10000 (at most 3.0)",
			"  NOT KEPT: full-text search: 31.00 ms at the 99th percentile (at most 30)",
			"  kept: resident memory: 216.00 MB in all (at most 400)",
		}, 2},
		{"Targets are for SQLite.", "PostgreSQL", []*column{few, many}, []string{
			"  kept: by name: with 750000 entities 1.25 times as long as with 10000 (at most 1.5)",
			"  NOT KEPT: count by kind and lifecycle, after a change: with 750000 entities 4.00 times as long as with 10000 (at most 3.0)",
		}, 1},
		{"One small catalog promises nothing.", "SQLite", []*column{few}, nil, 0},
	} {
		var b strings.Builder
		broken := writePromises(&b, promisesOf(c.engine, c.columns))
		var got []string
		if text := strings.TrimRight(b.String(), "\n"); text != "" {
			got = strings.Split(text, "\n")
		}
		if diff := cmp.Diff(c.want, got); diff != "" || broken != c.broken {
			t.Errorf("%s %d are broken, want %d:\n%s", c.reason, broken, c.broken, diff)
		}
	}
}

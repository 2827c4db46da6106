package ingest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// TestTimedOutScan checks that a scan that exceeds its timeout is counted,
// stored as a run and reported by health. All metrics of the contract exist from
// the start, with the value 0.
func TestTimedOutScan(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := newHarness(t, nil, func(o *Options) {
		o.Registry = registry
		o.Variants[0].Folders = []variant.Folder{{Name: "slow", Source: source.Func(func(ctx context.Context) (*xrd.Set, error) {
			<-ctx.Done()
			return &xrd.Set{}, ctx.Err()
		})}}
	})
	values := contract(t, registry)
	for _, name := range []string{
		"composer_ingestor_xrds_discovered_total", "composer_ingestor_entities_generated_total",
		"composer_ingestor_processing_duration_seconds", "composer_ingestor_errors_total",
	} {
		if n, there := values[name]; !there || n != 0 {
			t.Errorf("%s is %v at the start, exists: %v; want 0", name, n, there)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Scan(ctx, "composerIngestor/sources/slow", TriggerSchedule); err == nil {
		t.Error("scan returned no error, want a timeout")
	}
	if n := contract(t, registry)["composer_ingestor_errors_total"]; n != 1 {
		t.Errorf("%v errors were counted, want 1", n)
	}
	if n := counter(t, registry, "composer_ingestor_errors_total", "timeout"); n != 1 {
		t.Errorf("%v timeouts were counted, want 1", n)
	}
	runs, err := b.Runs(t.Context(), 10)
	if err != nil || len(runs) != 1 || runs[0].Source != "composerIngestor/sources/slow" || !strings.Contains(runs[0].Error, "deadline") {
		t.Errorf("runs are %+v (%v), want one with the deadline error", runs, err)
	}
	h, err := b.Health(t.Context(), 0)
	if err != nil || h.Sources[0].State != "timeout" {
		t.Errorf("health is %+v (%v), want the state timeout", h, err)
	}
}

// contract returns the sums of metrics by name.
func contract(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			out[f.GetName()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

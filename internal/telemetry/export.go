package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"

	"example.dev/ingestor/internal/text"
)

// state logs when something begins to fail, and when it works again.
type state struct {
	log     *slog.Logger
	of      string
	failing atomic.Bool
}

func (t *Telemetry) state(of string) *state { return &state{log: t.log, of: of} }

// longest limits how much of an error is logged: it may contain the collector's
// response.
const longest = 300

// note records the result of an attempt.
func (s *state) note(err error) {
	switch {
	case err != nil && s.failing.CompareAndSwap(false, true):
		s.log.Warn("telemetry export failed", "of", s.of, "error", text.Shorten(err.Error(), longest))
	case err == nil && s.failing.CompareAndSwap(true, false):
		s.log.Info("telemetry export recovered", "of", s.of)
	}
}

// The types below report failures to a state, and not to the SDK, which would write
// each to its global error handler.

type spanExporter struct {
	tracesdk.SpanExporter
	state *state
}

// ExportSpans sends spans.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []tracesdk.ReadOnlySpan) error {
	e.state.note(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

type metricExporter struct {
	metric.Exporter
	state *state
}

// Export sends metrics.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	e.state.note(e.Exporter.Export(ctx, m))
	return nil
}

// gatherer returns the metrics that could be collected, even if others could not.
type gatherer struct {
	prometheus.Gatherer
	state *state
}

// Gather collects the metrics.
func (g gatherer) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.Gatherer.Gather()
	g.state.note(err)
	return all, nil
}

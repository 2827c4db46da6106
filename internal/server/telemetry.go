package server

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/telemetry"
)

// openTelemetry prepares the export of traces and metrics, and returns the log whose
// records have the trace they belong to.
func (p *Portal) openTelemetry(ctx context.Context, opts Options, registry *prometheus.Registry) (*slog.Logger, error) {
	t, err := telemetry.New(ctx, telemetry.Options{
		Config: opts.Config.Backend.Telemetry, Version: opts.Build, Instance: p.replica, Registry: registry, Log: opts.Log,
	})
	if err != nil {
		return nil, err
	}
	p.telemetry = t
	return t.Log(opts.Log), nil
}

// requestTracer returns the tracer of requests, nil if they are not traced: then they do
// not even pay for attributes.
func (p *Portal) requestTracer() trace.Tracer {
	if !p.telemetry.On() {
		return nil
	}
	return p.telemetry.Tracer()
}

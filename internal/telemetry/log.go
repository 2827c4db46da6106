package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Log returns a logger that adds traceId to the records of a traced request or job. If
// no traces are sent, it returns log.
func (t *Telemetry) Log(log *slog.Logger) *slog.Logger {
	if !t.On() {
		return log
	}
	return slog.New(handler{log.Handler()})
}

// handler adds the trace of the context to records.
type handler struct{ slog.Handler }

// Handle writes a record.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		r = r.Clone()
		r.AddAttrs(slog.String("traceId", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns the handler with attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns the handler with a group.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

package jobs

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// longestError limits how many bytes of an error are in a span.
const longestError = 500

// startSpan starts the span of an attempt. A job begins a trace: its requester does
// not wait for it.
func (q *Queue) startSpan(ctx context.Context, j Job) (context.Context, trace.Span) {
	return q.opts.Tracer.Start(ctx, "job "+j.Task, trace.WithAttributes(
		attribute.String("job.task", j.Task),
		attribute.String("job.key", j.Key),
		attribute.String("job.trigger", j.Trigger),
		attribute.Int64("job.id", j.ID),
		attribute.Int("job.attempt", j.Attempt),
	))
}

// endSpan ends the span of an attempt, with the result that metrics count. The error is
// the one that is logged.
func endSpan(span trace.Span, err error, stopping bool) {
	result := "done"
	switch {
	case err == nil:
	case isLater(err):
		result = "postponed"
	case stopping:
		result = "stopped"
	default:
		result = "failed"
		why := err.Error()
		span.SetStatus(codes.Error, strings.ToValidUTF8(why[:min(len(why), longestError)], ""))
	}
	span.SetAttributes(attribute.String("job.result", result))
	span.End()
}

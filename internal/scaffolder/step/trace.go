package step

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/document/tree"
)

// traced runs a whole step in a span, and returns its outcome; that is Cancelled if ctx
// ended before the step did. The span has no input, output or error, which may contain
// secrets.
func (c *call) traced(ctx context.Context) (output *tree.Node, outcome string, err error) {
	within, span := c.r.tracer.Start(ctx, "step "+c.actionID(), trace.WithAttributes(
		attribute.String("scaffolder.action", c.actionID()),
		attribute.String("scaffolder.task", c.t.ID),
		attribute.String("scaffolder.step", c.id),
		attribute.Bool("scaffolder.dry_run", c.t.DryRun),
	))
	defer span.End()
	output, err = c.run(within)
	outcome = Completed
	switch {
	case errors.Is(err, errSkipped):
		outcome = Skipped
	case err != nil && ctx.Err() != nil:
		outcome = Cancelled
	case err != nil:
		outcome = Failed
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(attribute.String("scaffolder.outcome", outcome))
	return output, outcome, err
}

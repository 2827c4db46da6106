package scaffolder

import (
	"context"
	"errors"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// record records what became of a task, or of a dry run, which has no id. What
// the policy refuses is recorded where it does; what a cluster refuses is here.
func (s *Scaffolder) record(ctx context.Context, event, id, template string, err error) {
	if denied, ok := errors.AsType[*action.Denied](err); ok && denied.Cluster != "" {
		s.Audit.Record(ctx, audit.Event{
			Name: audit.PermissionRefused, Result: audit.Denied, Reason: denied.Message,
			Target: map[string]string{"task": id, "template": template, "cluster": denied.Cluster},
		})
		return
	}
	s.Audit.Done(ctx, audit.Event{Name: event, Target: map[string]string{"task": id, "template": template}}, unquoted(err))
}

// recordCancel records that a task was cancelled. One that was over stays as it
// is.
func (s *Scaffolder) recordCancel(ctx context.Context, t *taskstore.Task, err error) {
	if !over(t) {
		s.record(ctx, audit.TaskCancelled, t.ID, t.Template, err)
	}
}

// unquoted returns an error as clients are told of it. What is wrong with a
// Template or its values may quote them, and is told by its kind alone.
func unquoted(err error) error {
	_, invalid := errors.AsType[*task.Invalid](err)
	_, refused := errors.AsType[*task.Refused](err)
	if invalid || refused {
		return rest.Input("cannot run the Template")
	}
	if err == nil {
		return nil
	}
	return told(err)
}

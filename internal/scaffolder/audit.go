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

// record records the result for a task, or for a dry run, which has no id. The policy
// records its own refusals; refusals by a cluster are recorded here.
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

// recordCancel records that a task was cancelled. A task that was already over stays
// unchanged, and nothing is recorded.
func (s *Scaffolder) recordCancel(ctx context.Context, t *taskstore.Task, err error) {
	if !over(t) {
		s.record(ctx, audit.TaskCancelled, t.ID, t.Template, err)
	}
}

// unquoted returns an error in the form in which clients see it. An error about a
// Template or its values may quote them, and is reduced to its kind.
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

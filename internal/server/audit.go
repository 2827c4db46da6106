package server

import (
	"context"
	"maps"
	"net/http"

	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// recorder connects packages that do not import package audit to the audit log.
type recorder struct{ log *audit.Log }

// caller records a sign-in, a logout, or a token that was refused.
func (r *recorder) caller(ctx context.Context, e auth.AuditEvent) {
	actor := audit.ActorOf(e.Caller)
	out := audit.Event{Name: e.Name, Result: audit.Success, Actor: &actor, Target: map[string]string{"provider": e.Provider}}
	switch {
	case e.Err == nil:
	case e.Name == audit.Token:
		// The error does not quote the token.
		out.Result, out.Reason = audit.Denied, "token refused: "+e.Err.Error()
	case rest.FaultOf(e.Err).Status == http.StatusForbidden:
		out.Result, out.Reason = audit.Denied, audit.Reason(e.Err)
	default:
		out.Result, out.Reason = audit.Failure, audit.Reason(e.Err)
	}
	r.log.Record(ctx, out)
}

// refused records a permission that the policy refused.
func (r *recorder) refused(ctx context.Context, permission string, target map[string]string, reason string) {
	all := map[string]string{"permission": permission}
	maps.Copy(all, target)
	r.log.Record(ctx, audit.Event{Name: audit.PermissionRefused, Result: audit.Denied, Target: all, Reason: reason})
}

// tasks returns the hooks that record ended tasks and the effects of their actions.
func (r *recorder) tasks() task.Audit { return task.Audit{Ended: r.ended, Acted: r.acted} }

func (r *recorder) ended(of task.Moment, status string) {
	e := r.event(audit.TaskEnded, of)
	e.Target["status"], e.Result = status, audit.Success
	switch status {
	case taskstore.TaskFailed:
		// The reason is in the events of the task, which may quote its values.
		e.Result, e.Reason = audit.Failure, "task failed"
		if of.Step != "" {
			e.Reason = "step failed"
		}
	case taskstore.TaskCancelled:
		e.Result, e.Reason = audit.Failure, "task cancelled"
	}
	r.log.Record(context.Background(), e)
}

func (r *recorder) acted(of task.Moment, event string, target map[string]string, err error) {
	e := r.event(event, of)
	for key, value := range target {
		if _, taken := e.Target[key]; !taken {
			e.Target[key] = value
		}
	}
	e.Result = audit.Success
	if err != nil {
		e.Result, e.Reason = audit.Failure, err.Error()
	}
	r.log.Record(context.Background(), e)
}

// event returns an event of a task. Its actor is the user that the task acts for.
func (r *recorder) event(name string, of task.Moment) audit.Event {
	actor := audit.ActorOf(of.Caller)
	return audit.Event{Name: name, Actor: &actor, Target: map[string]string{
		"task": of.Task, "template": of.Template, "step": of.Step,
	}}
}

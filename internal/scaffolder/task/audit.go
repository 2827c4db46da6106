package task

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// Audit receives the task events that the audit log records. A nil function records
// nothing; both functions may be called concurrently.
type Audit struct {
	// Ended is called when a task ended with a status.
	Ended func(of Moment, status string)
	// Acted is called with what an action did, or with the error if it failed. Secrets
	// of the task are masked.
	Acted func(of Moment, event string, target map[string]string, err error)
}

// Moment is the task and the step in which something happened, and the caller the
// task acts for.
type Moment struct {
	Task, Template string
	// Caller is the caller the task acts for.
	Caller identity.Caller
	// Step is the id of the step; for a task that ended, of the step that failed. It is
	// empty if no particular step applies.
	Step string
}

func inTask(t *taskstore.Task, step string) Moment {
	out := Moment{Task: t.ID, Template: t.Template, Step: step}
	// A caller that cannot be read is recorded as Anonymous.
	if by, err := RequesterOf(t); err == nil {
		out.Caller = by.Caller
	}
	return out
}

// ended reports to the audit log that a task ended.
func (a Audit) ended(of Moment, status string) {
	if a.Ended != nil {
		a.Ended(of, status)
	}
}

// acted reports to the audit log, and to the history of the object, what an action did,
// with the secrets of the task masked.
func (r *run) acted(step, event string, target map[string]string, err error) {
	masked := map[string]string{}
	for key, value := range target {
		masked[key] = r.mask.Text(value)
	}
	if err == nil {
		r.remember(event, masked)
	}
	if r.tasks.opts.Audit.Acted == nil {
		return
	}
	if err != nil {
		err = errors.New(r.mask.Text(err.Error()))
	}
	r.tasks.opts.Audit.Acted(inTask(r.stored, r.mask.Text(step)), event, masked, err)
}

// historyFor is the timeout of writing the history of an object.
const historyFor = 5 * time.Second

// remember writes what an action did to an object in a cluster to the object's history. The
// task does not depend on it, so that a failure is only logged.
func (r *run) remember(event string, target map[string]string) {
	c := taskstore.ObjectChange{Task: r.stored.ID, Operation: target["operation"], Fields: strings.Fields(target["fields"])}
	switch {
	case event == action.EventClusterDelete:
		c.Operation = "delete"
	case event != action.EventClusterApply, c.Operation == "update" && len(c.Fields) == 0:
		return
	}
	group, _, ok := strings.Cut(target["apiVersion"], "/")
	if !ok {
		group = ""
	}
	o := taskstore.Object{Cluster: target["cluster"], Group: group, Kind: target["kind"], Namespace: target["namespace"], Name: target["name"]}
	ctx, cancel := context.WithTimeout(context.Background(), historyFor)
	defer cancel()
	if err := r.tasks.opts.Store.AddObjectChange(ctx, o, c); err != nil {
		r.tasks.log.Warn("cannot write the history of an object", "task", r.stored.ID, "kind", o.Kind, "name", o.Name, "error", err)
	}
}

// failedStep returns the id of the step in which a task failed, empty if no
// particular step failed.
func (r *run) failedStep(failure *step.Failure) string {
	if failure == nil || r.state == nil || r.state.Failure == nil {
		return ""
	}
	if steps := r.task.Steps(); r.state.failed < len(steps) {
		return r.mask.Text(steps[r.state.failed].Get("id").Scalar())
	}
	return ""
}

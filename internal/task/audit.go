package task

import (
	"errors"

	"example.dev/ingestor/internal/store"
	"example.dev/ingestor/internal/task/step"
)

// Audit is told what the audit log records of tasks. A nil function records
// nothing; both may be called at once.
type Audit struct {
	// Ended is told that a task ended with a status.
	Ended func(of Origin, status string)
	// Acted is told what an action did, or why it could not. Secrets of the task
	// are masked.
	Acted func(of Origin, event string, target map[string]string, err error)
}

// Origin is the task and the step that something happened in.
type Origin struct {
	Task, Template string
	// CreatedBy is the reference of the user who asked for the task; empty for a
	// service.
	CreatedBy string
	// Step is the id of the step, and the one that failed for a task that ended;
	// empty if it is none in particular.
	Step string
}

func origin(t *store.Task, step string) Origin {
	return Origin{Task: t.ID, Template: t.Template, CreatedBy: t.CreatedBy, Step: step}
}

// ended tells that a task ended.
func (a Audit) ended(of Origin, status string) {
	if a.Ended != nil {
		a.Ended(of, status)
	}
}

// acted tells what an action did, with the secrets of the task masked.
func (r *run) acted(step, event string, target map[string]string, err error) {
	if r.tasks.opts.Audit.Acted == nil {
		return
	}
	masked := map[string]string{}
	for key, value := range target {
		masked[key] = r.mask.Text(value)
	}
	if err != nil {
		err = errors.New(r.mask.Text(err.Error()))
	}
	r.tasks.opts.Audit.Acted(origin(r.stored, r.mask.Text(step)), event, masked, err)
}

// failedStep returns the id of the step that a task failed in; empty if it is
// none in particular.
func (r *run) failedStep(failure *step.Failure) string {
	if failure == nil || r.state == nil || r.state.Failure == nil {
		return ""
	}
	if steps := r.task.Steps(); r.state.failed < len(steps) {
		return r.mask.Text(steps[r.state.failed].Get("id").Scalar())
	}
	return ""
}

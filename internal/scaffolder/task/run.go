package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/scaffolder/mask"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/scaffolder/workspace"
)

const (
	// beatEvery is the interval of the heartbeat of a run.
	beatEvery = 2 * time.Second
	// mostRuns is how often a task may be begun without a step ending: the step itself
	// may crash the process.
	mostRuns = 25
	// mostFiles is how many bytes a run may write into its workspace, since tasks share
	// the disk.
	mostFiles = 1 << 30
)

// Reasons why a run ends early.
var (
	errCancelled = errors.New("task was cancelled")
	errLate      = errors.New("task timed out")
)

// run is one run of a task.
type run struct {
	tasks *Tasks
	// stopping ends when the process stops.
	stopping context.Context
	// ctx ends with the run; its cause is the reason.
	ctx     context.Context
	stop    context.CancelCauseFunc
	stored  *taskstore.Task
	task    *step.Task
	state   *state
	journal *journal
	mask    *mask.Mask
	// dir is the workspace, and made its file info at creation.
	dir  string
	made fs.FileInfo
}

// run runs a task for the queue. If it returns an error, the queue retries.
func (t *Tasks) run(ctx context.Context, j jobs.Job) error {
	caller, err := t.runsFor(ctx, j.Key)
	if err != nil {
		return err
	}
	if err := t.slots.take(caller, j.Key); err != nil {
		return err
	}
	defer func() {
		if next := t.slots.free(caller); next != "" && ctx.Err() == nil {
			t.enqueue(ctx, next, true)
		}
	}()
	stored, err := t.opts.Store.BeginTask(ctx, j.Key)
	if err != nil || stored == nil {
		return err
	}
	r := &run{tasks: t, stopping: ctx, stored: stored}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	r.journal = &journal{tasks: t, id: stored.ID, run: stored.Run, stopping: ctx, lost: func() { r.stop(taskstore.ErrTaskLost) }}
	t.mu.Lock()
	t.running[stored.ID] = r
	t.mu.Unlock()
	t.metrics.began()
	beating := make(chan struct{})
	go func(ctx context.Context) { defer close(beating); r.beat(ctx) }(r.ctx)
	defer func() {
		r.stop(nil)
		<-beating
		r.journal.close()
		t.mu.Lock()
		delete(t.running, stored.ID)
		t.mu.Unlock()
		t.metrics.ended()
	}()
	if stored.Cancel {
		r.stop(errCancelled)
	}
	return r.all()
}

// beat writes the heartbeat of the task until ctx, which is that of the run, ends. It
// runs while open replaces the field.
func (r *run) beat(ctx context.Context) {
	for missed := false; ; {
		wait(ctx, r.tasks.opts.beat)
		if ctx.Err() != nil {
			return
		}
		once, done := context.WithTimeout(ctx, writeWithin)
		cancel, err := r.tasks.opts.Store.BeatTask(once, r.stored.ID, r.stored.Run)
		done()
		switch {
		case errors.Is(err, taskstore.ErrTaskLost):
			r.stop(taskstore.ErrTaskLost)
		case err != nil && ctx.Err() == nil && !missed:
			missed = true
			r.tasks.log.Warn("task heartbeat failed", "task", r.stored.ID, "error", err)
		case cancel:
			r.stop(errCancelled)
		}
		missed = missed && err != nil
	}
}

// all runs the remaining steps of the task. It returns nil if there is nothing left
// to do.
func (r *run) all() error {
	spec, err := (wire.Decoder{}).Decode(r.stored.Spec)
	if err != nil {
		return r.fail("cannot parse spec of the task")
	}
	if err := r.open(spec); err != nil {
		return r.fail(err.Error())
	}
	defer r.cleanUp()
	late := r.tasks.opts.Timeout - r.tasks.opts.Now().Sub(r.state.began)
	timer := time.AfterFunc(max(late, 0), func() { r.stop(errLate) })
	defer timer.Stop()
	r.announce()
	return r.steps()
}

// open prepares what steps need.
func (r *run) open(spec *tree.Node) error {
	t := r.tasks
	by, err := RequesterOf(r.stored)
	if err != nil {
		return err
	}
	r.task = &step.Task{ID: r.stored.ID, Spec: spec, Log: r.journal.Log, Ended: t.metrics.step, Audit: r.acted}
	t.actFor(r.task, by)
	r.ctx = identity.With(r.ctx, by.Caller)
	if r.task.Secrets, err = t.openSecrets(r.stored); err != nil {
		return fmt.Errorf("cannot read secrets of the task: %w; check whether scaffolder.secretKey was changed", err)
	}
	r.mask = mask.New(r.task.Secrets)
	r.journal.mask = r.mask
	if r.state, err = t.openState(r.stored); err != nil {
		return fmt.Errorf("cannot continue the task: cannot read its state: %w; check whether scaffolder.secretKey was changed", err)
	}
	if r.state.Next > len(r.task.Steps()) {
		return errors.New("cannot continue the task: state belongs to another task")
	}
	if r.state.began.IsZero() || r.state.over {
		r.state.began = t.opts.Now()
	}
	r.journal.logged = r.state.logged
	if r.state.large {
		return errors.New("cannot continue the task: workspace of the previous run was too large to save; create the task again")
	}
	if r.state.lost {
		return errors.New("cannot continue the task: another program removed the workspace with the files of its steps; create the task again")
	}
	if r.state.hidden != "" {
		return fmt.Errorf("cannot continue the task: %s contained a secret, and secrets are removed when a task ends; create the task again", r.state.hidden)
	}
	if n := r.stored.Run - r.state.run; n > mostRuns {
		return fmt.Errorf("cannot continue the task: started %d times, and each time the process ended before a step did", n-1)
	}
	if r.dir, err = t.root.Make(r.stored.ID); err != nil {
		return err
	}
	if r.made, err = os.Lstat(r.dir); err != nil {
		return errRemoved
	}
	if err := workspace.Restore(r.dir, r.state.files); err != nil {
		r.cleanUp()
		return err
	}
	if r.task.Workspace, err = action.OpenWorkspace(r.dir); err != nil {
		r.cleanUp()
		return err
	}
	r.task.Workspace.Limit(mostFiles)
	return nil
}

// cleanUp removes the workspace.
func (r *run) cleanUp() {
	if r.task.Workspace != nil {
		_ = r.task.Workspace.Close() // No data is lost.
	}
	if err := r.tasks.root.Remove(r.stored.ID); err != nil {
		r.tasks.log.Warn("workspace removal failed", "task", r.stored.ID, "error", err)
	}
}

// announce logs that the task begins or resumes.
func (r *run) announce() {
	steps := r.task.Steps()
	if r.stored.Run == 1 || r.state.over {
		r.journal.Log(step.Event{Message: fmt.Sprintf("Starting up task with %d steps", len(steps))})
	}
	if r.stored.Run == 1 || r.state.Next >= len(steps) {
		return
	}
	at := steps[r.state.Next]
	message := "Resuming with step " + at.Get("name").Scalar()
	if !r.state.over {
		message = "The process that ran the task is gone: restarting step " + at.Get("name").Scalar() + " if it had started"
	}
	r.journal.Log(step.Event{Step: at.Get("id").Scalar(), Message: message})
	r.state.over = false
}

// steps runs the remaining steps and ends the task.
func (r *run) steps() error {
	for r.state.Next < len(r.task.Steps()) {
		if r.ctx.Err() != nil {
			return r.endInterrupted()
		}
		at, well := r.state.Next, r.state.Failure == nil
		events := r.tasks.runner.Step(r.ctx, r.task, &r.state.State)
		if events == nil {
			return r.endInterrupted()
		}
		if well && isGone(r.dir, r.made) {
			events = r.removed(events)
		}
		if well && r.state.Failure != nil {
			r.state.failed = at
		}
		if r.state.Next == len(r.task.Steps()) {
			return r.end(events)
		}
		if len(events) == 0 {
			continue
		}
		if err := r.advance(events); err != nil {
			return r.settle(err)
		}
	}
	return r.end(nil)
}

// errRemoved is the failure of a task whose workspace was removed. Its files cannot
// be recovered.
var errRemoved = errors.New("cannot continue the task: another program removed the workspace; " +
	"exclude the folder from cleanup programs, or set scaffolder.workingDirectory to another folder")

// isGone reports whether a workspace was removed by another program.
func isGone(dir string, made fs.FileInfo) bool {
	now, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, made)
}

// removed fails a task whose workspace was removed, and returns the events of its
// last step with that failure appended. A task without remaining steps needs no
// workspace and does not fail.
func (r *run) removed(events []step.Event) []step.Event {
	if r.state.Failure == nil && r.state.Next == len(r.task.Steps()) {
		return events
	}
	if r.state.Failure == nil {
		// The step has ended, but the files it left are lost.
		r.state.files, r.state.lost = nil, true
	}
	r.tasks.log.Error("task workspace removed by another program", "task", r.stored.ID)
	r.state.Failure = &step.Failure{Name: "Error", Message: errRemoved.Error()}
	return append(events, step.Event{Message: errRemoved.Error()})
}

// advance writes that a step ended, and the state that another process needs to take
// over.
func (r *run) advance(events []step.Event) error {
	s := r.state
	// The step has ended even if its files cannot be saved: a retry would run it twice.
	files, err := workspace.Save(r.dir)
	gone := isGone(r.dir, r.made)
	if err != nil && !gone && !errors.Is(err, workspace.ErrLarge) {
		r.tasks.log.Warn("task workspace save failed", "task", r.stored.ID, "error", err)
	}
	if err != nil && !gone && !s.large {
		r.journal.Log(step.Event{Message: "The workspace is too large to save, or cannot be read: if this process ends, the task fails"})
	}
	if !gone {
		s.files, s.large = files, err != nil
	}
	s.run, s.logged = r.stored.Run, r.journal.total()
	data, err := r.tasks.sealState(r.stored.ID, s)
	if err != nil {
		return err
	}
	return r.journal.commit(taskstore.TaskChange{Events: r.events(events), State: data})
}

// events returns the events of a step in the form in which they are stored.
func (r *run) events(events []step.Event) []taskstore.TaskEvent {
	var out []taskstore.TaskEvent
	for _, e := range events {
		e.Message = cut(r.mask.Text(e.Message))
		out = append(out, taskstore.TaskEvent{Type: taskstore.EventLog, Body: body(e), Created: r.tasks.opts.Now()})
	}
	return out
}

// end writes the result of the task, with the events of its last step.
func (r *run) end(events []step.Event) error {
	if f := r.state.Failure; f != nil {
		return r.finish(taskstore.TaskFailed, r.events(events), nil, f)
	}
	output := r.mask.Node(r.tasks.runner.Output(r.task, &r.state.State))
	return r.finish(taskstore.TaskCompleted, r.events(events), output, nil)
}

// fail ends the task with a failure that belongs to no step.
func (r *run) fail(message string) error {
	return r.finish(taskstore.TaskFailed, r.events([]step.Event{{Status: step.Failed, Message: message}}), nil,
		&step.Failure{Name: "Error", Message: message})
}

// endInterrupted ends a run whose context ended before its steps did.
func (r *run) endInterrupted() error {
	at := r.task.Steps()[r.state.Next]
	id, name := at.Get("id").Scalar(), at.Get("name").Scalar()
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, taskstore.ErrTaskLost):
		return nil
	case errors.Is(cause, errCancelled):
		told := step.Event{Step: id, Status: step.Cancelled, Message: "Step " + name + " has been cancelled."}
		return r.finish(taskstore.TaskCancelled, []taskstore.TaskEvent{{Type: taskstore.EventCancelled, Body: body(told)}}, nil, nil)
	case errors.Is(cause, errLate), errors.Is(cause, context.DeadlineExceeded):
		message := fmt.Sprintf("The task took longer than %s: step %s was stopped", r.tasks.opts.Timeout, name)
		return r.finish(taskstore.TaskFailed, r.events([]step.Event{{Step: id, Status: step.Failed, Message: message}}), nil,
			&step.Failure{Name: "Error", Message: message})
	}
	// The process stops; another process resumes the task.
	_ = r.journal.commit(taskstore.TaskChange{})
	return fmt.Errorf("cannot continue task %s in this process: %w", r.stored.ID, context.Cause(r.ctx))
}

// finish writes the end of the task. The state that a retry needs is kept.
func (r *run) finish(status string, events []taskstore.TaskEvent, output *tree.Node, failure *step.Failure) error {
	if failure != nil {
		failure = &step.Failure{Name: failure.Name, Message: cut(r.mask.Text(failure.Message))}
	}
	c := taskstore.TaskChange{Events: append(events, completion(status, output, failure)), Status: status}
	if status != taskstore.TaskCompleted && r.state != nil {
		again := *r.state
		if again.Failure != nil {
			again.Next, again.Failure = again.failed, nil
		}
		again.over, again.run, again.logged = true, r.stored.Run, r.journal.total()
		if len(r.task.Secrets) > 0 {
			again.forget(r.task.Steps(), r.mask)
		}
		var err error
		if c.State, err = r.tasks.sealState(r.stored.ID, &again); err != nil {
			return err
		}
	}
	if err := r.journal.commit(c); err != nil {
		return r.settle(err)
	}
	r.tasks.metrics.over(status)
	r.tasks.opts.Audit.ended(inTask(r.stored, r.failedStep(failure)), status)
	return nil
}

// settle ignores the loss of the task, since another run continues it. Any other
// error makes the queue retry.
func (r *run) settle(err error) error {
	if errors.Is(err, taskstore.ErrTaskLost) {
		return nil
	}
	return err
}

// completion returns the last event of a task.
func completion(status string, output *tree.Node, failure *step.Failure) taskstore.TaskEvent {
	if output == nil {
		output = tree.Obj()
	}
	fields := []field{
		{"message", quote("Run completed with status: " + status)},
		{"output", tree.AppendJSON(nil, output, "")},
	}
	if failure != nil {
		fields = append(fields, field{"error", object([]field{{"name", quote(failure.Name)}, {"message", quote(failure.Message)}})})
	}
	return taskstore.TaskEvent{Type: taskstore.EventCompletion, Body: object(fields)}
}

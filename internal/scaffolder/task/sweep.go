package task

import (
	"context"
	"maps"
	"time"

	"example.dev/ingestor/internal/jobs"
)

// The periodic tasks of the queue: jobSweep queues tasks that the queue has lost, such
// as one whose process died after storing it and before queueing it, and jobDrop removes
// old tasks. One replica runs each of them at a time.
const (
	jobSweep = "task-sweep"
	jobDrop  = "task-drop"
)

const (
	// sweepEvery is how often the sweep looks for tasks that no process runs, and idleFor
	// how long a task must have been idle.
	sweepEvery = 5 * time.Second
	idleFor    = 10 * time.Second
	// askAgain is how long a replica does not queue a task again, since the task may
	// wait in the queue for long.
	askAgain = 5 * time.Minute
	// dropEvery is how often old tasks are removed.
	dropEvery = time.Hour
	// touchEvery is how often the workspaces are touched: cleanup programs remove files
	// that were not used for days.
	touchEvery = time.Hour
)

// setDefaults sets the default intervals, unless a test has set shorter ones.
func (o *Options) setDefaults() {
	pick := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	pick(&o.beat, beatEvery)
	pick(&o.sweep, sweepEvery)
	pick(&o.idle, idleFor)
}

// register registers the tasks with the queue.
func (t *Tasks) register(q *jobs.Queue) {
	q.Handle(jobs.Task{Name: job, Workers: t.opts.Workers, Run: t.run, How: func(string) (jobs.How, bool) { return t.how(), true }})
	q.Handle(jobs.Task{Name: jobSweep, Run: func(ctx context.Context, _ jobs.Job) error { return t.requeue(ctx) }})
	q.Every(jobSweep, "", t.opts.sweep, jobs.How{Timeout: time.Minute})
	q.Handle(jobs.Task{Name: jobDrop, Run: func(ctx context.Context, _ jobs.Job) error { return t.drop(ctx) }})
	if t.opts.Keep > 0 {
		q.Every(jobDrop, "", dropEvery, jobs.How{})
	}
}

// Run keeps the workspaces of this process until ctx ends.
func (t *Tasks) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := t.root.Touch(t.opts.Now()); err != nil {
			t.log.Warn("workspace folder could not be touched", "error", err)
		}
		wait(ctx, touchEvery)
	}
}

// requeue queues the tasks that are not over and that no process runs.
func (t *Tasks) requeue(ctx context.Context) error {
	ids, err := t.opts.Store.IdleTasks(ctx, t.opts.idle)
	if err != nil {
		return err
	}
	for _, id := range t.unasked(ids) {
		t.enqueue(ctx, id, false)
	}
	return nil
}

// unasked returns the tasks that this process neither runs nor queued again within
// askAgain, and remembers that it queues them now.
func (t *Tasks) unasked(ids []string) (out []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.opts.Now()
	maps.DeleteFunc(t.requeued, func(_ string, at time.Time) bool { return now.Sub(at) >= askAgain })
	for _, id := range ids {
		if _, asked := t.requeued[id]; !asked && t.running[id] == nil {
			t.requeued[id] = now
			out = append(out, id)
		}
	}
	return out
}

// drop removes old tasks, unless tasks are kept forever: the job may be from a process
// with another configuration.
func (t *Tasks) drop(ctx context.Context) error {
	if t.opts.Keep <= 0 {
		return nil
	}
	n, err := t.opts.Store.DropTasks(ctx, t.opts.Now().Add(-t.opts.Keep))
	if n > 0 {
		t.log.Info("removed old tasks", "tasks", n)
	}
	return err
}

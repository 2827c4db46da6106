package task

import (
	"context"
	"time"
)

const (
	// sweepEvery is how often each process looks for tasks that no process runs, and
	// idleFor how long a task must have been idle.
	sweepEvery = 5 * time.Second
	idleFor    = 10 * time.Second
	// beats is how many heartbeats of a running task may be missing.
	beats = 3
	// askAgain is how long the sweep does not queue a task again, since the task may
	// wait in the queue for long.
	askAgain = 5 * time.Minute
	// dropEvery is how often old tasks are removed.
	dropEvery = time.Hour
	// touchEvery is how often the workspaces are touched: cleanup programs remove files
	// that were not used for days.
	touchEvery = time.Hour
)

// impatience sets the default intervals, unless a test has set shorter ones.
func (o *Options) impatience() {
	pick := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	pick(&o.beat, beatEvery)
	pick(&o.sweep, sweepEvery)
	pick(&o.idle, idleFor)
}

// Run maintains the tasks until ctx ends: it queues tasks again that the queue has
// lost, and removes old ones.
func (t *Tasks) Run(ctx context.Context) {
	asked := map[string]time.Time{}
	// Tasks of a process that is gone have already been idle for a while.
	idle := beats * t.opts.beat
	var dropped, touched time.Time
	for ctx.Err() == nil {
		t.revive(ctx, idle, asked)
		if now := t.opts.Now(); t.opts.Keep > 0 && now.Sub(dropped) >= dropEvery {
			dropped = now
			t.drop(ctx, now)
		}
		if now := t.opts.Now(); now.Sub(touched) >= touchEvery {
			touched = now
			if err := t.root.Touch(now); err != nil {
				t.log.Warn("cannot keep the folder for workspaces", "err", err)
			}
		}
		idle = t.opts.idle
		wait(ctx, t.opts.sweep)
	}
}

// revive queues the tasks that have been idle for at least the given duration.
func (t *Tasks) revive(ctx context.Context, idle time.Duration, asked map[string]time.Time) {
	ids, err := t.opts.Store.IdleTasks(ctx, idle)
	if err != nil {
		if ctx.Err() == nil {
			t.log.Warn("cannot look for tasks that nobody runs", "err", err)
		}
		return
	}
	now := t.opts.Now()
	for id, at := range asked {
		if now.Sub(at) >= askAgain {
			delete(asked, id)
		}
	}
	for _, id := range ids {
		if _, ok := asked[id]; ok || t.isRunning(id) || ctx.Err() != nil {
			continue
		}
		asked[id] = now
		t.enqueue(ctx, id, false)
	}
}

func (t *Tasks) drop(ctx context.Context, now time.Time) {
	n, err := t.opts.Store.DropTasks(ctx, now.Add(-t.opts.Keep))
	switch {
	case err != nil && ctx.Err() == nil:
		t.log.Warn("cannot remove old tasks", "err", err)
	case n > 0:
		t.log.Info("removed old tasks", "tasks", n)
	}
}

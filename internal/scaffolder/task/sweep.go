package task

import (
	"context"
	"time"
)

const (
	// sweepEvery is how often somebody looks for tasks that nobody runs, and
	// idleFor how long one must have been idle.
	sweepEvery = 5 * time.Second
	idleFor    = 10 * time.Second
	// beats is how many beats may be missing of a task that runs.
	beats = 3
	// askAgain is how long a task that was queued by a sweep is left alone: it
	// may wait for its turn for long.
	askAgain = 5 * time.Minute
	// dropEvery is how often old tasks are removed.
	dropEvery = time.Hour
	// touchEvery is how often the workspaces are made to look used: programs that
	// clean up remove what nobody has used for days.
	touchEvery = time.Hour
)

// impatience fills in how long things take, unless a test is impatient.
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

// Run looks after tasks until ctx ends: those that the queue has forgotten are
// queued again, and old ones removed.
func (t *Tasks) Run(ctx context.Context) {
	asked := map[string]time.Time{}
	// What a process left that is gone waits already.
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

// revive queues the tasks that have been idle for so long.
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

package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

const (
	// stopWithin is how long Run waits for tasks after it has canceled them.
	stopWithin = 20 * time.Second
	// busyPause is how long a job waits for one of the same task and key that still runs
	// here though it should not, and strangePause how long it waits for a process that
	// handles its task.
	busyPause    = time.Second
	strangePause = 10 * time.Second
)

// Run runs jobs until ctx ends, which also cancels the contexts of running tasks; it
// waits twenty seconds for them. Jobs that did not end wait for the next process that
// runs the queue. Run can be called once.
func (q *Queue) Run(ctx context.Context) error {
	first := false
	q.started.Do(func() { first = true })
	if !first {
		return errors.New("cannot run the queue twice; open it again")
	}
	for _, s := range q.schedule {
		if _, ok := q.tasks[s.work.Task]; !ok {
			q.mistakes = append(q.mistakes, fmt.Errorf("cannot schedule task %q for %q: the task is not handled", s.work.Task, s.work.Key))
			continue
		}
		q.engine.schedule(s.periodic(q.requests))
	}
	q.openLanes()
	if len(q.mistakes) > 0 {
		return errors.Join(q.mistakes...)
	}
	// River's context ends only when River is told to stop: if it ended with ctx, River
	// would count tasks that end with it as failed.
	own := context.WithoutCancel(ctx)
	if !q.start(ctx, own) {
		return nil
	}
	var beside sync.WaitGroup
	beside.Go(func() { q.enqueue(ctx) })
	beside.Go(func() { q.watchOver(ctx) })
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(own, stopWithin)
	defer cancel()
	err := q.engine.stop(stopping)
	beside.Wait()
	if err != nil {
		return fmt.Errorf("cannot stop the queue: jobs still run %s after they were canceled: %w", stopWithin, err)
	}
	return nil
}

// start starts River, and returns false if ctx ends before the database is available.
func (q *Queue) start(ctx, own context.Context) bool {
	quiet := newOnce(q.log, q.opts.Now)
	for ctx.Err() == nil {
		err := q.engine.start(own)
		if err == nil {
			return true
		}
		quiet.warn("queue could not be started, retrying", "error", err)
		wait(ctx, time.Second)
	}
	return false
}

// worker runs jobs for River.
type worker struct {
	river.WorkerDefaults[work]
	q *Queue
}

// Timeout disables River's timeout, since try sets one.
func (*worker) Timeout(*river.Job[work]) time.Duration { return -1 }

// NextRetry returns when a job is tried again.
func (k *worker) NextRetry(j *river.Job[work]) time.Time {
	return k.q.opts.Now().Add(k.q.current(j.Args).retryDelay())
}

// Work runs a job.
func (k *worker) Work(ctx context.Context, j *river.Job[work]) error {
	q, w := k.q, j.Args
	task, ok := q.tasks[w.Task]
	if !ok {
		q.log.Warn("job postponed: this process does not handle its task", "task", w.Task, "key", w.Key)
		return river.JobSnooze(strangePause)
	}
	if !q.begin(w) {
		return river.JobSnooze(busyPause)
	}
	w = q.current(w)
	job := Job{ID: j.ID, Task: w.Task, Key: w.Key, Attempt: j.Attempt + w.Tried, Attempts: w.Attempts,
		Trigger: w.Trigger, Args: w.Args}
	began := q.opts.Now()
	traced, span := q.startSpan(ctx, job)
	err := q.try(traced, task, job, w.timeout())
	endSpan(span, err, ctx.Err() != nil)
	took := q.opts.Now().Sub(began)
	// From here on the next job may start, which settle queues.
	q.end(w)
	switch {
	case err == nil:
		q.metrics.ran(w.Task, "done", took)
		q.news(w, "")
		q.settle(ctx, j, riverdriver.JobSetStateCompleted(j.ID, q.opts.Now(), nil))
		return nil
	case isLater(err):
		q.metrics.postponed(w.Task)
		return q.postpone(ctx, j, err)
	case ctx.Err() != nil:
		// River stops, which is not a failure of the task.
		q.metrics.ran(w.Task, "stopped", took)
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	q.metrics.ran(w.Task, "failed", took)
	last := job.Attempt >= job.Attempts
	level := slog.LevelDebug
	if q.news(w, err.Error()) {
		level = slog.LevelWarn
	}
	q.log.Log(traced, level, "job failed", "task", w.Task, "key", w.Key, "attempt", job.Attempt, "attempts", job.Attempts, "last", last, "error", err)
	if last {
		q.settle(ctx, j, riverdriver.JobSetStateDiscarded(j.ID, q.opts.Now(), attemptError(j.JobRow, began, err), nil))
		return nil
	}
	q.reach(ctx, w)
	q.wakeAfter(w.retryDelay(), j.Queue)
	return err
}

// current returns a job with the current settings of its task: it may have been stored
// with other ones.
func (q *Queue) current(w work) work {
	q.mu.Lock()
	task := q.tasks[w.Task]
	q.mu.Unlock()
	if task.How != nil {
		if how, ok := task.How(w.Key); ok {
			return w.now(how)
		}
	}
	return w
}

func isLater(err error) bool {
	_, ok := errors.AsType[*later](err)
	return ok
}

// postpone has River put a job back for a while, in its state before the attempt.
func (q *Queue) postpone(ctx context.Context, j *river.Job[work], why error) error {
	l, _ := errors.AsType[*later](why)
	q.reach(ctx, j.Args)
	if l.after <= soon {
		q.wakeAfter(l.after, j.Queue)
	}
	return river.JobSnooze(l.after)
}

// wakeAfter makes a replica look for a job when it is due, rather than at the next
// poll. River writes the states of jobs in batches, a moment later.
func (q *Queue) wakeAfter(d time.Duration, lane string) {
	const moment, late, within = 300 * time.Millisecond, 20 * time.Millisecond, 5 * time.Second
	time.AfterFunc(max(d, moment)+late, func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		_ = q.engine.wake(ctx, lane) // If it fails, the next poll finds the job.
	})
}

// news reports whether a job fails for another reason than the last time, which is
// worth a log line; a repeated failure is not. An empty reason is success.
func (q *Queue) news(w work, why string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failing[w.name()] == why {
		return false
	}
	if q.failing[w.name()] = why; why == "" {
		delete(q.failing, w.name())
	}
	return true
}

// begin reports whether a job may run here, and marks it as running.
func (q *Queue) begin(w work) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[w.name()] {
		return false
	}
	q.running[w.name()] = true
	return true
}

func (q *Queue) end(w work) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, w.name())
}

// try runs one attempt.
func (q *Queue) try(ctx context.Context, t Task, j Job, timeout time.Duration) (err error) {
	late := fmt.Errorf("timeout of %s exceeded: %w", timeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			q.log.ErrorContext(ctx, "job panicked", "task", j.Task, "key", j.Key, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if err = t.Run(ctx, j); err != nil && errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), late) {
		return late
	}
	return err
}

// settle finishes a job. If the database is unavailable, it retries: a job that is not
// finished blocks the next until it is taken over. If the retries fail, River tries to
// finish the job, and after that it is taken over.
func (q *Queue) settle(ctx context.Context, j *river.Job[work], params *riverdriver.JobSetStateIfRunningParams) {
	q.persist(ctx, j.Args, func(ctx context.Context) error { return q.engine.settle(ctx, j.JobRow, params) })
}

// reach waits until the database is available, since River does not wait long to store
// that a job failed.
func (q *Queue) reach(ctx context.Context, w work) {
	q.persist(ctx, w, q.db.PingContext)
}

// persist runs do, and retries until it succeeds, until the job can be taken over by
// another process, or until the queue stops.
func (q *Queue) persist(ctx context.Context, w work, do func(context.Context) error) {
	const longest = 2 * time.Second
	quiet := newOnce(q.log, q.opts.Now)
	until := q.opts.Now().Add(w.timeout() + q.opts.grace)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, longest) {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), busyTimeout)
		err := do(once)
		cancel()
		if err == nil {
			return
		}
		quiet.warn("result of a job could not be stored, retrying", "task", w.Task, "key", w.Key, "error", err)
		if ctx.Err() != nil || q.opts.Now().After(until) {
			return
		}
		wait(ctx, pause)
	}
}

// These types must implement River's interfaces.
var (
	_ river.Worker[work]     = (*worker)(nil)
	_ river.PeriodicSchedule = schedule{}
	_ rivertype.JobArgs      = work{}
)

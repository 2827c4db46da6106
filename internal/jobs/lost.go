package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	// grace is how long after its timeout a task may take to return.
	grace = 15 * time.Second
	// absence is how long a process must have had no session to count as gone. A process
	// that only lost its connections, perhaps together with all others, has reconnected by
	// then, since it polls for jobs all the time.
	absence = 5 * time.Second
	// look is the interval of checks for overdue jobs, for processes that are gone, and
	// for a leader that is gone.
	look = 2 * time.Second
	// mostLost is how often a job is started again after its process was killed: the job
	// itself may be what kills it.
	mostLost = 5
)

// errLost is the error of a job whose process is gone.
var errLost = errors.New("it did not end in time: the process that ran it is gone or does not answer")

// watchOver periodically takes over jobs that other processes did not finish.
func (q *Queue) watchOver(ctx context.Context) {
	quiet := newOnce(q.log, q.opts.Now)
	unseen := map[string]time.Time{}
	for ctx.Err() == nil {
		err := q.takeOver(ctx, q.dialect.overdue, q.opts.grace.Seconds())
		if err := errors.Join(err, q.inherit(ctx, unseen)); err != nil && ctx.Err() == nil {
			quiet.warn("cannot look for tasks whose process is gone", "err", err)
		}
		if err := q.depose(ctx); err != nil && ctx.Err() == nil {
			quiet.warn("cannot look for a leader that is gone", "err", err)
		}
		wait(ctx, q.opts.look)
	}
}

// inherit takes over the jobs of processes that are gone. It records in unseen since
// when a process that runs jobs has had no session: one missing session says little,
// since connections break and are reopened.
func (q *Queue) inherit(ctx context.Context, unseen map[string]time.Time) error {
	if q.dialect.absent == "" {
		return nil
	}
	absent, err := q.absent(ctx)
	if err != nil {
		// While the database is unavailable, no process can be seen.
		clear(unseen)
		return err
	}
	maps.DeleteFunc(unseen, func(name string, _ time.Time) bool { return !slices.Contains(absent, name) })
	now := q.opts.Now()
	for _, name := range absent {
		since, ok := unseen[name]
		if !ok {
			unseen[name] = now
			continue
		}
		if now.Sub(since) < q.opts.absence {
			continue
		}
		if err := q.takeOver(ctx, q.dialect.orphan, name, sessions); err != nil {
			return err
		}
	}
	return nil
}

// absent returns the names of processes that run jobs and have no session.
func (q *Queue) absent(ctx context.Context) ([]string, error) {
	rows, err := q.db.QueryContext(ctx, q.dialect.absent, sessions+q.id, sessions)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// depose resigns for a leader whose process is gone. River would wait until its term
// ends, for twenty seconds, in which no scheduled jobs are queued. A process that was
// only disconnected for a moment takes part in the next election.
func (q *Queue) depose(ctx context.Context) error {
	if q.dialect.gone == "" {
		return nil
	}
	var leader string
	var elected time.Time
	err := q.db.QueryRowContext(ctx, q.dialect.gone, sessions+q.id, sessions).Scan(&leader, &elected)
	if isNothing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return q.engine.resign(ctx, leader, elected)
}

// takeOver replaces all running jobs that query finds with new ones.
func (q *Queue) takeOver(ctx context.Context, query string, args ...any) error {
	for {
		w, err := q.engine.takeOver(ctx, query, args...)
		if err != nil || w == nil {
			return err
		}
		if w.Lost > mostLost {
			q.abandoned(w)
			continue
		}
		q.log.Warn("beginning a task again: its process is gone", "task", w.Task, "key", w.Key)
	}
}

// abandoned logs that a job is not started again because its process ended too often.
func (q *Queue) abandoned(w *work) {
	if w.Requeued {
		q.log.Info("job ended: its process ended too often; it will be queued again", "task", w.Task, "key", w.Key, "times", w.Lost)
		return
	}
	q.log.Error("job ended: its process ended too often; it will not be queued again", "task", w.Task, "key", w.Key, "times", w.Lost)
}

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"
)

// answer is how long Add waits for the database before it fails.
const answer = 10 * time.Second

// tries is how often an operation is tried that may fail because of a connection that
// was lost unnoticed.
const tries = 3

// Handle registers a task.
func (q *Queue) Handle(t Task) {
	if t.Name == "" || t.Run == nil {
		q.mistakes = append(q.mistakes, fmt.Errorf("cannot handle task %q: it needs a name and a function", t.Name))
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks[t.Name] = t
}

// Every creates a job of task and key when Run begins, and then at every interval; all
// replicas together create one. If the previous job still waits or runs, none is
// created. A second schedule of the same task and key replaces the first.
func (q *Queue) Every(task, key string, every time.Duration, how How) {
	if how.Trigger == "" {
		how.Trigger = Scheduled
	}
	if every <= 0 {
		q.mistakes = append(q.mistakes, fmt.Errorf("cannot schedule task %q for %q: every %s is not possible", task, key, every))
		return
	}
	how.Requeued = true
	w := newWork(task, key, how)
	q.schedule[w.name()] = schedule{work: w, every: every, now: q.opts.Now}
}

// Add queues a job. If one waits already, Add queues no other and returns false. A
// running job is not sufficient, since it may have read its input before the caller's
// change: another job is queued that waits until that one has ended.
func (q *Queue) Add(ctx context.Context, task, key string, how How) (added bool, err error) {
	if len(how.Args) > 0 && !json.Valid(how.Args) {
		return false, fmt.Errorf("cannot queue task %q for %q: its arguments are not JSON", task, key)
	}
	w := newWork(task, key, how)
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	for n := 1; ; n++ {
		added, err = q.add(ctx, w, how)
		if err == nil || n == tries || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return false, fmt.Errorf("cannot queue task %q for %q: %w", task, key, err)
	}
	return added, nil
}

func (q *Queue) add(ctx context.Context, w work, how How) (added bool, err error) {
	lane := q.lane(w.Task)
	opts := insertOpts(lane)
	for {
		if how.After > 0 {
			opts.ScheduledAt = q.opts.Now().Add(how.After)
		}
		res, err := q.engine.insert(ctx, w, opts)
		if err != nil {
			return false, err
		}
		if !res.UniqueSkippedAsDuplicate {
			if how.After > 0 && how.After <= soon {
				q.wakeAfter(how.After, lane)
			}
			return true, nil
		}
		if res.Job.State != rivertype.JobStateRunning {
			if how.Hurry {
				return false, q.engine.retry(ctx, res.Job.ID)
			}
			return false, nil
		}
		if _, ok := again(res.Job); ok {
			return false, nil
		}
		if marked, err := q.mark(ctx, res.Job, w); err != nil || marked {
			return marked, err
		}
		// The running job ended in the meantime, so that insert can succeed.
	}
}

// mark requests another run of row. It returns false if that attempt is over.
func (q *Queue) mark(ctx context.Context, row *rivertype.JobRow, w work) (bool, error) {
	text, err := json.Marshal(mark{Attempt: row.Attempt, Snoozes: snoozes(row), Work: w})
	if err != nil {
		return false, err
	}
	after, err := q.engine.annotate(ctx, row.ID, string(text))
	if errors.Is(err, rivertype.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return after.State == rivertype.JobStateRunning && after.Attempt == row.Attempt, nil
}

// Waiting returns how many jobs of each task wait: for a worker, for their scheduled
// time, or for their next attempt.
func (q *Queue) Waiting(ctx context.Context) (map[string]int, error) {
	waiting := map[string]int{}
	err := q.count(ctx, func(task, state string, n int) {
		if state != string(rivertype.JobStateRunning) {
			waiting[task] += n
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cannot count what waits in the queue: %w", err)
	}
	return waiting, nil
}

// count counts the jobs that have not ended. River's API lists jobs, but cannot count
// them.
func (q *Queue) count(ctx context.Context, each func(task, state string, n int)) error {
	rows, err := q.db.QueryContext(ctx, `SELECT args ->> 'task', CAST(state AS text), count(*) FROM river_job
		WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled') GROUP BY 1, 2`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var task, state string
		var n int
		if err := rows.Scan(&task, &state, &n); err != nil {
			return err
		}
		each(task, state, n)
	}
	return rows.Err()
}

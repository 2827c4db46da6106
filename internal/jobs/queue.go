package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"
)

// dialect is the SQL that differs between the engines.
type dialect struct {
	// again writes the mark $2 into the running job $1, if its attempt is still $3.
	again string
	// overdue finds a job that has exceeded its timeout by $1 seconds, by the clock of the
	// database: it is the only clock that all replicas share.
	overdue string
	// isOverdue, isWaiting and isFailed are conditions: that a job has exceeded its
	// timeout by $1 seconds; that it was due before $1, in seconds since 1970, and has not
	// started; and that it failed permanently after $1.
	isOverdue, isWaiting, isFailed string
	// renew sets the arguments $2 and the maximum number of attempts $3 of the running job
	// $1.
	renew string
	// gone finds a leader without a session that is named $2 and its id, provided that the
	// caller's own session, $1, is visible. absent finds processes that run jobs and have
	// no session, and orphan a job of such a process $1. They are empty for SQLite, which
	// one process uses alone.
	gone, absent, orphan string
}

// These are parts of PostgreSQL queries: the names of all sessions, and the process
// that runs a job.
const (
	withNames = "WITH names AS (SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database()) "
	runner    = "attempted_by[array_length(attempted_by, 1)]"
)

// These are isOverdue of both dialects.
const (
	sqliteOverdue   = "state = 'running' AND unixepoch(attempted_at, 'subsec') + (args ->> 'timeout') + $1 < unixepoch('now', 'subsec')"
	postgresOverdue = "state = 'running' AND attempted_at + make_interval(secs => (args ->> 'timeout')::float8 + $1::float8) < now()"
)

var (
	sqliteDialect = dialect{
		again: `UPDATE river_job SET metadata = jsonb_set(metadata, '$.again', jsonb($2))
			WHERE id = $1 AND state = 'running' AND attempt = $3`,
		overdue:   "SELECT id FROM river_job WHERE " + sqliteOverdue + " ORDER BY id LIMIT 1",
		isOverdue: sqliteOverdue,
		isWaiting: "state IN ('available', 'retryable', 'scheduled') AND unixepoch(scheduled_at, 'subsec') < $1",
		isFailed:  "state = 'discarded' AND unixepoch(finalized_at, 'subsec') > $1",
		renew:     `UPDATE river_job SET args = jsonb($2), max_attempts = $3 WHERE id = $1 AND state = 'running'`,
	}
	postgresDialect = dialect{
		again: `UPDATE river_job SET metadata = jsonb_set(metadata, '{again}', $2::text::jsonb)
			WHERE id = $1 AND state = 'running' AND attempt = $3`,
		overdue:   "SELECT id FROM river_job WHERE " + postgresOverdue + " ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
		isOverdue: postgresOverdue,
		isWaiting: "state IN ('available', 'retryable', 'scheduled') AND scheduled_at < to_timestamp($1::float8)",
		isFailed:  "state = 'discarded' AND finalized_at > to_timestamp($1::float8)",
		renew:     `UPDATE river_job SET args = $2::text::jsonb, max_attempts = $3 WHERE id = $1 AND state = 'running'`,
		gone: withNames + `SELECT leader_id, elected_at FROM river_leader
			WHERE $1 IN (SELECT name FROM names) AND $2 || leader_id NOT IN (SELECT name FROM names)`,
		absent: withNames + `SELECT DISTINCT ` + runner + ` FROM river_job
			WHERE state = 'running' AND $1 IN (SELECT name FROM names) AND $2 || ` + runner + ` NOT IN (SELECT name FROM names)`,
		orphan: withNames + `SELECT id FROM river_job
			WHERE state = 'running' AND ` + runner + ` = $1::text AND $2 || $1::text NOT IN (SELECT name FROM names)
			ORDER BY id LIMIT 1 FOR UPDATE OF river_job SKIP LOCKED`,
	}
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
	opts := insertOpts(w, lane)
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

// mark requests another run of row. It returns false if row does not run any more.
func (q *Queue) mark(ctx context.Context, row *rivertype.JobRow, w work) (bool, error) {
	text, err := json.Marshal(map[string]any{"attempt": row.Attempt, "snoozes": snoozes(row), "work": w})
	if err != nil {
		return false, err
	}
	res, err := q.db.ExecContext(ctx, q.dialect.again, row.ID, string(text), row.Attempt)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
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

// count counts the jobs that have not ended.
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

func isNothing(err error) bool { return errors.Is(err, sql.ErrNoRows) }

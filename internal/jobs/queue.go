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

// dialect is what the engines say differently.
type dialect struct {
	// again writes the mark $2 beside the running job $1, if it still is in its
	// attempt $3.
	again string
	// overdue finds a job that runs for $1 seconds longer than it may, by the
	// clock of the database: it is the one clock that all replicas share.
	overdue string
	// isOverdue, isWaiting and isFailed are conditions: that a job runs for $1
	// seconds longer than it may, that its time came before $1, in seconds since
	// 1970, and it was not begun, and that it was given up after $1.
	isOverdue, isWaiting, isFailed string
	// renew sets the arguments $2 and the maximum number of attempts $3 of the
	// running job $1.
	renew string
	// gone finds a leader that has no session $2 and its name in the database,
	// if sessions are seen at all, which that of the caller, $1, shows. absent
	// finds whoever runs jobs and has none, and orphan a job of $1 that is so.
	// They are empty where one process has the database for itself.
	gone, absent, orphan string
}

// These are parts of what PostgreSQL is asked: the names of all sessions, and who
// runs a job.
const (
	withNames = "WITH names AS (SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database()) "
	runner    = "attempted_by[array_length(attempted_by, 1)]"
)

// These are isOverdue of both.
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

// answer is how long the database may take until somebody who asks for a job is
// told that it does not answer.
const answer = 10 * time.Second

// tries is how often something is tried that a connection may break that was
// lost without anybody noticing.
const tries = 3

// Handle makes t known.
func (q *Queue) Handle(t Task) {
	if t.Name == "" || t.Run == nil {
		q.mistakes = append(q.mistakes, fmt.Errorf("cannot handle task %q: it needs a name and a function", t.Name))
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks[t.Name] = t
}

// Every makes a job of task and key as soon as Run begins, and once every while
// from then on; replicas make one together. If the last one still waits or
// runs, none is made. Of two schedules of the same task and key the second
// counts.
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

// Add asks for a job. One that waits already is enough, and then added is
// false. One that runs is not, since it may have looked before the caller's
// reason was there: another is made that waits until that one has ended.
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
		// It ended in the meantime, so there is room.
	}
}

// mark says that row shall be done once more. It returns false if it does not
// run any more.
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

// Waiting returns how many jobs of each task wait: for their turn, for their
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

// count counts the jobs that are not over.
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

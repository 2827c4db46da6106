package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"

	"example.dev/ingestor/internal/db"
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
var errLost = errors.New("job did not end in time: the process that ran it is gone or does not respond")

// watchOver periodically takes over jobs that other processes did not finish, and
// replaces a leader whose process is gone. River can only rescue jobs after a fixed
// time that must exceed every timeout, and only by the clock of its machine.
func (q *Queue) watchOver(ctx context.Context) {
	quiet := newOnce(q.log, q.opts.Now)
	lost := &lostProcesses{since: map[string]time.Time{}}
	for ctx.Err() == nil {
		if err := q.takeOverLost(ctx, lost); err != nil && ctx.Err() == nil {
			quiet.warn("search for jobs of lost processes failed, retrying", "error", err)
		}
		wait(ctx, q.opts.look)
	}
}

// takeOverLost takes over jobs that have exceeded their timeout, and jobs and the
// leadership of processes that are gone.
func (q *Queue) takeOverLost(ctx context.Context, lost *lostProcesses) error {
	running, err := q.engine.list(ctx, rivertype.JobStateRunning)
	if err != nil {
		// While the database is unavailable, no process can be seen.
		lost.forget()
		return err
	}
	now, err := q.databaseTime(ctx)
	if err != nil {
		return err
	}
	running, err = q.takeOver(ctx, running, func(row *rivertype.JobRow) bool { return q.overdue(row, now) })
	if err != nil || q.opts.Client == db.SQLite {
		return err
	}
	connected, err := q.connected(ctx)
	if err != nil {
		lost.forget()
		return err
	}
	gone := lost.update(running, connected, q.opts.Now(), q.opts.absence)
	if _, err := q.takeOver(ctx, running, func(row *rivertype.JobRow) bool { return gone[processOf(row)] }); err != nil {
		return err
	}
	return q.depose(ctx, connected)
}

// overdue reports whether a job has exceeded its timeout and the grace period. The
// clock of the database is the only one that all replicas share.
func (q *Queue) overdue(row *rivertype.JobRow, now time.Time) bool {
	var w work
	if row.AttemptedAt == nil || json.Unmarshal(row.EncodedArgs, &w) != nil {
		return false
	}
	return row.AttemptedAt.Add(q.current(w).timeout() + q.opts.grace).Before(now)
}

// processOf returns the id of the process that runs a job.
func processOf(row *rivertype.JobRow) string {
	if len(row.AttemptedBy) == 0 {
		return ""
	}
	return row.AttemptedBy[len(row.AttemptedBy)-1]
}

// lostProcesses are the processes that run jobs and have no session in the database,
// since the times given: one missing session says little, since connections break and
// are reopened.
type lostProcesses struct{ since map[string]time.Time }

func (l *lostProcesses) forget() { clear(l.since) }

// update returns the processes that have had no session for at least absence.
func (l *lostProcesses) update(running []*rivertype.JobRow, connected map[string]bool, now time.Time, absence time.Duration) map[string]bool {
	before := l.since
	l.since = map[string]time.Time{}
	gone := map[string]bool{}
	for _, row := range running {
		id := processOf(row)
		if id == "" || connected[id] {
			continue
		}
		since, ok := before[id]
		if !ok {
			since = now
		}
		l.since[id] = since
		gone[id] = ok && now.Sub(since) >= absence
	}
	return gone
}

// connected returns the processes that have a session in PostgreSQL. Each process names
// its sessions after the id of its queue.
func (q *Queue) connected(ctx context.Context) (map[string]bool, error) {
	rows, err := q.db.QueryContext(ctx, "SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = current_database()")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	ids := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if id, ok := strings.CutPrefix(name, sessions); ok {
			ids[id] = true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if !ids[q.id] {
		return nil, errors.New("the sessions of this process are not visible in pg_stat_activity")
	}
	return ids, nil
}

// databaseTime returns the time of the database's clock.
func (q *Queue) databaseTime(ctx context.Context) (now time.Time, err error) {
	if q.opts.Client == db.SQLite {
		return q.opts.Now(), nil
	}
	err = q.db.QueryRowContext(ctx, "SELECT now()").Scan(&now)
	return now, err
}

// depose resigns for a leader whose process is gone. River would wait until its term
// ends, for twenty seconds, in which no scheduled jobs are queued. A process that was
// only disconnected for a moment takes part in the next election.
func (q *Queue) depose(ctx context.Context, connected map[string]bool) error {
	leader, err := q.engine.leader(ctx)
	if err != nil || leader == nil || connected[leader.LeaderID] {
		return err
	}
	return q.engine.resign(ctx, leader)
}

// takeOver replaces those jobs with new ones that is returns true for, and returns the
// others.
func (q *Queue) takeOver(ctx context.Context, rows []*rivertype.JobRow, is func(*rivertype.JobRow) bool) (left []*rivertype.JobRow, err error) {
	for _, row := range rows {
		if !is(row) {
			left = append(left, row)
			continue
		}
		w, err := q.engine.takeOver(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case w == nil:
		case w.Lost > mostLost:
			q.abandoned(w)
		default:
			q.log.Warn("job restarted: its process is gone", "task", w.Task, "key", w.Key)
		}
	}
	return left, nil
}

// abandoned logs that a job is not started again because its process ended too often.
func (q *Queue) abandoned(w *work) {
	if w.Requeued {
		q.log.Info("job ended: its process ended too often; it will be queued again", "task", w.Task, "key", w.Key, "times", w.Lost)
		return
	}
	q.log.Error("job ended: its process ended too often; it will not be queued again", "task", w.Task, "key", w.Key, "times", w.Lost)
}

package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"example.dev/ingestor/internal/db"
)

// Condition is the state of a queue, according to its database.
type Condition struct {
	// Version is that of its tables, zero if there are none, and Known the one that this
	// program supports. The counts below are only set if both are equal.
	Version, Known int
	// Damage is what is wrong with the file of SQLite.
	Damage []string
	// Overdue, Waiting and Failed count the jobs of each task that exceed their timeout,
	// that have been due for longer than waitsLong, and that failed permanently in the
	// last day; of jobs in the same state, only the first 10,000 are read.
	Overdue, Waiting, Failed map[string]int
}

// waitsLong is for how long a job must be due, but not started, to be counted as
// waiting.
const waitsLong = 5 * time.Minute

// Inspect reads the state of a queue, also while a server runs, and writes nothing. The
// error is fs.ErrNotExist if SQLite's file is missing.
func Inspect(ctx context.Context, opts Options) (Condition, error) {
	doing := "inspect the queue"
	if opts.Client == db.SQLite {
		doing += " " + opts.Path
	}
	c, err := inspect(ctx, opts)
	if err != nil {
		return Condition{}, fmt.Errorf("cannot %s: %w", doing, err)
	}
	return c, nil
}

func inspect(ctx context.Context, opts Options) (c Condition, err error) {
	e, closing, err := c.open(ctx, opts)
	if err != nil {
		return c, err
	}
	defer closing()
	if c.Version, c.Known, err = e.versions(ctx); err != nil || c.Version != c.Known {
		return c, err
	}
	now := opts.Now()
	for _, q := range []struct {
		into   *map[string]int
		states []rivertype.JobState
		counts func(*rivertype.JobRow, work) bool
	}{
		{&c.Overdue, []rivertype.JobState{rivertype.JobStateRunning}, func(row *rivertype.JobRow, w work) bool {
			return row.AttemptedAt != nil && row.AttemptedAt.Add(w.timeout()+grace).Before(now)
		}},
		{&c.Waiting, []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStateRetryable, rivertype.JobStateScheduled}, func(row *rivertype.JobRow, _ work) bool {
			return row.ScheduledAt.Before(now.Add(-waitsLong))
		}},
		{&c.Failed, []rivertype.JobState{rivertype.JobStateDiscarded}, func(row *rivertype.JobRow, w work) bool {
			return row.FinalizedAt != nil && row.FinalizedAt.After(now.Add(-failedFor)) && !isReplaced(row, w)
		}},
	} {
		rows, err := e.list(ctx, q.states...)
		if err != nil {
			return c, err
		}
		*q.into = map[string]int{}
		for _, row := range rows {
			var w work
			if err := json.Unmarshal(row.EncodedArgs, &w); err != nil {
				return c, fmt.Errorf("cannot read job %d: %w", row.ID, err)
			}
			if q.counts(row, w) {
				(*q.into)[w.Task]++
			}
		}
	}
	return c, nil
}

// isReplaced reports whether a job was discarded because its process was gone, and
// replaced with a new one.
func isReplaced(row *rivertype.JobRow, w work) bool {
	n := len(row.Errors)
	return n > 0 && row.Errors[n-1].Error == errLost.Error() && w.Lost < mostLost
}

// open opens the database read-only, and checks the file of SQLite.
func (c *Condition) open(ctx context.Context, opts Options) (e engine, closing func(), err error) {
	if opts.Client == db.SQLite {
		queue, err := db.ReadSQLite(opts.Path)
		if err != nil {
			return nil, nil, err
		}
		closing = func() { _ = queue.Close() } // The database was only read.
		if c.Damage, err = db.CheckSQLite(ctx, queue); err == nil {
			e, err = newEngine(riversqlite.New(queue), &river.Config{}, opts.Now, nil)
		}
		if err != nil {
			closing()
		}
		return e, closing, err
	}
	config, err := poolConfig(opts.URL)
	if err != nil {
		return nil, nil, err
	}
	config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	e, err = newEngine(postgresDriver{riverpgxv5.New(pool)}, &river.Config{}, opts.Now, nil)
	return e, pool.Close, err
}

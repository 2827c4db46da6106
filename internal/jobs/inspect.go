package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

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
	// last day.
	Overdue, Waiting, Failed map[string]int
}

// waitsLong is for how long a job must be due, but not started, to be counted as
// waiting.
const waitsLong = 5 * time.Minute

// Inspect reads the state of a queue, also while a server runs, and writes nothing. The
// error is fs.ErrNotExist if SQLite's file is missing.
func Inspect(ctx context.Context, opts Options) (Condition, error) {
	doing := "look at the queue"
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
	queue, dialect, err := openRead(opts)
	if err != nil {
		return c, err
	}
	defer func() { _ = queue.Close() }() // The database was only read.
	m, err := rivermigrate.New(riversqlite.New(nil), nil)
	if err != nil {
		return c, err
	}
	for _, v := range m.AllVersions() {
		c.Known = max(c.Known, v.Version)
	}
	err = queue.QueryRowContext(ctx, versionOfTables).Scan(&c.Version)
	if err != nil && !isNoTable(err) {
		return c, err
	}
	if opts.Client == db.SQLite {
		if c.Damage, err = db.CheckSQLite(ctx, queue); err != nil {
			return c, err
		}
	}
	if c.Version != c.Known {
		return c, nil
	}
	now := opts.Now()
	for _, q := range []struct {
		into  *map[string]int
		where string
		arg   float64
	}{
		{&c.Overdue, dialect.isOverdue, grace.Seconds()},
		{&c.Waiting, dialect.isWaiting, float64(now.Add(-waitsLong).Unix())},
		{&c.Failed, dialect.isFailed, float64(now.Add(-failedFor).Unix())},
	} {
		if *q.into, err = countJobs(ctx, queue, q.where, q.arg); err != nil {
			return c, err
		}
	}
	return c, nil
}

// openRead opens the database read-only.
func openRead(opts Options) (*sql.DB, dialect, error) {
	if opts.Client == db.SQLite {
		queue, err := db.ReadSQLite(opts.Path)
		return queue, sqliteDialect, err
	}
	config, err := pgx.ParseConfig(opts.URL)
	if err != nil {
		// The original error may contain the password.
		return nil, dialect{}, errors.New("its connection string cannot be read; write it as postgres://user:password@host:port/database")
	}
	if t := &config.ConnectTimeout; *t == 0 || *t > connectTimeout {
		*t = connectTimeout
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	return stdlib.OpenDB(*config), postgresDialect, nil
}

// countJobs counts the jobs of each task that match a condition.
func countJobs(ctx context.Context, db *sql.DB, where string, arg float64) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, "SELECT args ->> 'task', count(*) FROM river_job WHERE "+where+" GROUP BY 1", arg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	all := map[string]int{}
	for rows.Next() {
		var task string
		var n int
		if err := rows.Scan(&task, &n); err != nil {
			return nil, err
		}
		all[task] = n
	}
	return all, rows.Err()
}

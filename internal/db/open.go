package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Limits of SQLite. The caches are small because the operating system also caches the
// file's pages.
const (
	sqliteReaders  = 4
	sqlitePage     = 8 << 10
	readCacheKiB   = 4 << 10
	writeCacheKiB  = 8 << 10
	busyTimeout    = 10 * time.Second
	journalMaximum = 32 << 20
	// checkpointPages is after how many pages the journal is checkpointed into the file:
	// consecutive large changes write the same pages again and again.
	checkpointPages = 4000
)

// Limits of PostgreSQL.
const (
	postgresReaders = 12
	postgresWriters = 6
	postgresIdle    = 5 * time.Minute
	connectTimeout  = 5 * time.Second
	// lockTimeout is longer than any change takes.
	lockTimeout = 30 * time.Second
)

func (d *DB) openSQLite(ctx context.Context) error {
	path, err := filepath.Abs(d.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	// SQLite must never create the file: a connection that is opened while the file is
	// being moved would start an empty catalog in its place. Other users must not read the
	// file, since it contains secrets.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = f.Close() // Nothing was written.
	if d.file, err = os.Stat(path); err != nil {
		return err
	}
	if d.Write, err = sql.Open("sqlite", sqliteDSN(path, writeCacheKiB, "_journal_mode", "WAL")); err != nil {
		return err
	}
	d.Write.SetMaxOpenConns(1)
	d.Write.SetMaxIdleConns(1)
	if err := migratePatiently(ctx, d.Write); err != nil {
		return err
	}
	if d.Read, err = sql.Open("sqlite", sqliteDSN(path, readCacheKiB, "_query_only", "true")); err != nil {
		return err
	}
	d.Read.SetMaxOpenConns(sqliteReaders)
	d.Read.SetMaxIdleConns(sqliteReaders)
	return nil
}

// migratePatiently is migrate for SQLite, which ignores the busy timeout when two
// programs initialize the same new file at the same time.
func migratePatiently(ctx context.Context, db *sql.DB) error {
	const pause = 50 * time.Millisecond
	for left := busyTimeout; ; left -= pause {
		err := migrate(ctx, db, sqliteDialect)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// sqliteDSN returns the DSN of a connection. Commits are synced to disk (synchronous
// FULL): there is one only for each change that makes a difference, so that this costs
// little, and what was reported as stored survives a power failure.
func sqliteDSN(path string, cacheKiB int, key, value string) string {
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, key: {value}}
	for _, p := range []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		fmt.Sprintf("page_size(%d)", sqlitePage),
		"synchronous(FULL)",
		fmt.Sprintf("cache_size(-%d)", cacheKiB),
		fmt.Sprintf("journal_size_limit(%d)", journalMaximum),
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
		"temp_store(MEMORY)",
	} {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

func (d *DB) openPostgres(ctx context.Context) error {
	config, err := pgx.ParseConfig(d.URL)
	if err != nil {
		// The original error may contain the password.
		return errors.New("invalid connection string; write it as postgres://user:password@host:port/database")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	d.Patience, d.config = lockTimeout, config
	d.Read, d.Write = pool(within(config, cmp.Or(d.Answer, readAnswer)), postgresReaders), pool(within(config, cmp.Or(d.Answer, writeAnswer)), postgresWriters)
	// A migration may take minutes.
	db := pool(config, 1)
	return errors.Join(migrate(ctx, db, postgresDialect), db.Close())
}

// pool returns a pool of at most that many connections.
func pool(config *pgx.ConnConfig, most int) *sql.DB {
	// JIT compilation of a long filter takes seconds, running it milliseconds.
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET jit = off")
		return err
	}))
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	db.SetConnMaxIdleTime(postgresIdle)
	return db
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Inspection is a read-only view of a database of any version, with or without a
// running server. All methods may be called concurrently.
type Inspection struct{ DB }

// Inspect opens the database read-only, without migrating it. The error is
// fs.ErrNotExist if SQLite's file is missing. The caller must close the Inspection.
func Inspect(ctx context.Context, opts Options) (*Inspection, error) {
	i := &Inspection{DB{Options: opts}}
	var err error
	doing := "open the database"
	if opts.Client == Postgres {
		i.Read, err = readPostgres(opts.URL)
	} else {
		doing += " " + opts.Path
		i.Read, err = ReadSQLite(opts.Path)
	}
	if err == nil {
		err = i.Read.PingContext(ctx)
	}
	if err != nil {
		if i.Read != nil {
			err = errors.Join(err, i.Read.Close())
		}
		return nil, Fail(doing, err)
	}
	return i, nil
}

// ReadSQLite opens a file of SQLite read-only.
func ReadSQLite(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return sql.Open("sqlite", u.String())
}

// readPostgres opens PostgreSQL read-only.
func readPostgres(connection string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(connection)
	if err != nil {
		// The original error may contain the password.
		return nil, errors.New("invalid connection string; write it as postgres://user:password@host:port/database")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	return stdlib.OpenDB(*config), nil
}

// Versions returns the version of the database, zero if it has no tables, and the
// latest version that this program supports.
func (i *Inspection) Versions(ctx context.Context) (has, known int64, err error) {
	steps, err := migrationSteps(sqliteDialect, nil)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range steps {
		known = max(known, s.Version)
	}
	err = i.Read.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&has)
	if err != nil && isNoTable(err) {
		return 0, known, nil
	}
	return has, known, Fail("read the version of the database", err)
}

// isNoTable reports whether a table is missing.
func isNoTable(err error) bool {
	return strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "42P01")
}

// Integrity checks for damage and returns what it finds. SQLite reads the whole file;
// PostgreSQL counts the pages that it could not read.
func (i *Inspection) Integrity(ctx context.Context) ([]string, error) {
	if i.Client == Postgres {
		var n int64
		err := i.Read.QueryRowContext(ctx, "SELECT coalesce(sum(checksum_failures), 0)::bigint FROM pg_stat_database WHERE datname = current_database()").Scan(&n)
		if err == nil && n > 0 {
			return []string{fmt.Sprintf("PostgreSQL found %d damaged pages", n)}, nil
		}
		return nil, Fail("check the database", err)
	}
	return CheckSQLite(ctx, i.Read)
}

// CheckSQLite checks a database of SQLite for damage, and returns what it finds.
func CheckSQLite(ctx context.Context, db *sql.DB) ([]string, error) {
	const most = 5
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", most))
	if err != nil {
		return nil, Fail("check the database", err)
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, Fail("check the database", err)
		}
		if text != "ok" {
			found = append(found, text)
		}
	}
	return found, Fail("check the database", rows.Err())
}

// ReadOnly reports whether PostgreSQL accepts no writes, as a standby does.
func (i *Inspection) ReadOnly(ctx context.Context) (bool, error) {
	if i.Client != Postgres {
		return false, nil
	}
	var standby bool
	err := i.Read.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	return standby, Fail("check whether the database is a standby", err)
}

// Skew returns by how much the clock of PostgreSQL is ahead of ours. SQLite has no
// clock; ok is false then.
func (i *Inspection) Skew(ctx context.Context) (ahead time.Duration, ok bool, err error) {
	if i.Client != Postgres {
		return 0, false, nil
	}
	before := i.Now()
	var there time.Time
	if err := i.Read.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return 0, false, Fail("read the clock of the database", err)
	}
	after := i.Now()
	return there.Sub(before.Add(after.Sub(before) / 2)), true, nil
}

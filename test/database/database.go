// Package database opens databases for the tests of storages, on SQLite and on
// PostgreSQL.
package database

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/postgres"
)

// shared is the PostgreSQL server of a test binary.
var shared postgres.Shared

// Main runs the tests of a package, then stops the server. TestMain calls it.
func Main(m *testing.M, end ...func()) {
	code := m.Run()
	for _, f := range end {
		f()
	}
	os.Exit(shared.End(code))
}

// SQLite returns the options of a new SQLite database.
func SQLite(tb testing.TB) db.Options {
	tb.Helper()
	return db.Options{Client: db.SQLite, Path: filepath.Join(tb.TempDir(), "portal.db"), Now: time.Now}
}

// Postgres returns the options of a new PostgreSQL database.
func Postgres(tb testing.TB) db.Options {
	tb.Helper()
	return db.Options{Client: db.Postgres, URL: shared.Database(tb), Now: time.Now}
}

// Open opens a database, which is closed with the test.
func Open(tb testing.TB, opts db.Options) *db.DB {
	tb.Helper()
	d, err := db.Open(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// OnBoth runs a test on SQLite and on PostgreSQL. open opens the database of
// the test, which is empty at first. It can be called again, as after a restart
// or by another replica.
func OnBoth(t *testing.T, test func(t *testing.T, open func() *db.DB)) {
	t.Helper()
	for name, options := range map[string]func(testing.TB) db.Options{"SQLite": SQLite, "PostgreSQL": Postgres} {
		t.Run(name, func(t *testing.T) {
			opts := options(t)
			test(t, func() *db.DB { return Open(t, opts) })
		})
	}
}

// Querier is a database or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each calls scan for each row of a query.
func Each(ctx context.Context, q Querier, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Into appends the columns of a row, separated by a bar.
func Into(dst *[]string) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		columns := make([]sql.NullString, len(names))
		args := make([]any, len(names))
		for i := range columns {
			args[i] = &columns[i]
		}
		if err := rows.Scan(args...); err != nil {
			return err
		}
		text := make([]string, len(names))
		for i, c := range columns {
			text[i] = c.String
		}
		*dst = append(*dst, strings.Join(text, "|"))
		return nil
	}
}

// Written returns a number that the database increases with each write.
func Written(tb testing.TB, s *db.DB) (n int64) {
	tb.Helper()
	query := "PRAGMA data_version"
	if s.Client == db.Postgres {
		query = "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)"
	}
	// In SQLite, a read connection notices writes of others only if the same
	// connection is used each time.
	s.Read.SetMaxOpenConns(1)
	if err := s.Read.QueryRow(query).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

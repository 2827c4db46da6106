package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
)

// shared is the PostgreSQL of tests that leave it alone.
var shared postgres.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	endBenchmarks()
	os.Exit(shared.End(code))
}

// onBoth runs a test on SQLite and on PostgreSQL. open opens the database of
// the test, which is empty at first: the first time, after a restart, or once
// more, as another replica would. What it opens is closed with the test.
func onBoth(t *testing.T, test func(t *testing.T, open func() *Store)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		test(t, opener(t, Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		test(t, opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now}))
	})
}

func opener(tb testing.TB, opts Options) func() *Store {
	return func() *Store {
		tb.Helper()
		s, err := Open(tb.Context(), opts)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = s.Close() })
		return s
	}
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// scanEach calls scan for each row of a query.
func scanEach(ctx context.Context, q querier, query string, args []any, scan func(*sql.Rows) error) error {
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

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
)

// server is the PostgreSQL of all tests, each of which has a database of its
// own. It is started by the first that needs it.
var server struct {
	once sync.Once
	*postgres.Server
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	endBenchmarks()
	if server.Server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// postgresURL returns the address of an empty database.
func postgresURL(tb testing.TB) string {
	tb.Helper()
	server.once.Do(func() { server.Server, server.err = postgres.Run(postgres.Options{}) })
	if errors.Is(server.err, postgres.ErrOff) {
		tb.Skip(server.err)
	}
	if server.err != nil {
		tb.Fatal(server.err)
	}
	return server.Database(tb)
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
		test(t, opener(t, Options{Client: Postgres, URL: postgresURL(t), Now: time.Now}))
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

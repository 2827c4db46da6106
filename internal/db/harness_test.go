package db

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
)

// shared is the PostgreSQL server of the tests.
var shared postgres.Shared

func TestMain(m *testing.M) { os.Exit(shared.End(m.Run())) }

// opener returns a function that opens a database, which is closed with the test.
func opener(tb testing.TB, opts Options) func() *DB {
	return func() *DB {
		tb.Helper()
		d, err := Open(tb.Context(), opts)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = d.Close() })
		return d
	}
}

// onBoth runs a test with a function that opens an empty database of SQLite, and
// of PostgreSQL: each call is another replica.
func onBoth(t *testing.T, test func(t *testing.T, open func() *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		test(t, opener(t, Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		test(t, opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now}))
	})
}

package store

import (
	"errors"
	"testing"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m, endBenchmarks) }

// onBoth runs a test on SQLite and on PostgreSQL. open opens the database of the
// test, which is empty at first: initially, after a restart, or as another
// replica.
func onBoth(t *testing.T, test func(t *testing.T, open func() *Store)) {
	t.Helper()
	database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
		test(t, func() *Store { return New(openDB(), Options{}) })
	})
}

// opener returns a function that opens a database, which is closed with the
// test.
func opener(tb testing.TB, opts db.Options) func() *Store {
	return func() *Store {
		tb.Helper()
		return New(database.Open(tb, opts), Options{})
	}
}

func isNotFound(err error) bool { return errors.Is(err, db.ErrNotFound) }

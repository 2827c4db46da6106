package mirror

import (
	"testing"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// onBoth runs a test on SQLite and on PostgreSQL. Each open is another replica.
func onBoth(t *testing.T, test func(t *testing.T, open func() *Mirror)) {
	t.Helper()
	database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
		test(t, func() *Mirror { return New(openDB()) })
	})
}

func TestMain(m *testing.M) { database.Main(m) }

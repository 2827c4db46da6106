package marks_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/test/database"
	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/redis"
)

// Servers that all tests share, each test with its own database or prefix. They
// are started by the first test that needs them, and stopped at the end.
var (
	shared      postgres.Shared
	ends        []func() error
	redisServer = sync.OnceValues(func() (*redis.Server, error) {
		s, err := redis.Run(redis.Options{})
		if err == nil {
			ends = append(ends, s.Stop)
		}
		return s, err
	})
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range ends {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(shared.End(code))
}

func openSQLite(t *testing.T) func() marks.Marks {
	return openStore(t, db.Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now})
}

func openPostgres(t *testing.T) func() marks.Marks {
	t.Helper()
	return openStore(t, db.Options{Client: db.Postgres, URL: shared.Database(t), Now: time.Now})
}

func openStore(t *testing.T, opts db.Options) func() marks.Marks {
	return func() marks.Marks {
		t.Helper()
		return marks.NewDatabase(mirror.New(database.Open(t, opts)))
	}
}

// openMarks opens marks in Redis.
func openMarks(t *testing.T) func() marks.Marks {
	t.Helper()
	s, err := redisServer()
	if errors.Is(err, redis.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() marks.Marks {
		t.Helper()
		return openRedis(t, marks.RedisOptions{URL: s.URL(0), Prefix: t.Name() + "[*]:"}).Marks()
	}
}

// openRedis opens a connection that is closed with the test. Its timeout is
// longer than usual, as the machine may be busy.
func openRedis(tb testing.TB, opts marks.RedisOptions) *marks.Redis {
	tb.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = 20 * time.Second
	}
	r, err := marks.OpenRedis(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

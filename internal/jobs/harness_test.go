package jobs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/postgres"
)

// soonEnough is a generous limit for short operations, as the machine may be
// busy.
const soonEnough = 2 * time.Minute

// shared is the PostgreSQL server of tests that do not stop it.
var shared postgres.Shared

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	os.Exit(shared.End(m.Run()))
}

// onBoth runs a test on SQLite and on PostgreSQL, each with an empty database.
func onBoth(t *testing.T, test func(t *testing.T, opts Options)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "queue", "jobs.db"), Now: time.Now})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Options{Client: db.Postgres, URL: shared.Database(t), Now: time.Now})
	})
}

func open(tb testing.TB, opts Options) *Queue {
	tb.Helper()
	q, err := patientOpen(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = q.Close() })
	return q
}

// patientOpen opens a queue with a longer timeout, as a database may respond
// slowly on a busy machine.
func patientOpen(ctx context.Context, opts Options) (q *Queue, err error) {
	for range 5 {
		if q, err = Open(ctx, opts); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
			break
		}
	}
	return q, err
}

// run runs q until the test ends or the returned function is called.
func run(tb testing.TB, q *Queue) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				tb.Errorf("Run returned the error %v", err)
			}
		})
	}
	tb.Cleanup(stop)
	return stop
}

func add(tb testing.TB, q *Queue, task, key string, how How) bool {
	tb.Helper()
	added, err := q.Add(tb.Context(), task, key, how)
	if err != nil {
		tb.Fatal(err)
	}
	return added
}

// await waits for a value from a channel.
func await[T any](tb testing.TB, what string, c <-chan T) T {
	tb.Helper()
	select {
	case v, ok := <-c:
		if !ok {
			tb.Fatalf("%s: channel was closed", what)
		}
		return v
	case <-time.After(soonEnough):
		tb.Fatalf("%s: no value after %s", what, soonEnough)
		panic("unreachable")
	}
}

// eventually waits until a condition is true.
func eventually(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	for end := time.Now().Add(soonEnough); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("condition was not met within %s: %s", soonEnough, what)
		}
	}
}

// state returns the state of the newest job of a key, and its last error.
func state(tb testing.TB, q *Queue, key string) (state, failure string) {
	tb.Helper()
	query := `SELECT state, coalesce(errors -> -1 ->> 'error', '') FROM river_job WHERE args ->> 'key' = $1 ORDER BY id DESC LIMIT 1`
	if q.opts.Client == db.Postgres {
		query = `SELECT state::text, coalesce(errors[array_length(errors, 1)] ->> 'error', '') FROM river_job
			WHERE args ->> 'key' = $1 ORDER BY id DESC LIMIT 1`
	}
	if err := q.db.QueryRowContext(tb.Context(), query, key).Scan(&state, &failure); err != nil {
		tb.Fatal(err)
	}
	return state, failure
}

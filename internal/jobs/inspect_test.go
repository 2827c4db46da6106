package jobs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/rivertype"

	"example.dev/ingestor/internal/db"
)

// TestInspect checks that only stuck jobs are counted.
func TestInspect(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		for _, key := range []string{"runs", "overdue", "waits", "forgotten", "failed", "failed long ago"} {
			add(t, q, "task of "+key, key, How{Timeout: time.Minute})
		}
		at := func(key, column string, ago time.Duration, state string) {
			t.Helper()
			when := time.Now().UTC().Add(-ago).Format("2006-01-02 15:04:05.000")
			final := "NULL"
			if state == "discarded" {
				final = "'" + when + "'"
			}
			_, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = '"+state+"', "+column+" = '"+when+"', finalized_at = "+final+" WHERE args ->> 'key' = $1", key)
			if err != nil {
				t.Fatal(err)
			}
		}
		at("runs", "attempted_at", time.Minute, "running")
		at("overdue", "attempted_at", 2*time.Minute, "running")
		at("waits", "scheduled_at", time.Minute, "available")
		at("forgotten", "scheduled_at", 10*time.Minute, "available")
		at("failed", "scheduled_at", time.Hour, "discarded")
		at("failed long ago", "scheduled_at", 48*time.Hour, "discarded")
		got, err := Inspect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		want := Condition{
			Version: got.Known, Known: got.Known,
			Overdue: map[string]int{"task of overdue": 1}, Waiting: map[string]int{"task of forgotten": 1}, Failed: map[string]int{"task of failed": 1},
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Known == 0 {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// TestInspectReplaced checks that a job counts as failed only when it is no longer
// replaced after its process was killed.
func TestInspectReplaced(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		add(t, q, "build", "a", How{})
		for n := range mostLost + 1 {
			if _, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 1 WHERE state = 'available'"); err != nil {
				t.Fatal(err)
			}
			rows, err := q.engine.list(t.Context(), rivertype.JobStateRunning)
			if err != nil || len(rows) != 1 {
				t.Fatalf("%d jobs are running, want 1: %v", len(rows), err)
			}
			if _, err := q.takeOver(t.Context(), rows, func(*rivertype.JobRow) bool { return true }); err != nil {
				t.Fatal(err)
			}
			got, err := Inspect(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{}
			if n == mostLost {
				want["build"] = 1
			}
			if diff := cmp.Diff(want, got.Failed); diff != "" {
				t.Errorf("failed jobs after process %d was killed (-want +got):\n%s", n+1, diff)
			}
		}
	})
}

// TestInspectNothing checks that a missing file is reported and not created.
func TestInspectNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.sqlite")
	for range 2 {
		if _, err := Inspect(t.Context(), Options{Client: db.SQLite, Path: path, Now: time.Now}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Inspect returned %v, want fs.ErrNotExist", err)
		}
	}
}

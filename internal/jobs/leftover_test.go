package jobs

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestLeftover stores a job with the settings of another configuration. The job
// runs with the current settings, by which other replicas also take it over.
func TestLeftover(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		add(t, open(t, opts), "scan", "a", How{Timeout: time.Hour, Attempts: 5, RetryDelay: time.Hour, Trigger: "manual"})
		add(t, open(t, opts), "scan", "other", How{Timeout: time.Hour, Attempts: 5, RetryDelay: time.Hour})

		q := open(t, opts)
		began := make(chan Job, 10)
		q.Handle(Task{
			Name: "scan",
			Run: func(ctx context.Context, j Job) error {
				began <- j
				if j.Key == "other" {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			},
			How: func(key string) (How, bool) {
				return How{Timeout: 100 * time.Millisecond, Attempts: 2, RetryDelay: 10 * time.Millisecond}, key == "a"
			},
		})
		run(t, q)
		for range 3 {
			j := await(t, "an attempt", began)
			want := 2
			if j.Key == "other" {
				want = 5 // How has no settings for this key.
			} else if j.Trigger != "manual" {
				t.Errorf("trigger of the job is %q, want manual", j.Trigger)
			}
			if j.Attempts != want {
				t.Errorf("%s has %d attempts, want %d", j.Key, j.Attempts, want)
			}
		}
		eventually(t, "the job is discarded", func() bool { s, _ := state(t, q, "a"); return s == "discarded" })
		if _, why := state(t, q, "a"); !strings.Contains(why, "timeout of 100ms exceeded") {
			t.Errorf("job failed with %q, want the timeout", why)
		}
	})
}

// TestLeftoverOverdue takes over a job that was stored with a timeout of an hour, and
// whose current timeout is exceeded.
func TestLeftoverOverdue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		for _, key := range []string{"a", "other"} {
			add(t, q, "scan", key, How{Timeout: time.Hour})
		}
		q.Handle(Task{
			Name: "scan", Run: func(context.Context, Job) error { return nil },
			How: func(key string) (How, bool) { return How{Timeout: time.Second}, key == "a" },
		})
		at := time.Now().Add(-time.Minute).UTC().Format("2006-01-02 15:04:05.000")
		if _, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = '"+at+"'"); err != nil {
			t.Fatal(err)
		}
		if err := q.takeOverLost(t.Context(), &lostProcesses{}); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"a": "available", "other": "running"} {
			if got, _ := state(t, q, key); got != want {
				t.Errorf("job %q is %s, want %s", key, got, want)
			}
		}
	})
}

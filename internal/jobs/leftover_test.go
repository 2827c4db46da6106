package jobs

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestLeftover stores a job with the settings of another configuration. The job
// runs with the current settings and stores them: other replicas take over a job
// by its stored timeout.
func TestLeftover(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		add(t, open(t, opts), "scan", "a", How{Timeout: time.Hour, Attempts: 5, RetryDelay: time.Hour, Trigger: "manual"})
		add(t, open(t, opts), "scan", "other", How{Timeout: time.Hour, Attempts: 5, RetryDelay: time.Hour})

		q := open(t, opts)
		began := make(chan Job, 10)
		timeouts := make(chan float64, 10)
		q.Handle(Task{
			Name: "scan",
			Run: func(ctx context.Context, j Job) error {
				began <- j
				if j.Key == "other" {
					return nil
				}
				timeouts <- storedTimeout(t, q, j.Key)
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
				t.Errorf("trigger of the job is %q", j.Trigger)
			}
			if j.Attempts != want {
				t.Errorf("%s has %d attempts, want %d", j.Key, j.Attempts, want)
			}
		}
		eventually(t, "it is given up", func() bool { s, _ := state(t, q, "a"); return s == "discarded" })
		if _, why := state(t, q, "a"); !strings.Contains(why, "it took longer than 100ms") {
			t.Errorf("job failed with %q", why)
		}
		if stored := await(t, "a timeout", timeouts); stored != 0.1 {
			t.Errorf("the stored timeout is %v s", stored)
		}
	})
}

// storedTimeout returns the timeout that the job of a key has in the database.
func storedTimeout(t *testing.T, q *Queue, key string) float64 {
	var timeout float64
	if err := q.db.QueryRowContext(t.Context(), `SELECT args ->> 'timeout' FROM river_job WHERE args ->> 'key' = $1`, key).Scan(&timeout); err != nil {
		t.Error(err)
	}
	return timeout
}

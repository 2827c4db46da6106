package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// TestLater postpones a job: this counts as no attempt, and other jobs use the
// worker meanwhile.
func TestLater(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		registry := prometheus.NewRegistry()
		opts.Registry = registry
		q := open(t, opts)
		var busy atomic.Bool
		busy.Store(true)
		var postponed atomic.Int32
		done := make(chan Job, 10)
		q.Handle(Task{Name: "turn", Workers: 1, Run: func(_ context.Context, j Job) error {
			if j.Key == "first" && busy.Load() {
				postponed.Add(1)
				return Later(200 * time.Millisecond)
			}
			done <- j
			return nil
		}})
		run(t, q)
		add(t, q, "turn", "first", How{Attempts: 1})
		eventually(t, "the job was postponed more than once", func() bool { return postponed.Load() > 1 })
		began := time.Now()
		add(t, q, "turn", "second", How{})
		if got := await(t, "the other", done); got.Key != "second" {
			t.Errorf("job is %+v, want the second", got)
		}
		t.Logf("other job started after %s, while the first was postponed %d times", time.Since(began), postponed.Load())
		busy.Store(false)
		if got := await(t, "the first", done); got.Key != "first" || got.Attempt != 1 || got.Attempts != 1 {
			t.Errorf("job is %+v, want the first in its only attempt", got)
		}
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "first"); return s == "completed" })
		want := map[string]float64{"jobs_runs_total/postponed/turn": float64(postponed.Load()), "jobs_runs_total/done/turn": 2, "jobs_run_duration_seconds/turn": 2}
		if d := cmp.Diff(want, numbers(t, registry)); d != "" {
			t.Errorf("metrics (-want, +got):\n%s", d)
		}
	})
}

// TestLaterIsKept stops the queue while a job is postponed, and requests a job
// that runs and is postponed then: it runs once.
func TestLaterIsKept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		running, goOn := make(chan struct{}, 10), make(chan struct{}, 10)
		q.Handle(Task{Name: "turn", Workers: 2, Run: func(_ context.Context, j Job) error {
			running <- struct{}{}
			<-goOn
			return Later(time.Second)
		}})
		stop := run(t, q)
		add(t, q, "turn", "a", How{Attempts: 2})
		await(t, "its beginning", running)
		// A request while the job runs is served by its next run.
		add(t, q, "turn", "a", How{Attempts: 2})
		goOn <- struct{}{}
		eventually(t, "it waits", func() bool { s, _ := state(t, q, "a"); return s == "available" || s == "scheduled" })
		stop()
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		q = open(t, opts)
		done := make(chan Job, 10)
		q.Handle(Task{Name: "turn", Workers: 2, Run: func(_ context.Context, j Job) error { done <- j; return nil }})
		run(t, q)
		if got := await(t, "the job", done); got.Attempt != 1 {
			t.Errorf("job is %+v, want attempt 1", got)
		}
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "a"); return s == "completed" })
		select {
		case got := <-done:
			t.Errorf("job ran twice: %+v", got)
		case <-time.After(time.Second):
		}
	})
}

func TestLaterSays(t *testing.T) {
	if err := Later(2 * time.Second); err.Error() != "postponed for 2s" || !isLater(errors.Join(err)) {
		t.Error(err)
	}
}

// TestRequest requests jobs before the queue runs and while a job of the same key
// runs.
func TestRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		ran, proceed := make(chan Job), make(chan struct{})
		q.Handle(Task{Name: "build", Run: func(_ context.Context, j Job) error {
			ran <- j
			<-proceed
			return nil
		}})
		q.Request("build", "a", How{Trigger: "first"})
		q.Request("build", "a", How{Trigger: "second"})
		run(t, q)
		if j := <-ran; j.Trigger != "second" {
			t.Errorf("trigger %q ran, want requests before Run merged to the last one", j.Trigger)
		}
		q.Request("build", "a", How{Trigger: "third"})
		eventually(t, "the request is stored", func() bool {
			var n int
			err := q.db.QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE metadata ->> 'output' IS NOT NULL").Scan(&n)
			return err == nil && n == 1
		})
		proceed <- struct{}{}
		if j := <-ran; j.Trigger != "third" {
			t.Errorf("trigger %q ran, want another run for the request while the job ran", j.Trigger)
		}
		proceed <- struct{}{}
	})
}

package jobs

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestLanes checks that tasks with dedicated workers and other tasks do not
// block each other.
func TestLanes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		opts.Workers = 1
		q := open(t, opts)
		began, proceed := make(chan Job, 9), make(chan struct{})
		hold := func(_ context.Context, j Job) error { began <- j; <-proceed; return nil }
		q.Handle(Task{Name: "scan", Run: hold})
		q.Handle(Task{Name: "own", Run: hold, Workers: 2})
		run(t, q)
		defer close(proceed)

		add(t, q, "scan", "a", How{})
		if j := await(t, "the job of the shared worker", began); j.Key != "a" {
			t.Fatalf("first job is %+v, want key a", j)
		}
		add(t, q, "scan", "waits for the shared worker", How{})
		for _, key := range []string{"b", "c", "d"} {
			add(t, q, "own", key, How{})
		}
		two := map[string]bool{await(t, "a job of a dedicated worker", began).Key: true, await(t, "another", began).Key: true}
		if !two["b"] || !two["c"] {
			t.Errorf("jobs in the lane are %v, want b and c", two)
		}
		if waiting, err := q.Waiting(t.Context()); err != nil || waiting["own"] != 1 || waiting["scan"] != 1 {
			t.Errorf("waiting jobs are %v (%v), want one of each task", waiting, err)
		}
		if len(began) > 0 {
			t.Errorf("job %+v ran without a free worker", <-began)
		}
	})
}

// TestLaneKept checks that every way of queuing a job keeps the lane of its
// task.
func TestLaneKept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		began, proceed := make(chan Job, 9), make(chan error)
		q.Handle(Task{Name: "own", Run: func(_ context.Context, j Job) error { began <- j; return <-proceed }, Workers: 1})
		q.Every("own", "tick", time.Hour, How{})
		run(t, q)
		in := func(key, reason string) {
			t.Helper()
			if j := await(t, reason, began); j.Key != key {
				t.Fatalf("%s: job %+v started", reason, j)
			}
			if lane := laneOf(t, q, key); lane != "task-own" {
				t.Errorf("%s: lane is %q", reason, lane)
			}
		}
		in("tick", "a schedule's")
		proceed <- nil
		add(t, q, "own", "a", How{Attempts: 2, RetryDelay: 10 * time.Millisecond})
		in("a", "a requested job")
		proceed <- errors.New("no such cluster")
		in("a", "a failed job")
		add(t, q, "own", "a", How{})
		proceed <- nil
		in("a", "a job requested while it ran")
		proceed <- nil
		add(t, q, "own", "later", How{After: time.Hour})
		add(t, q, "own", "later", How{Hurry: true})
		in("later", "a job scheduled for later")
		proceed <- nil
		add(t, q, "own", "soon", How{After: 100 * time.Millisecond})
		in("soon", "a delayed job")
		proceed <- nil
	})
}

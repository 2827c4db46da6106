package jobs

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestLanes has tasks with workers of their own, which those of others do not
// keep waiting, nor the other way round.
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
		if j := await(t, "the shared worker's job", began); j.Key != "a" {
			t.Fatalf("the first is %+v", j)
		}
		add(t, q, "scan", "waits for the shared worker", How{})
		for _, key := range []string{"b", "c", "d"} {
			add(t, q, "own", key, How{})
		}
		two := map[string]bool{await(t, "a job of its own worker", began).Key: true, await(t, "another", began).Key: true}
		if !two["b"] || !two["c"] {
			t.Errorf("in the lane run %v", two)
		}
		if waiting, err := q.Waiting(t.Context()); err != nil || waiting["own"] != 1 || waiting["scan"] != 1 {
			t.Errorf("%v wait: %v", waiting, err)
		}
		if len(began) > 0 {
			t.Errorf("there is no worker for %+v", <-began)
		}
	})
}

// TestLaneKept has everything that makes a job make it in the lane of its task.
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
				t.Fatalf("%s: %+v began", reason, j)
			}
			if lane := laneOf(t, q, key); lane != "task-own" {
				t.Errorf("%s: the lane is %q", reason, lane)
			}
		}
		in("tick", "a schedule's")
		proceed <- nil
		add(t, q, "own", "a", How{Attempts: 2, RetryDelay: 10 * time.Millisecond})
		in("a", "one that was asked for")
		proceed <- errors.New("no such cluster")
		in("a", "one that failed")
		add(t, q, "own", "a", How{})
		proceed <- nil
		in("a", "one that was asked for while it ran")
		proceed <- nil
		add(t, q, "own", "later", How{After: time.Hour})
		add(t, q, "own", "later", How{Hurry: true})
		in("later", "one that waited for later")
		proceed <- nil
		add(t, q, "own", "soon", How{After: 100 * time.Millisecond})
		in("soon", "one that waited for a moment")
		proceed <- nil
	})
}

package task

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// waits returns an action that waits until it is released or cancelled.
func waits(began chan<- string, proceed <-chan struct{}) action.Action {
	return newAction("test:wait", func(ctx context.Context, c *action.Call) error {
		began <- c.Step
		select {
		case <-proceed:
			return nil
		case <-ctx.Done():
			return errors.New("interrupted")
		}
	})
}

const twoWaits = `{steps: [{id: one, name: First, action: test:wait}, {id: two, name: Second, action: test:wait}]}`

// TestCancel cancels a task in a step, from the same and from another process,
// and retries it after the step that had ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"Here": false, "Elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := onSQLite(t)
			began, proceed := make(chan string, 9), make(chan struct{}, 9)
			beat := time.Hour
			if elsewhere {
				beat = 50 * time.Millisecond
			}
			w := start(t, at, Options{beat: beat, Key: key, Actions: []action.Action{waits(began, proceed)}})
			id := w.create(secretOrder(t, twoWaits))
			await(t, "step one", began)
			proceed <- struct{}{}
			await(t, "step two", began)
			cancel := w.tasks.Cancel
			if elsewhere {
				cancel = func(ctx context.Context, id string) (*taskstore.Task, error) {
					got, _, err := w.store.CancelTask(ctx, id)
					return got, err
				}
			}
			if got, err := cancel(t.Context(), id); err != nil || got == nil {
				t.Fatalf("Cancel returned %v: %v", got, err)
			}
			if got := w.waitForEnd(id); got.Status != taskstore.TaskCancelled || got.Secrets != nil {
				t.Errorf("task is %s, want it cancelled without secrets", got.Status)
			}
			want := []string{"log|||Starting up task with 2 steps",
				"log|one|processing|Beginning step First", "log|one|completed|Finished step First",
				"log|two|processing|Beginning step Second", "cancelled|two|cancelled|Step Second has been cancelled.",
				"completion|||Run completed with status: cancelled"}
			if diff := cmp.Diff(want, w.events(id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, err := w.tasks.Cancel(t.Context(), id); err != nil || got.Status != taskstore.TaskCancelled {
				t.Errorf("second Cancel returned %v: %v", got, err)
			}

			if ok, err := w.tasks.Retry(t.Context(), id, ann, hunter); err != nil || !ok {
				t.Fatalf("Retry failed: %v", err)
			}
			if step := await(t, "step two", began); step != "two" {
				t.Errorf("step %s was run again, want two", step)
			}
			proceed <- struct{}{}
			if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted {
				t.Errorf("task ended as %s, want completed", got.Status)
			}
			want = append(want, "recovered|||The task is retried", "log|||Starting up task with 2 steps", "log|two||Resuming with step Second",
				"log|two|processing|Beginning step Second", "log|two|completed|Finished step Second", "completion|||Run completed with status: completed")
			if diff := cmp.Diff(want, w.events(id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || ok {
				t.Errorf("completed task was retried: %v", err)
			}
		})
	}
}

// TestCancelEarly cancels a task that has not begun, and an unknown one.
func TestCancelEarly(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{})
	id := w.create(order(t, twoWaits, `{}`))
	if got, err := w.tasks.Cancel(t.Context(), id); err != nil || got.Status != taskstore.TaskCancelled {
		t.Errorf("Cancel returned %v: %v; want it cancelled", got, err)
	}
	var got []taskstore.TaskEvent
	err := w.tasks.Follow(t.Context(), id, 0, func(e []taskstore.TaskEvent) error { got = append(got, e...); return nil })
	if err != nil || len(got) != 1 || got[0].Type != taskstore.EventCancelled {
		t.Errorf("Follow returned %v: %v; want one cancellation", got, err)
	}
	if got, err := w.tasks.Cancel(t.Context(), "nothing"); err != nil || got != nil {
		t.Errorf("Cancel of an unknown task returned %v: %v", got, err)
	}
	if ok, err := w.tasks.Retry(t.Context(), "nothing", ann, nil); err != nil || ok {
		t.Errorf("unknown task was retried: %v", err)
	}
}

// TestCancelled begins a task whose process is gone and that was cancelled: it
// ends without running.
func TestCancelled(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	w := open(t, at, Options{})
	id := w.create(order(t, twoWaits, `{}`))
	if _, err := w.store.BeginTask(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tasks.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.stop()
	var done atomic.Bool
	w = start(t, at, Options{Actions: []action.Action{newAction("test:wait", func(context.Context, *action.Call) error {
		done.Store(true)
		return nil
	})}})
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCancelled || done.Load() {
		t.Errorf("task is %s, and ran: %t; want it cancelled", got.Status, done.Load())
	}
}

// TestTimeout checks that a task ends at its timeout.
func TestTimeout(t *testing.T) {
	t.Parallel()
	began := make(chan string, 9)
	w := start(t, onSQLite(t), Options{Timeout: 200 * time.Millisecond, Actions: []action.Action{waits(began, nil)}})
	id := w.create(order(t, twoWaits, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed {
		t.Errorf("task is %s, want failed", got.Status)
	}
	const why = "The task took longer than 200ms: step First was stopped"
	want := []string{"log|||Starting up task with 2 steps", "log|one|processing|Beginning step First", "log|one|failed|" + why,
		"completion|||Run completed with status: failed|Error|" + why}
	if diff := cmp.Diff(want, w.events(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRetryFailed retries a task from the step that failed, with the outputs of
// the steps before it.
func TestRetryFailed(t *testing.T) {
	t.Parallel()
	var failed, made atomic.Int64
	w := start(t, onSQLite(t), Options{Actions: []action.Action{
		newAction("test:make", func(_ context.Context, c *action.Call) error {
			c.Output("n", tree.Number(made.Add(1)))
			return c.Workspace.Write("made", []byte("x"))
		}),
		newAction("test:flaky", func(_ context.Context, c *action.Call) error {
			if c.Input.Get("n").Scalar() != "1" {
				return errors.New("it was made again")
			}
			if _, err := c.Workspace.FS().Open("made"); err != nil {
				return err
			}
			if failed.Add(1) == 1 {
				return errors.New("not yet")
			}
			return nil
		}),
		echoAction(),
	}})
	id := w.create(order(t, `{steps: [{id: make, action: test:make}, {id: flaky, action: test:flaky, input: {n: "${{ steps.make.output.n }}"}},
		{id: sorry, action: test:say, if: "${{ failure() }}", input: {text: sorry}}]}`, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed {
		t.Fatalf("task is %s, want failed", got.Status)
	}
	if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || !ok {
		t.Fatalf("Retry failed: %v", err)
	}
	w.eventually("the task is completed", func() bool { return w.waitForEnd(id).Status == taskstore.TaskCompleted })
	if made.Load() != 1 || failed.Load() != 2 {
		t.Errorf("first step ran %d times and the second %d times, want 1 and 2: %v", made.Load(), failed.Load(), w.events(id))
	}
}

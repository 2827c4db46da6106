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

// waits is an action that waits until it is let go or told to stop.
func waits(began chan<- string, proceed <-chan struct{}) action.Action {
	return does("test:wait", func(ctx context.Context, c *action.Call) error {
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

// TestCancel cancels a task inside of a step, from here and from elsewhere, and
// lets it go on then behind the step that had ended.
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
				t.Fatalf("it is %v: %v", got, err)
			}
			if got := w.over(id); got.Status != taskstore.TaskCancelled || got.Secrets != nil {
				t.Errorf("it is %s", got.Status)
			}
			want := []string{"log|||Starting up task with 2 steps",
				"log|one|processing|Beginning step First", "log|one|completed|Finished step First",
				"log|two|processing|Beginning step Second", "cancelled|two|cancelled|Step Second has been cancelled.",
				"completion|||Run completed with status: cancelled"}
			if diff := cmp.Diff(want, w.events(id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got, err := w.tasks.Cancel(t.Context(), id); err != nil || got.Status != taskstore.TaskCancelled {
				t.Errorf("once more it is %v: %v", got, err)
			}

			if ok, err := w.tasks.Retry(t.Context(), id, ann, hunter); err != nil || !ok {
				t.Fatalf("it is not tried again: %v", err)
			}
			if step := await(t, "step two", began); step != "two" {
				t.Errorf("step %s was done again", step)
			}
			proceed <- struct{}{}
			if got := w.over(id); got.Status != taskstore.TaskCompleted {
				t.Errorf("in the end it is %s", got.Status)
			}
			want = append(want, "recovered|||The task is run again", "log|||Starting up task with 2 steps", "log|two||Going on with step Second",
				"log|two|processing|Beginning step Second", "log|two|completed|Finished step Second", "completion|||Run completed with status: completed")
			if diff := cmp.Diff(want, w.events(id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || ok {
				t.Errorf("one that is completed is tried again: %v", err)
			}
		})
	}
}

// TestCancelEarly cancels a task that nobody has begun, and one that is not
// there.
func TestCancelEarly(t *testing.T) {
	t.Parallel()
	w := open(t, onSQLite(t), Options{})
	id := w.create(order(t, twoWaits, `{}`))
	if got, err := w.tasks.Cancel(t.Context(), id); err != nil || got.Status != taskstore.TaskCancelled {
		t.Errorf("it is %v: %v", got, err)
	}
	var got []taskstore.TaskEvent
	err := w.tasks.Follow(t.Context(), id, 0, func(e []taskstore.TaskEvent) error { got = append(got, e...); return nil })
	if err != nil || len(got) != 1 || got[0].Type != taskstore.EventCancelled {
		t.Errorf("who follows it is told %v: %v", got, err)
	}
	if got, err := w.tasks.Cancel(t.Context(), "nothing"); err != nil || got != nil {
		t.Errorf("what is not there is %v: %v", got, err)
	}
	if ok, err := w.tasks.Retry(t.Context(), "nothing", ann, nil); err != nil || ok {
		t.Errorf("what is not there is tried again: %v", err)
	}
}

// TestCancelled begins a task of a process that is gone and that somebody wants
// to end: it ends, and does nothing.
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
	w = start(t, at, Options{Actions: []action.Action{does("test:wait", func(context.Context, *action.Call) error {
		done.Store(true)
		return nil
	})}})
	if got := w.over(id); got.Status != taskstore.TaskCancelled || done.Load() {
		t.Errorf("it is %s, and was done: %t", got.Status, done.Load())
	}
}

// TestTimeout ends a task that takes too long.
func TestTimeout(t *testing.T) {
	t.Parallel()
	began := make(chan string, 9)
	w := start(t, onSQLite(t), Options{Timeout: 200 * time.Millisecond, Actions: []action.Action{waits(began, nil)}})
	id := w.create(order(t, twoWaits, `{}`))
	if got := w.over(id); got.Status != taskstore.TaskFailed {
		t.Errorf("it is %s", got.Status)
	}
	const why = "The task took longer than 200ms: step First was stopped"
	want := []string{"log|||Starting up task with 2 steps", "log|one|processing|Beginning step First", "log|one|failed|" + why,
		"completion|||Run completed with status: failed|Error|" + why}
	if diff := cmp.Diff(want, w.events(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRetryFailed tries a task again from the step that failed, with what those
// before it made.
func TestRetryFailed(t *testing.T) {
	t.Parallel()
	var failed, made atomic.Int64
	w := start(t, onSQLite(t), Options{Actions: []action.Action{
		does("test:make", func(_ context.Context, c *action.Call) error {
			c.Output("n", tree.Number(made.Add(1)))
			return c.Workspace.Write("made", []byte("x"))
		}),
		does("test:flaky", func(_ context.Context, c *action.Call) error {
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
		say(),
	}})
	id := w.create(order(t, `{steps: [{id: make, action: test:make}, {id: flaky, action: test:flaky, input: {n: "${{ steps.make.output.n }}"}},
		{id: sorry, action: test:say, if: "${{ failure() }}", input: {text: sorry}}]}`, `{}`))
	if got := w.over(id); got.Status != taskstore.TaskFailed {
		t.Fatalf("it is %s", got.Status)
	}
	if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || !ok {
		t.Fatalf("it is not tried again: %v", err)
	}
	w.eventually("it is completed", func() bool { return w.over(id).Status == taskstore.TaskCompleted })
	if made.Load() != 1 || failed.Load() != 2 {
		t.Errorf("it was made %d times and tried %d times: %v", made.Load(), failed.Load(), w.events(id))
	}
}

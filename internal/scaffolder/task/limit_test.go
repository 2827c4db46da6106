package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/debug"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// by returns an order of a caller.
func by(o Order, user string) Order {
	o.User, o.By = user, Requester{Caller: identity.Caller{Kind: identity.User, Subject: user}}
	return o
}

// TestRunningTasks gives one caller ten waiting tasks: the task of another
// caller ends long before them, and all end.
func TestRunningTasks(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	count := newAction("test:count", func(ctx context.Context, c *action.Call) error {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		wait(ctx, time.Second)
		return ctx.Err()
	})
	w := start(t, onSQLite(t), Options{Workers: 4, Limits: Limits{RunningTasks: 2}, Actions: append(debug.Actions(debug.Options{}), count)})
	spec := `{steps: [{id: wait, action: debug:wait, input: {seconds: 1}}, {id: count, action: test:count}]}`
	var ids []string
	for range 10 {
		ids = append(ids, w.create(by(order(t, spec, `{}`), "user:default/ann")))
	}
	began := time.Now()
	other := w.create(by(order(t, `{steps: [{id: log, action: debug:log, input: {message: hello}}]}`, `{}`), "user:default/ben"))
	if got := w.waitForEnd(other); got.Status != taskstore.TaskCompleted {
		t.Errorf("task of the other caller is %s, want completed", got.Status)
	}
	took := time.Since(began)
	open, err := w.store.CountOpenTasks(t.Context(), ann.Caller.Key())
	if err != nil || open < 8 {
		t.Errorf("other task took %s and ended with %d of the ten left, want at least 8: %v", took, open, err)
	}
	t.Logf("other task took %s and ended with %d of the ten left", took, open)
	for _, id := range ids {
		if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted || got.Run != 1 {
			t.Errorf("task is %s in run %d: %v; want completed in run 1", got.Status, got.Run, w.events(id))
		}
	}
	t.Logf("all tasks took %s, at most %d concurrently", time.Since(began), most.Load())
	if most.Load() > 2 {
		t.Errorf("%d tasks ran concurrently, want at most 2", most.Load())
	}
}

// TestRunningTasksAreKept stops the process while tasks wait for others of their
// caller: the next process runs them all.
func TestRunningTasksAreKept(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	opts := Options{Key: key, Workers: 4, Limits: Limits{RunningTasks: 1}, Actions: []action.Action{newAction("test:hold", func(ctx context.Context, _ *action.Call) error {
		<-ctx.Done()
		return ctx.Err()
	})}}
	w := start(t, at, opts)
	spec := `{steps: [{id: hold, action: test:hold}]}`
	var ids []string
	for range 4 {
		ids = append(ids, w.create(order(t, spec, `{}`)))
	}
	w.eventually("one task runs and the others wait for it", func() bool {
		w.tasks.slots.mu.Lock()
		defer w.tasks.slots.mu.Unlock()
		return len(w.tasks.slots.waiting[ann.Caller.Key()]) == 3
	})
	w.stop()
	opts.Actions = []action.Action{newAction("test:hold", func(context.Context, *action.Call) error { return nil })}
	w = start(t, at, opts)
	for _, id := range ids {
		if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted {
			t.Errorf("task is %s: %v; want completed", got.Status, w.events(id))
		}
	}
}

// TestOpenTasks checks that a caller with too many tasks gets no more, also with
// concurrent requests.
func TestOpenTasks(t *testing.T) {
	t.Parallel()
	// No task runs, so none ends.
	w := open(t, onSQLite(t), Options{Limits: Limits{OpenTasks: 5}, Actions: []action.Action{echoAction()}})
	o := by(order(t, `{steps: []}`, `{}`), "User:default/Ann")
	var mu sync.Mutex
	var ids []string
	var refused []error
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			id, err := w.tasks.Create(t.Context(), o)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused = append(refused, err)
				return
			}
			ids = append(ids, id)
		})
	}
	all.Wait()
	if len(ids) != 5 || len(refused) != 15 {
		t.Fatalf("%d tasks were created and %d refused, want 5 and 15: %v", len(ids), len(refused), refused)
	}
	const want = "cannot create a task: user:default/ann has 5 open tasks, and scaffolder.limits.openTasks is 5; wait until some end, or cancel some"
	e, ok := errors.AsType[*Refused](refused[0])
	if !ok || e.Wait <= 0 {
		t.Fatalf("refusal is %#v, want it with a time to wait", refused[0])
	}
	if diff := cmp.Diff(want, e.Reason); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := w.tasks.Create(t.Context(), by(o, "user:default/ben")); err != nil {
		t.Errorf("task of another caller was refused: %v", err)
	}
	if _, err := w.tasks.Cancel(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	id := w.create(o)
	// A task that has ended counts again once it is retried.
	if _, err := w.tasks.Retry(t.Context(), ids[0], ann, nil); !errors.As(err, new(*Refused)) {
		t.Errorf("Retry above the limit returned %v, want a refusal", err)
	}
	if _, err := w.tasks.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if ok, err := w.tasks.Retry(t.Context(), ids[0], ann, nil); err != nil || !ok {
		t.Errorf("Retry returned %v: %v", ok, err)
	}
}

// TestDryRunsOfOneCaller checks that one caller leaves slots to others.
func TestDryRunsOfOneCaller(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan string, 10), make(chan struct{})
	hold := newAction("test:hold", func(ctx context.Context, c *action.Call) error {
		began <- c.User
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return nil
	})
	hold.DryRun = true
	w := open(t, onSQLite(t), Options{Actions: []action.Action{hold}})
	ends := make(chan error, 10)
	try := func(user, subject string) {
		o := by(order(t, `{steps: [{id: hold, action: test:hold}]}`, `{}`), user)
		if user == "" {
			o.By.Caller = identity.Caller{Kind: identity.Service, Subject: subject}
		}
		go func() {
			_, err := w.tasks.DryRun(t.Context(), DryOrder{Order: o})
			ends <- err
		}()
	}
	try("user:default/ann", "user:default/ann")
	await(t, "the first", began)
	try("user:default/ann", "user:default/Ann")
	// A dry run that waits does not take the slot of others.
	select {
	case who := <-began:
		t.Fatalf("two dry runs of %s run concurrently", who)
	case <-time.After(200 * time.Millisecond):
	}
	try("", "service:ci")
	await(t, "the other", began)
	if err := await(t, "the dry run above the limit", ends); err == nil || !isOverLimit(err) || !strings.Contains(err.Error(), "another dry run of yours is in progress") {
		t.Errorf("dry run returned %v, want the limit", err)
	}
	close(goOn)
	for range 2 {
		if err := await(t, "the end", ends); err != nil {
			t.Error(err)
		}
	}
	w.tasks.turns.mu.Lock()
	defer w.tasks.turns.mu.Unlock()
	if n := len(w.tasks.turns.all); n != 0 {
		t.Errorf("%d callers are left", n)
	}
}

// isOverLimit reports whether a request can be repeated later.
func isOverLimit(err error) bool {
	e, ok := errors.AsType[*Refused](err)
	return ok && e.Wait > 0
}

// TestSlots checks that slots are given in the order of the requests.
func TestSlots(t *testing.T) {
	s := newSlots(1)
	var said []string
	for _, id := range []string{"a", "b", "c", "b", "d"} {
		if err := s.take("ann", id); err != nil {
			said = append(said, fmt.Sprint(id, " ", err))
		}
	}
	if err := errors.Join(s.take("ben", "x"), s.take("", "y"), s.take("", "z")); err != nil {
		t.Error(err)
	}
	want := []string{"b postponed for 2s", "c postponed for 2.5s", "b postponed for 2s", "d postponed for 3s"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var next []string
	for range 5 {
		id := s.free("ann")
		if next = append(next, id); id == "" {
			break
		}
		if err := s.take("ann", id); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"b", "c", "d", ""}, next); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.free("ben")
	if len(s.running)+len(s.waiting) != 0 {
		t.Errorf("slots are left: %v, %v", s.running, s.waiting)
	}
}

package taskstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/internal/db"
)

// addTask stores an open task.
func addTask(tb testing.TB, s *Store, id string) {
	tb.Helper()
	err := s.AddTask(tb.Context(), &Task{ID: id, Spec: []byte(`{"a":1}`), CreatedBy: "user:default/ann", Template: "template:default/db", Secrets: []byte("hidden")})
	if err != nil {
		tb.Fatal(err)
	}
}

// logged returns n events.
func logged(n int, body string) []TaskEvent {
	events := make([]TaskEvent, n)
	for i := range events {
		events[i] = TaskEvent{Type: EventLog, Body: fmt.Appendf(nil, `{"message":"%d %s"}`, i, body)}
	}
	return events
}

func mustTask(tb testing.TB, s *Store, id string) *Task {
	tb.Helper()
	t, err := s.Task(tb.Context(), id)
	if err != nil || t == nil {
		tb.Fatalf("Task(%q) returned %v, %v", id, t, err)
	}
	return t
}

// TestTaskRun follows a task from its creation to its end.
func TestTaskRun(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx := t.Context()
		addTask(t, s, "one")
		want := &Task{ID: "one", Spec: []byte(`{"a":1}`), Status: TaskOpen, CreatedBy: "user:default/ann", Template: "template:default/db", Secrets: []byte("hidden")}
		moments := cmpopts.IgnoreFields(Task{}, "Created", "Beat")
		got := mustTask(t, s, "one")
		if diff := gocmp.Diff(want, got, moments); diff != "" || !got.Beat.IsZero() || time.Since(got.Created).Abs() > time.Minute {
			t.Fatalf("added task (-want, +got):\n%s%s %s", diff, got.Created, got.Beat)
		}
		if err := s.AddTask(ctx, &Task{ID: "one"}); !errors.Is(err, db.ErrExists) {
			t.Errorf("AddTask with an existing id returned %v, want db.ErrExists", err)
		}

		begun, err := s.BeginTask(ctx, "one", logged(1, "begun")...)
		want.Status, want.Run = TaskProcessing, 1
		if diff := gocmp.Diff(want, begun, moments); err != nil || diff != "" || begun.Beat.IsZero() {
			t.Fatalf("BeginTask returned %v, task differs: %s", err, diff)
		}
		first, err := s.WriteTask(ctx, "one", 1, TaskChange{Events: logged(3, "step"), State: []byte("{}")})
		if err != nil || first != 2 {
			t.Fatalf("first event is %d, want 2: %v", first, err)
		}
		if first, err := s.WriteTask(ctx, "one", 1, TaskChange{}); err != nil || first != 0 {
			t.Fatalf("first event without events is %d, want 0: %v", first, err)
		}
		if begun, err = s.BeginTask(ctx, "one"); err != nil || begun.Run != 2 || string(begun.State) != "{}" || string(begun.Secrets) != "hidden" {
			t.Fatalf("task in its second run is %+v: %v", begun, err)
		}
		for run := range int64(2) {
			if _, err := s.WriteTask(ctx, "one", run, TaskChange{Events: logged(1, "late")}); !errors.Is(err, ErrTaskLost) {
				t.Errorf("WriteTask of run %d returned %v, want ErrTaskLost", run, err)
			}
			if _, err := s.BeatTask(ctx, "one", run); !errors.Is(err, ErrTaskLost) {
				t.Errorf("BeatTask of run %d returned %v, want ErrTaskLost", run, err)
			}
		}
		if cancel, err := s.BeatTask(ctx, "one", 2); err != nil || cancel {
			t.Errorf("BeatTask returned %t, %v; want false", cancel, err)
		}
		if _, err := s.WriteTask(ctx, "one", 2, TaskChange{Status: TaskCompleted, State: []byte("{}"), Events: []TaskEvent{{Type: EventCompletion, Body: []byte("{}")}}}); err != nil {
			t.Fatal(err)
		}
		want.Status, want.Run, want.Secrets = TaskCompleted, 2, nil
		if diff := gocmp.Diff(want, mustTask(t, s, "one"), moments); diff != "" {
			t.Errorf("ended task (-want, +got):\n%s", diff)
		}
		if _, err := s.WriteTask(ctx, "one", 2, TaskChange{}); !errors.Is(err, ErrTaskLost) {
			t.Errorf("WriteTask of an ended task returned %v, want ErrTaskLost", err)
		}
		if again, err := s.BeginTask(ctx, "one"); again != nil || err != nil {
			t.Errorf("BeginTask of an ended task returned %+v, %v; want nil", again, err)
		}
		events, err := s.TaskEvents(ctx, "one", 3, 9)
		if err != nil || len(events) != 2 || events[0].N != 4 || events[1].N != 5 || events[1].Type != EventCompletion || time.Since(events[1].Created).Abs() > time.Minute {
			t.Errorf("events after 3 are %+v: %v", events, err)
		}
		marks, err := s.TaskMarks(ctx, []string{"one", "none", "\x00"})
		if diff := gocmp.Diff(map[string]int64{"one": 5}, marks); diff != "" || err != nil {
			t.Errorf("TaskMarks returned %v, marks differ: %s", err, diff)
		}
	})
}

// TestEventTime checks that an event keeps its time if it is written later.
func TestEventTime(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		addTask(t, s, "late")
		if _, err := s.BeginTask(t.Context(), "late"); err != nil {
			t.Fatal(err)
		}
		ago := []time.Duration{time.Hour, time.Minute, 0, -time.Hour}
		var events []TaskEvent
		for _, d := range ago {
			events = append(events, TaskEvent{Type: EventLog, Body: []byte("{}"), Created: time.Now().Add(-d)})
		}
		events = append(events, TaskEvent{Type: EventLog, Body: []byte("{}")})
		if _, err := s.WriteTask(t.Context(), "late", 1, TaskChange{Events: events}); err != nil {
			t.Fatal(err)
		}
		got, err := s.TaskEvents(t.Context(), "late", 0, 9)
		if err != nil || len(got) != len(events) {
			t.Fatalf("%d events are stored: %v", len(got), err)
		}
		for i, want := range append(ago[:3], 0, 0) {
			if age := time.Since(got[i].Created); (age - want).Abs() > 30*time.Second {
				t.Errorf("event %d is %v old, want %v; no event is in the future", i+1, age, want)
			}
		}
	})
}

// TestNoTask checks operations on unknown tasks.
func TestNoTask(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		for _, id := range []string{"none", "", "nul\x00", "bad\xff"} {
			if got, err := s.Task(t.Context(), id); got != nil || err != nil {
				t.Errorf("Task(%q) returned %+v, %v", id, got, err)
			}
			if got, err := s.BeginTask(t.Context(), id, logged(1, "")...); got != nil || err != nil {
				t.Errorf("BeginTask(%q) returned %+v, %v", id, got, err)
			}
			if got, ended, err := s.CancelTask(t.Context(), id); got != nil || ended || err != nil {
				t.Errorf("CancelTask(%q) returned %+v, %v", id, got, err)
			}
			if ok, err := s.RetryTask(t.Context(), id, TaskCaller{}, nil, TaskEvent{}); ok || err != nil {
				t.Errorf("RetryTask(%q) returned %t, %v", id, ok, err)
			}
			if got, err := s.TaskEvents(t.Context(), id, 0, NoLimit); got != nil || err != nil {
				t.Errorf("TaskEvents(%q) returned %+v, %v", id, got, err)
			}
			if _, err := s.WriteTask(t.Context(), id, 1, TaskChange{Events: logged(1, "")}); !errors.Is(err, ErrTaskLost) {
				t.Errorf("WriteTask(%q) returned %v", id, err)
			}
		}
		if err := s.AddTask(t.Context(), &Task{ID: "nul\x00"}); err == nil {
			t.Error("AddTask accepted an id that is not valid text")
		}
	})
}

// TestCancelRetry cancels tasks in every state, and retries them.
func TestCancelRetry(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before are changes that lead to the state; status, cancel and events are those
		// after the cancellation.
		before []TaskChange
		status string
		cancel bool
		events int
		retry  bool
	}{
		"Open":      {"A task that has not begun ends at once.", nil, TaskCancelled, true, 1, true},
		"Running":   {"A running task is ended by its process.", []TaskChange{{}}, TaskProcessing, true, 1, false},
		"Completed": {"A completed task stays completed.", []TaskChange{{Status: TaskCompleted}}, TaskCompleted, false, 1, false},
		"Failed":    {"A failed task stays failed.", []TaskChange{{Status: TaskFailed}}, TaskFailed, false, 1, true},
		"Cancelled": {"A second cancellation changes nothing.", []TaskChange{{Status: TaskCancelled}}, TaskCancelled, false, 1, true},
		"GivenBack": {"A task that was released is like one that has not begun.", []TaskChange{{Status: TaskOpen}}, TaskCancelled, true, 2, true},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				ctx := t.Context()
				addTask(t, s, name)
				for _, change := range c.before {
					if _, err := s.BeginTask(ctx, name, logged(1, "begun")...); err != nil {
						t.Fatal(err)
					}
					if _, err := s.WriteTask(ctx, name, 1, change); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					got, _, err := s.CancelTask(ctx, name)
					if err != nil || got.Status != c.status || got.Cancel != c.cancel {
						t.Errorf("%s: CancelTask returned %+v, %v", c.reason, got, err)
					}
					if over(c.status) != (got.Secrets == nil) {
						t.Errorf("%s: secrets are %q", c.reason, got.Secrets)
					}
					events, err := s.TaskEvents(ctx, name, 0, NoLimit)
					if err != nil || len(events) != c.events {
						t.Errorf("%s: task has %d events, %v", c.reason, len(events), err)
					}
				}
				if c.status == TaskProcessing {
					if cancel, err := s.BeatTask(ctx, name, 1); !cancel || err != nil {
						t.Errorf("%s: BeatTask returned %t, %v; want true", c.reason, cancel, err)
					}
					if begun, err := s.BeginTask(ctx, name); err != nil || !begun.Cancel {
						t.Errorf("%s: BeginTask returned %+v, %v; want it cancelled", c.reason, begun, err)
					}
				}
				ok, err := s.RetryTask(ctx, name, TaskCaller{}, []byte("new"), TaskEvent{Type: EventRecovered, Body: []byte("{}")})
				if ok != c.retry || err != nil {
					t.Errorf("%s: RetryTask returned %t, %v", c.reason, ok, err)
				}
				if got := mustTask(t, s, name); c.retry && (got.Status != TaskOpen || got.Cancel || string(got.Secrets) != "new") {
					t.Errorf("%s: retried task is %+v", c.reason, got)
				}
			})
		}
	})
}

// TestManyEvents writes more events at once than fit in a db.Statement, and
// reads them in pages of limited size.
func TestManyEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		const many, size = 700, 10_000
		s := open()
		addTask(t, s, "one")
		if _, err := s.BeginTask(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.WriteTask(t.Context(), "one", 1, TaskChange{Events: logged(many, strings.Repeat("x", size))}); err != nil {
			t.Fatal(err)
		}
		huge := TaskEvent{Type: EventLog, Body: []byte(strings.Repeat("y", 3<<20))}
		if _, err := s.WriteTask(t.Context(), "one", 1, TaskChange{Events: []TaskEvent{huge, huge}}); err != nil {
			t.Fatal(err)
		}
		var after int64
		for after < many+2 {
			page, err := s.TaskEvents(t.Context(), "one", after, NoLimit)
			if err != nil || len(page) == 0 {
				t.Fatalf("page after %d has %d events, %v", after, len(page), err)
			}
			bytes := 0
			for i, e := range page {
				if e.N != after+int64(i)+1 {
					t.Fatalf("page after %d has at index %d the event %d", after, i, e.N)
				}
				bytes += len(e.Body)
			}
			if last := len(page[len(page)-1].Body); bytes-last >= mostBodies {
				t.Errorf("page after %d has %d bytes in %d events", after, bytes, len(page))
			}
			after += int64(len(page))
		}
		if page, err := s.TaskEvents(t.Context(), "one", 10, 5); err != nil || len(page) != 5 || page[4].N != 15 {
			t.Errorf("page of five has %d events, %v", len(page), err)
		}
	})
}

// TestIdleTasks finds tasks that no process runs, and drops old ones.
func TestIdleTasks(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx := t.Context()
		for _, id := range []string{"open", "running", "stale", "failed", "old", "older"} {
			addTask(t, s, id)
		}
		for _, id := range []string{"running", "stale", "failed", "old", "older"} {
			if _, err := s.BeginTask(ctx, id, logged(2, "x")...); err != nil {
				t.Fatal(err)
			}
		}
		for id, status := range map[string]string{"failed": TaskFailed, "old": TaskCompleted, "older": TaskCancelled} {
			if _, err := s.WriteTask(ctx, id, 1, TaskChange{Status: status}); err != nil {
				t.Fatal(err)
			}
		}
		if idle, err := s.IdleTasks(ctx, time.Minute); err != nil || len(idle) != 0 {
			t.Errorf("idle tasks are %v, want none yet: %v", idle, err)
		}
		hour := time.Hour.Milliseconds()
		for query, arg := range map[string]string{
			"UPDATE tasks SET beat = beat - $1 WHERE id <> $2":                      "running",
			"UPDATE tasks SET created = created - $1 WHERE id = $2":                 "old",
			"UPDATE tasks SET created = created - 2 * $1 WHERE id IN ($2, 'stale')": "older",
		} {
			if _, err := s.Write.ExecContext(ctx, query, hour, arg); err != nil {
				t.Fatal(err)
			}
		}
		idle, err := s.IdleTasks(ctx, time.Minute)
		if diff := gocmp.Diff([]string{"stale", "open"}, idle); err != nil || diff != "" {
			t.Errorf("idle tasks: %v (-want, +got):\n%s", err, diff)
		}
		if n, err := s.DropTasks(ctx, time.Now().Add(-time.Minute)); n != 2 || err != nil {
			t.Errorf("%d tasks were dropped, want 2: %v", n, err)
		}
		for table, want := range map[string]int{"tasks": 4, "task_specs": 4, "task_events": 6} {
			var n int
			if err := s.Read.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != want {
				t.Errorf("%d rows of %s are left: %v", n, table, err)
			}
		}
	})
}

// TestDropMany drops more tasks than fit in one transaction, in two concurrent
// calls.
func TestDropMany(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		const many = 3*droppedTasks + 1
		for i := range many {
			addTask(t, s, fmt.Sprint(i))
			if _, _, err := s.CancelTask(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		var group sync.WaitGroup
		counts := make([]int, 2)
		for i, db := range []*Store{s, open()} {
			group.Go(func() {
				var err error
				if counts[i], err = db.DropTasks(context.Background(), time.Now().Add(time.Hour)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		left, err := s.DropTasks(t.Context(), time.Now().Add(time.Hour))
		if counts[0]+counts[1]+left != many || err != nil {
			t.Errorf("%v tasks were dropped and %d are left: %v", counts, left, err)
		}
	})
}

// TestEachTask passes tasks whose specs are too large to be read at once in
// order, and stops when told to.
func TestEachTask(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		want := []string{}
		for i, size := range []int{10, mostBodies + 1, mostBodies / 2, mostBodies / 2, 3, 2 * mostBodies, 0} {
			id := fmt.Sprintf("task %d", i)
			spec := strings.Repeat("x", size)
			if err := s.AddTask(t.Context(), &Task{ID: id, Spec: []byte(spec), Created: time.UnixMilli(int64(1000 + i))}); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s: %d", id, size))
		}
		for most := range len(want) + 1 {
			got := []string{}
			enough := errors.New("enough")
			total, err := s.EachTask(t.Context(), TaskQuery{Limit: NoLimit, Order: []TaskOrder{{Field: "created"}}}, func(task *Task) error {
				if len(got) == most {
					return enough
				}
				got = append(got, fmt.Sprintf("%s: %d", task.ID, len(task.Spec)))
				return nil
			})
			if most < len(want) && !errors.Is(err, enough) || most == len(want) && err != nil || total != len(want) {
				t.Errorf("with a limit of %d the total is %d: %v", most, total, err)
			}
			if diff := gocmp.Diff(want[:most], got); diff != "" {
				t.Errorf("first %d tasks (-want, +got):\n%s", most, diff)
			}
		}
		brief, err := s.TaskBrief(t.Context(), "task 0")
		if err != nil || brief == nil || len(brief.Spec) != 10 || brief.State != nil || brief.Secrets != nil {
			t.Errorf("brief task is %v: %v", brief, err)
		}
	})
}

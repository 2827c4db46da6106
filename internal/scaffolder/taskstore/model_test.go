package taskstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// taskModel is the expected state of the tasks.
type taskModel struct {
	tasks  map[string]*Task
	events map[string][]string
}

// apply runs an operation on the model and on the store, and compares the
// results.
func (m *taskModel) apply(t *rapid.T, s *Store, id string) {
	ctx := t.Context()
	have := m.tasks[id]
	events := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`, `{"c":1}`}), 0, 3).Draw(t, "events")
	written := make([]TaskEvent, len(events))
	for i, e := range events {
		written[i] = TaskEvent{Type: EventLog, Body: []byte(e)}
	}
	alive := have != nil && !over(have.Status)
	check := func(want, got any, err error) {
		t.Helper()
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%v (-want, +got):\n%s", err, diff)
		}
	}
	lost := func(err error) error {
		if errors.Is(err, ErrTaskLost) {
			return nil
		}
		return err
	}
	switch op := rapid.SampledFrom([]string{"add", "add", "begin", "begin", "write", "write", "write", "beat", "cancel", "retry"}).Draw(t, "op"); op {
	case "add":
		add := &Task{ID: id, Spec: []byte(`{"of":"` + id + `"}`), Secrets: []byte("s"), CreatedBy: "user:default/" + rapid.SampledFrom([]string{"a", "b"}).Draw(t, "by"),
			Template: "template:default/t", Created: time.UnixMilli(int64(rapid.IntRange(1, 3).Draw(t, "created"))).UTC()}
		err := s.AddTask(ctx, add)
		check(have != nil, errors.Is(err, db.ErrExists), nil)
		if have == nil {
			m.tasks[id] = add
		}
	case "begin":
		got, err := s.BeginTask(ctx, id, written...)
		check(alive, got != nil, err)
		if alive {
			have.Status, have.Run = TaskProcessing, have.Run+1
			m.events[id] = append(m.events[id], events...)
			check(have.Secrets, got.Secrets, nil)
			check(have.State, got.State, nil)
		}
	case "write", "beat":
		var run int64
		if have != nil {
			run = max(0, have.Run-int64(rapid.IntRange(0, 1).Draw(t, "late")))
		}
		ours := alive && have.Status == TaskProcessing && have.Run == run
		if op == "beat" {
			cancel, err := s.BeatTask(ctx, id, run)
			check(!ours, errors.Is(err, ErrTaskLost), lost(err))
			check(ours && have.Cancel, cancel, nil)
			return
		}
		c := TaskChange{Events: written, Status: rapid.SampledFrom([]string{"", "", "", TaskOpen, TaskCompleted, TaskFailed, TaskCancelled}).Draw(t, "status")}
		if rapid.Bool().Draw(t, "stateful") {
			c.State = []byte(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "state"))
		}
		first, err := s.WriteTask(ctx, id, run, c)
		check(!ours, errors.Is(err, ErrTaskLost), lost(err))
		if !ours {
			check(int64(0), first, nil)
			return
		}
		if len(events) > 0 {
			check(int64(len(m.events[id])+1), first, nil)
		}
		m.events[id] = append(m.events[id], events...)
		if c.State != nil {
			have.State = c.State
		}
		if c.Status != "" {
			have.Status = c.Status
		}
		if over(have.Status) {
			have.Secrets = nil
		}
		if have.Status == TaskCompleted {
			have.State = nil
		}
	case "cancel":
		if alive {
			have.Cancel = true
		}
		open := alive && have.Status == TaskOpen
		if open {
			have.Status, have.Secrets = TaskCancelled, nil
			m.events[id] = append(m.events[id], cancelledEarly)
		}
		got, ended, err := s.CancelTask(ctx, id)
		check(have != nil, got != nil, err)
		check(open, ended, err)
	case "retry":
		want := have != nil && (have.Status == TaskFailed || have.Status == TaskCancelled)
		got, err := s.RetryTask(ctx, id, TaskCaller{}, []byte("n"), TaskEvent{Type: EventRecovered, Body: []byte(`"again"`)})
		check(want, got, err)
		if want {
			have.Status, have.Cancel, have.Secrets = TaskOpen, false, []byte("n")
			m.events[id] = append(m.events[id], `"again"`)
		}
	}
}

// equals compares the store with the model.
func (m *taskModel) equals(t *rapid.T, s *Store, ids []string) {
	marks := map[string]int64{}
	var want []*Task
	for _, id := range ids {
		got, err := s.Task(t.Context(), id)
		if diff := gocmp.Diff(m.tasks[id], got, cmpopts.IgnoreFields(Task{}, "Beat")); diff != "" || err != nil {
			t.Fatalf("%v (-want, +got):\n%s", err, diff)
		}
		if got != nil && got.Beat.IsZero() != (got.Run == 0) {
			t.Fatalf("heartbeat of run %d is %s", got.Run, got.Beat)
		}
		events, err := s.TaskEvents(t.Context(), id, 0, NoLimit)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []string
		for i, e := range events {
			if e.N != int64(i)+1 {
				t.Fatalf("event %d is at index %d", e.N, i)
			}
			bodies = append(bodies, string(e.Body))
		}
		if diff := gocmp.Diff(m.events[id], bodies, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("events (-want, +got):\n%s", diff)
		}
		if n := len(bodies); n > 0 {
			marks[id] = int64(n)
		}
		if task := m.tasks[id]; task != nil {
			listed := *task
			listed.Secrets, listed.State = nil, nil
			want = append(want, &listed)
		}
	}
	got, err := s.TaskMarks(t.Context(), slices.Clone(ids))
	if diff := gocmp.Diff(marks, got); diff != "" || err != nil {
		t.Fatalf("marks: %v (-want, +got):\n%s", err, diff)
	}
	m.lists(t, s, want)
}

// lists queries some of the tasks.
func (m *taskModel) lists(t *rapid.T, s *Store, all []*Task) {
	q := TaskQuery{Limit: rapid.IntRange(-1, 3).Draw(t, "limit"), Offset: rapid.IntRange(0, 2).Draw(t, "offset")}
	q.Status = rapid.SliceOfN(rapid.SampledFrom([]string{TaskOpen, TaskProcessing, TaskFailed}), 0, 3).Draw(t, "statuses")
	q.CreatedBy = rapid.SliceOfN(rapid.SampledFrom([]string{"user:default/a", "user:default/b", "unknown"}), 0, 2).Draw(t, "users")
	fields := map[string]func(*Task) string{
		"created": func(t *Task) string { return t.Created.String() }, "status": func(t *Task) string { return t.Status },
		"createdBy": func(t *Task) string { return t.CreatedBy }, "template": func(t *Task) string { return t.Template },
	}
	for range rapid.IntRange(0, 2).Draw(t, "orders") {
		field := rapid.SampledFrom([]string{"created", "createdBy", "status", "template"}).Draw(t, "field")
		q.Order = append(q.Order, TaskOrder{field, rapid.Bool().Draw(t, "desc")})
	}
	all = slices.DeleteFunc(all, func(t *Task) bool {
		return len(q.Status) > 0 && !slices.Contains(q.Status, t.Status) || len(q.CreatedBy) > 0 && !slices.Contains(q.CreatedBy, t.CreatedBy)
	})
	order := q.Order
	if len(order) == 0 {
		order = []TaskOrder{{"created", true}}
	}
	slices.SortFunc(all, func(a, b *Task) int {
		for _, o := range order {
			if n := strings.Compare(fields[o.Field](a), fields[o.Field](b)); n != 0 && o.Desc {
				return -n
			} else if n != 0 {
				return n
			}
		}
		if order[len(order)-1].Desc {
			a, b = b, a
		}
		return strings.Compare(a.ID, b.ID)
	})
	total := len(all)
	all = all[min(q.Offset, total):]
	if q.Limit >= 0 {
		all = all[:min(q.Limit, len(all))]
	}
	got, n, err := s.Tasks(t.Context(), q)
	if diff := gocmp.Diff(all, got, cmpopts.IgnoreFields(Task{}, "Beat"), cmpopts.EquateEmpty()); diff != "" || err != nil || n != total {
		t.Fatalf("%+v: %d of %d, %v (-want, +got):\n%s", q, n, total, err, diff)
	}
}

// TestTasksAreLikeModel compares the store with a model.
func TestTasksAreLikeModel(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ids := []string{"t1", "t2", "t3"}
		rapid.Check(t, func(rt *rapid.T) {
			for _, table := range []string{"tasks", "task_specs", "task_events"} {
				if _, err := s.Write.ExecContext(rt.Context(), "DELETE FROM "+table); err != nil {
					rt.Fatal(err)
				}
			}
			m := &taskModel{tasks: map[string]*Task{}, events: map[string][]string{}}
			for range rapid.IntRange(1, 40).Draw(rt, "calls") {
				m.apply(rt, s, rapid.SampledFrom(ids).Draw(rt, "id"))
			}
			m.equals(rt, s, ids)
		})
	})
}

// TestTasksAtOnce has many callers begin the same tasks and write to them
// concurrently, on two replicas. Events are numbered without gaps, and no event
// of a run follows the start of the next.
func TestTasksAtOnce(t *testing.T) {
	const tasks, writers, turns = 3, 6, 40
	onBoth(t, func(t *testing.T, open func() *Store) {
		stores := []*Store{open(), open()}
		for i := range tasks {
			addTask(t, stores[0], fmt.Sprint(i))
		}
		var mu sync.Mutex
		runs := map[string]int64{} // The key is the text of the first event of the run.
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				s, random := stores[w%2], rand.New(rand.NewPCG(7, uint64(w)))
				run := map[string]int64{}
				for i := range turns {
					id := strconv.Itoa(random.IntN(tasks))
					if run[id] == 0 || random.IntN(4) == 0 {
						text := fmt.Sprintf(`"begun by %d at %d"`, w, i)
						task, err := s.BeginTask(context.Background(), id, TaskEvent{Type: EventRecovered, Body: []byte(text)})
						if err != nil || task == nil {
							t.Errorf("BeginTask returned %v, %v", task, err)
							return
						}
						run[id] = task.Run
						mu.Lock()
						runs[text] = task.Run
						mu.Unlock()
						continue
					}
					var events []TaskEvent
					for range random.IntN(20) {
						events = append(events, TaskEvent{Type: EventLog, Body: strconv.AppendInt(nil, run[id], 10)})
					}
					if _, err := s.WriteTask(context.Background(), id, run[id], TaskChange{Events: events}); err != nil && !errors.Is(err, ErrTaskLost) {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		for i := range tasks {
			events, err := stores[1].TaskEvents(t.Context(), strconv.Itoa(i), 0, NoLimit)
			if err != nil {
				t.Fatal(err)
			}
			var run int64
			for j, e := range events {
				if e.N != int64(j)+1 {
					t.Fatalf("event %d of task %d is at index %d", e.N, i, j)
				}
				if e.Type == EventRecovered {
					if run++; runs[string(e.Body)] != run {
						t.Fatalf("run %d of task %d has the start %s of run %d", run, i, e.Body, runs[string(e.Body)])
					}
					continue
				}
				if string(e.Body) != strconv.FormatInt(run, 10) {
					t.Fatalf("run %d of task %d has an event of run %s", run, i, e.Body)
				}
			}
			t.Logf("task %d has %d runs and %d events", i, run, len(events))
		}
	})
}

// TestTaskPlans checks that the databases scan an index for a page, and that an
// unknown sort field is refused.
func TestTaskPlans(t *testing.T) {
	cases := map[string]TaskQuery{
		"All":      {},
		"Oldest":   {Order: []TaskOrder{{Field: "created"}}},
		"Mine":     {CreatedBy: []string{"user:default/3"}},
		"Failed":   {Status: []string{TaskFailed}},
		"Statuses": {Order: []TaskOrder{{Field: "status"}, {Field: "created"}}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		fill := `INSERT INTO tasks (id, status, created_by, template, created, beat, run, cancel, events)
			WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000)
			SELECT 'id' || n, CASE n % 3 WHEN 0 THEN 'failed' ELSE 'completed' END, 'user:default/' || n % 5, 'template:default/t', n, n, 1, 0, 0 FROM c`
		if _, err := s.Write.ExecContext(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
		explain, bad := "EXPLAIN QUERY PLAN ", []string{"TEMP B-TREE"}
		if s.Client == db.Postgres {
			if _, err := s.Write.ExecContext(t.Context(), "ANALYZE tasks"); err != nil {
				t.Fatal(err)
			}
			explain, bad = "EXPLAIN ", []string{"Sort", "Seq Scan", "Bitmap"}
		}
		for name, q := range cases {
			t.Run(name, func(t *testing.T) {
				q.Limit = 50
				order, err := taskOrder(q.Order)
				if err != nil {
					t.Fatal(err)
				}
				var plan []string
				b := selectTasks(q, order)
				if err := database.Each(t.Context(), s.Read, explain+b.String(), b.Args, database.Into(&plan)); err != nil {
					t.Fatal(err)
				}
				for _, word := range bad {
					if text := strings.Join(plan, "\n"); strings.Contains(text, word) || !strings.Contains(text, "tasks_") {
						t.Errorf("%s\n%s", b.String(), text)
					}
				}
			})
		}
		if _, _, err := s.Tasks(t.Context(), TaskQuery{Order: []TaskOrder{{Field: "owner"}}}); err == nil || !strings.Contains(err.Error(), `cannot order tasks by "owner"; use created`) {
			t.Errorf("unknown sort field returned %v", err)
		}
	})
}

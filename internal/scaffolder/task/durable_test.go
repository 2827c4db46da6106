package task

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// childEnv makes the test program a process that runs tasks until it is killed.
// Its value is the database.
const childEnv = "TASK_TEST_CHILD"

// counted returns an action that records each run in a file, and waits while
// there is a file hold.
func counted(dir string) action.Action {
	var mu sync.Mutex
	return newAction("test:count", func(ctx context.Context, c *action.Call) error {
		mu.Lock()
		f, err := os.OpenFile(filepath.Join(dir, "done"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, c.Key, c.Secrets["token"].Reveal())
			_ = f.Close()
		}
		mu.Unlock()
		if err != nil {
			return err
		}
		if err := c.Workspace.Write(c.Step, []byte(c.Step)); err != nil {
			return err
		}
		c.Output("step", tree.Str(c.Step))
		for {
			if _, err := os.Stat(filepath.Join(dir, "hold-"+c.Step)); err != nil {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}

func (p place) hold(tb testing.TB, step string) (release func()) {
	tb.Helper()
	at := filepath.Join(p.dir, "hold-"+step)
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	return func() { _ = os.Remove(at) }
}

// done returns the recorded lines.
func (p place) done() []string {
	data, _ := os.ReadFile(filepath.Join(p.dir, "done"))
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// child runs tasks until it is killed.
func child() {
	var given struct{ Client, Dir, URL string }
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &given); err != nil {
		panic(err)
	}
	// The parent process may end first.
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(1) }()
	at := place{given.Client, given.Dir, given.URL}
	start(&fatal{}, at, Options{Key: key, Actions: []action.Action{counted(at.dir)}})
	fmt.Println("ready")
	select {}
}

// fatal implements the part of testing.TB that a world needs.
type fatal struct{ testing.TB }

func (*fatal) Helper()        {}
func (*fatal) Cleanup(func()) {}
func (*fatal) Fatal(args ...any) {
	panic(fmt.Sprint(args...))
}
func (*fatal) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func startChild(t *testing.T, at place) (kill func()) {
	t.Helper()
	given, err := json.Marshal(map[string]string{"Client": at.client, "Dir": at.dir, "URL": at.url})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(given))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill() // The child may have ended already.
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	says := make(chan string, 1)
	go func() {
		s := bufio.NewScanner(out)
		s.Scan()
		says <- s.Text()
	}()
	if got := await(t, "the child", says); got != "ready" {
		t.Fatalf("child printed %q, want ready", got)
	}
	return kill
}

const threeSteps = `{steps: [{id: one, action: test:count}, {id: two, action: test:count}, {id: three, action: test:count}],
	output: {all: "${{ steps.one.output.step }} ${{ steps.two.output.step }} ${{ steps.three.output.step }}"}}`

// checkResumed checks that a task that was interrupted in its second step completed,
// without repeating completed steps.
func checkResumed(t *testing.T, w *world, at place, id string) {
	t.Helper()
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted || got.Secrets != nil || got.State != nil {
		t.Errorf("task is %s: %v; want completed", got.Status, w.events(id))
	}
	want := []string{id + "/0 hunter2", id + "/1 hunter2", id + "/1 hunter2", id + "/2 hunter2"}
	if diff := cmp.Diff(want, at.done()); diff != "" {
		t.Errorf("recorded runs (-want +got):\n%s", diff)
	}
	events := w.events(id)
	if !slices.ContainsFunc(events, func(s string) bool {
		return strings.HasPrefix(s, "log|two||The process that ran the task is gone")
	}) {
		t.Errorf("no event reports the takeover: %v", events)
	}
	for _, e := range events {
		if strings.Contains(e, "failed") {
			t.Errorf("task has the event %s", e)
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		if n := len(slices.DeleteFunc(slices.Clone(events), func(s string) bool {
			return s != "log|"+name+"|completed|Finished step test:count"
		})); n != 1 {
			t.Errorf("step %s ended %d times, want once", name, n)
		}
	}
	all, err := w.tasks.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(all[len(all)-1].Body); !strings.Contains(got, `"all":"one two three"`) {
		t.Errorf("output is %s", got)
	}
}

func secretOrder(t *testing.T, spec string) Order {
	o := order(t, spec, `{}`)
	o.Secrets = hunter
	return o
}

// TestStopped stops a process in the middle of a step, and checks that another
// one resumes the task.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]func(testing.TB) place{"SQLite": onSQLite, "PostgreSQL": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := where(t)
			release := at.hold(t, "two")
			opts := Options{Key: key, Actions: []action.Action{counted(at.dir)}}
			first := start(t, at, opts)
			id := first.create(secretOrder(t, threeSteps))
			first.eventually("the task is in step two", func() bool { return len(at.done()) == 2 })
			first.stop()
			release()
			second := start(t, at, opts)
			checkResumed(t, second, at, id)
		})
	}
}

// TestKilled kills a process in the middle of a step, and checks that another
// one resumes the task.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]func(testing.TB) place{"SQLite": onSQLite, "PostgreSQL": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := where(t)
			release := at.hold(t, "two")
			kill := startChild(t, at)
			asker := open(t, at, Options{Key: key})
			id := asker.create(secretOrder(t, threeSteps))
			asker.eventually("the task is in step two", func() bool { return len(at.done()) == 2 })
			kill()
			release()
			asker.stop()
			left, err := filepath.Glob(filepath.Join(at.dir, "work", "process-*", id))
			if err != nil || len(left) != 1 {
				t.Fatalf("killed process left the workspaces %v, want one: %v", left, err)
			}
			w := start(t, at, Options{Key: key, Actions: []action.Action{counted(at.dir)}})
			if _, err := os.Stat(left[0]); !os.IsNotExist(err) {
				t.Errorf("workspace of the killed process still exists: %v", err)
			}
			began := time.Now()
			checkResumed(t, w, at, id)
			t.Logf("task was taken over after %s", time.Since(began))
		})
	}
}

// TestLost has another process begin a task that still runs: the first one
// stops, and writes nothing any more.
func TestLost(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	began, ended := make(chan struct{}), make(chan error, 1)
	w := start(t, at, Options{beat: 50 * time.Millisecond, sweep: time.Hour, idle: time.Hour, Actions: []action.Action{newAction("test:wait", func(ctx context.Context, c *action.Call) error {
		close(began)
		<-ctx.Done()
		c.Logf("too late")
		ended <- context.Cause(ctx)
		return ctx.Err()
	})}})
	id := w.create(order(t, `{steps: [{action: test:wait}]}`, `{}`))
	await(t, "the step", began)
	if got, err := w.store.BeginTask(t.Context(), id); err != nil || got == nil {
		t.Fatalf("BeginTask returned %v: %v", got, err)
	}
	if err := await(t, "the end", ended); err.Error() != taskstore.ErrTaskLost.Error() {
		t.Errorf("step ended with %v, want ErrTaskLost", err)
	}
	w.eventually("the task does not run", func() bool { return !w.tasks.isRunning(id) })
	for _, e := range w.events(id) {
		if strings.Contains(e, "too late") || strings.HasPrefix(e, "completion") {
			t.Errorf("lost run wrote %s", e)
		}
	}
	if got, err := w.store.Task(t.Context(), id); err != nil || got.Status != taskstore.TaskProcessing || got.Run < 2 {
		t.Errorf("task is %+v: %v; want it processing in the second run", got, err)
	}
}

// TestForgotten checks that a stored task without a job is queued.
func TestForgotten(t *testing.T) {
	t.Parallel()
	w := start(t, onSQLite(t), Options{Actions: []action.Action{echoAction()}})
	made, err := order(t, `{steps: [{action: test:say, input: {text: x}}]}`, `{}`).spec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	task := &taskstore.Task{ID: "forgotten", Spec: made.json, Template: made.template}
	if err := w.store.AddTask(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if got := w.waitForEnd(task.ID); got.Status != taskstore.TaskCompleted {
		t.Errorf("task is %s, want completed", got.Status)
	}
}

// TestOld checks that tasks that ended long ago are removed.
func TestOld(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	w := open(t, at, Options{})
	old := &taskstore.Task{ID: "old", Spec: []byte("{}"), Created: time.Now().Add(-48 * time.Hour)}
	if err := w.store.AddTask(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.CancelTask(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w = start(t, at, Options{Keep: 24 * time.Hour})
	w.eventually("the task is removed", func() bool {
		got, err := w.store.Task(t.Context(), "old")
		return err == nil && got == nil
	})
}

// TestPoison checks that a task that repeatedly ends its process fails.
func TestPoison(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	w := open(t, at, Options{})
	id := w.create(order(t, `{steps: [{action: test:say, input: {text: x}}]}`, `{}`))
	for range mostRuns {
		if _, err := w.store.BeginTask(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	w.stop()
	w = start(t, at, Options{Actions: []action.Action{echoAction()}})
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed {
		t.Errorf("task is %s, want failed", got.Status)
	}
	const why = "cannot continue the task: started 25 times, and each time the process ended before a step did"
	if diff := cmp.Diff([]string{"log||failed|" + why, "completion|||Run completed with status: failed|Error|" + why}, w.events(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The cause may have been fixed.
	if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || !ok {
		t.Fatalf("Retry failed: %v", err)
	}
	w.eventually("the task is completed", func() bool { return w.waitForEnd(id).Status == taskstore.TaskCompleted })
}

// TestLargeWorkspace checks that a task whose workspace is too large to store
// runs in its process, but cannot be resumed by another.
func TestLargeWorkspace(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	release := at.hold(t, "two")
	opts := Options{Key: key, Actions: []action.Action{counted(at.dir), newAction("test:large", func(_ context.Context, c *action.Call) error {
		data := make([]byte, 20<<20)
		x := uint32(1)
		for i := range data {
			x = x*1664525 + 1013904223
			data[i] = byte(x >> 24)
		}
		return c.Workspace.Write("large", data)
	})}}
	w := start(t, at, opts)
	spec := `{steps: [{id: one, action: test:large}, {id: two, action: test:count}]}`
	id := w.create(order(t, spec, `{}`))
	w.eventually("the task is in step two", func() bool { return len(at.done()) == 1 && at.done()[0] != "" })
	w.stop()
	release()
	w = start(t, at, opts)
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed {
		t.Errorf("task is %s, want failed", got.Status)
	}
	events := w.events(id)
	const why = "cannot continue the task: workspace of the previous run was too large to save; create the task again"
	if got := events[len(events)-1]; got != "completion|||Run completed with status: failed|Error|"+why {
		t.Errorf("last event is %s", got)
	}
	id = w.create(order(t, spec, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted {
		t.Errorf("task without a stop is %s: %v; want completed", got.Status, w.events(id))
	}
}

// TestUnkept removes the files of a step before it ends. The step is not run
// again, and the task cannot be retried without its files.
func TestUnkept(t *testing.T) {
	t.Parallel()
	at := onSQLite(t)
	w := start(t, at, Options{Key: key, Actions: []action.Action{counted(at.dir), echoAction(), newAction("test:remove", func(_ context.Context, c *action.Call) error {
		found, err := filepath.Glob(filepath.Join(at.dir, "work", "process-*", c.Task))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("there is %v: %w", found, err)
		}
		return os.RemoveAll(found[0])
	})}})
	id := w.create(order(t, `{steps: [{id: one, action: test:count}, {id: two, action: test:remove}, {id: three, action: test:say, input: {text: x}}]}`, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed || got.Run != 1 {
		t.Errorf("task is %s in run %d: %v; want failed in run 1", got.Status, got.Run, w.events(id))
	}
	if all := strings.Join(w.events(id), "\n"); !strings.Contains(all, "another program removed the workspace") || strings.Contains(all, at.dir) {
		t.Errorf("events are %s, want the cause without the path", all)
	}
	if ok, err := w.tasks.Retry(t.Context(), id, ann, nil); err != nil || !ok {
		t.Fatalf("Retry failed: %v", err)
	}
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed || !strings.Contains(strings.Join(w.events(id), "\n"), "with the files of its steps; create the task again") {
		t.Errorf("retried task is %s: %v; want failed", got.Status, w.events(id))
	}
}

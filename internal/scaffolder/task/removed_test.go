package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// TestWorkspaceRemoved removes the folder of the workspaces while a task runs,
// as cleaners of temporary files do: the task reports it, and later tasks run.
func TestWorkspaceRemoved(t *testing.T) {
	at := onSQLite(t)
	work := filepath.Join(at.dir, "work")
	w := start(t, at, Options{Key: key, Actions: []action.Action{
		echoAction(),
		newAction("test:clean", func(context.Context, *action.Call) error { return os.RemoveAll(work) }),
		newAction("test:write", func(_ context.Context, c *action.Call) error { return c.Workspace.Write("x", []byte("x")) }),
	}})
	const why = "another program removed the workspace"
	cases := map[string]struct {
		reason, spec, status, message string
	}{
		"Before":  {"A task with its folder completes.", `{steps: [{id: a, action: test:write}]}`, taskstore.TaskCompleted, ""},
		"Between": {"A task whose stored files are lost fails.", `{steps: [{id: a, action: test:clean}, {id: b, action: test:say, input: {text: hello}}]}`, taskstore.TaskFailed, why},
		"During":  {"A step without its folder fails.", `{steps: [{id: a, action: test:say, input: {text: hello}}, {id: b, action: test:clean, each: [1]}, {id: c, action: test:write}]}`, taskstore.TaskFailed, why},
		"Last":    {"A removed folder that is not needed any more does not matter.", `{steps: [{id: a, action: test:clean}]}`, taskstore.TaskCompleted, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id := w.create(order(t, tc.spec, `{}`))
			got := w.waitForEnd(id)
			events := w.events(id)
			if got.Status != tc.status || !strings.Contains(events[len(events)-1], tc.message) {
				t.Errorf("%s: task is %s, %q", tc.reason, got.Status, events)
			}
			if err := w.tasks.Ready(); err != nil {
				t.Errorf("Ready returned %v", err)
			}
			next := w.create(order(t, `{steps: [{id: a, action: test:write}]}`, `{}`))
			if got := w.waitForEnd(next); got.Status != taskstore.TaskCompleted {
				t.Errorf("next task is %s: %q; want completed", got.Status, w.events(next))
			}
		})
	}
}

// TestWorkspaceReplaced puts a file in the place of the folder: tasks fail and
// readiness reports it, until the file is removed.
func TestWorkspaceReplaced(t *testing.T) {
	at := onSQLite(t)
	work := filepath.Join(at.dir, "work")
	w := start(t, at, Options{Key: key, Actions: []action.Action{echoAction()}})
	if err := w.tasks.Ready(); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		err := errors.Join(os.RemoveAll(work), os.WriteFile(work, nil, 0o600))
		if err == nil {
			break
		}
		// The sweeper of the folder may create it again in between.
		if try == 100 {
			t.Fatal(err)
		}
	}
	if err := w.tasks.Ready(); err == nil || !strings.Contains(err.Error(), "workspace folder "+work) {
		t.Errorf("Ready returned %v, want an error with the folder", err)
	}
	spec := `{steps: [{id: a, action: test:say, input: {text: hello}}]}`
	id := w.create(order(t, spec, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskFailed || !strings.Contains(w.events(id)[0], "cannot create workspace: cannot") {
		t.Errorf("task is %s: %q; want failed", got.Status, w.events(id))
	}
	if strings.Contains(strings.Join(w.events(id), ""), work) {
		t.Errorf("event contains the path of the folder: %q", w.events(id))
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	if err := w.tasks.Ready(); err != nil {
		t.Errorf("Ready returned %v", err)
	}
	if got := w.waitForEnd(w.create(order(t, spec, `{}`))); got.Status != taskstore.TaskCompleted {
		t.Errorf("task is %s, want completed", got.Status)
	}
}

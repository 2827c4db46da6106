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

// TestWorkspaceRemoved removes the folder of the workspaces while a task runs, as
// programs do that clean up temporary files: the task says so, and those that
// follow run.
func TestWorkspaceRemoved(t *testing.T) {
	at := onSQLite(t)
	work := filepath.Join(at.dir, "work")
	w := start(t, at, Options{Key: key, Actions: []action.Action{
		say(),
		does("test:clean", func(context.Context, *action.Call) error { return os.RemoveAll(work) }),
		does("test:write", func(_ context.Context, c *action.Call) error { return c.Workspace.Write("x", []byte("x")) }),
	}})
	const why = "its workspace was removed from outside the portal"
	cases := map[string]struct {
		reason, spec, status, message string
	}{
		"Before":  {"there is nothing wrong yet", `{steps: [{id: a, action: test:write}]}`, taskstore.TaskCompleted, ""},
		"Between": {"what steps have left for others is lost", `{steps: [{id: a, action: test:clean}, {id: b, action: test:say, input: {text: hello}}]}`, taskstore.TaskFailed, why},
		"During":  {"a step finds no folder", `{steps: [{id: a, action: test:say, input: {text: hello}}, {id: b, action: test:clean, each: [1]}, {id: c, action: test:write}]}`, taskstore.TaskFailed, why},
		"Last":    {"nothing needs it any more", `{steps: [{id: a, action: test:clean}]}`, taskstore.TaskCompleted, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id := w.create(order(t, tc.spec, `{}`))
			got := w.over(id)
			events := w.events(id)
			if got.Status != tc.status || !strings.Contains(events[len(events)-1], tc.message) {
				t.Errorf("%s: it is %s, %q", tc.reason, got.Status, events)
			}
			if err := w.tasks.Ready(); err != nil {
				t.Errorf("tasks cannot run: %v", err)
			}
			next := w.create(order(t, `{steps: [{id: a, action: test:write}]}`, `{}`))
			if got := w.over(next); got.Status != taskstore.TaskCompleted {
				t.Errorf("the next task is %s: %q", got.Status, w.events(next))
			}
		})
	}
}

// TestWorkspaceReplaced has something else in the place of the folder: tasks
// fail, and readiness says so, until it is gone.
func TestWorkspaceReplaced(t *testing.T) {
	at := onSQLite(t)
	work := filepath.Join(at.dir, "work")
	w := start(t, at, Options{Key: key, Actions: []action.Action{say()}})
	if err := w.tasks.Ready(); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		err := errors.Join(os.RemoveAll(work), os.WriteFile(work, nil, 0o600))
		if err == nil {
			break
		}
		// Whoever sweeps the folder may make it again in between.
		if try == 100 {
			t.Fatal(err)
		}
	}
	if err := w.tasks.Ready(); err == nil || !strings.Contains(err.Error(), "the folder for workspaces "+work) {
		t.Errorf("readiness says %v", err)
	}
	spec := `{steps: [{id: a, action: test:say, input: {text: hello}}]}`
	id := w.create(order(t, spec, `{}`))
	if got := w.over(id); got.Status != taskstore.TaskFailed || !strings.Contains(w.events(id)[0], "cannot make the workspace: cannot") {
		t.Errorf("the task is %s: %q", got.Status, w.events(id))
	}
	if strings.Contains(strings.Join(w.events(id), ""), work) {
		t.Errorf("the task tells where the folder is: %q", w.events(id))
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	if err := w.tasks.Ready(); err != nil {
		t.Errorf("readiness says %v", err)
	}
	if got := w.over(w.create(order(t, spec, `{}`))); got.Status != taskstore.TaskCompleted {
		t.Errorf("the task is %s", got.Status)
	}
}

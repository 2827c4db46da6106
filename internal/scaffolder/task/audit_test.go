package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// notes are the entries of a test's audit log.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf(format, args...))
}

// of returns the notes about tasks, with their ids replaced by positions.
func (n *notes) of(ids ...string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for i, id := range ids {
		for _, line := range n.all {
			var rest string
			if _, err := fmt.Sscanf(line, id+" %s", &rest); err == nil {
				out = append(out, fmt.Sprintf("%d%s", i, line[len(id):]))
			}
		}
	}
	return out
}

func (n *notes) audit() Audit {
	return Audit{
		Ended: func(of Moment, status string) {
			n.add("%s ended %s %s by %s in step %q", of.Task, of.Template, status, of.Caller.Subject, of.Step)
		},
		Acted: func(of Moment, event string, target map[string]string, err error) {
			n.add("%s acted %s %v %v by %s in step %q", of.Task, event, target, err, of.Caller.Subject, of.Step)
		},
	}
}

// TestAudit checks that the audit log has an entry for each task that ends and
// for each change of its actions, with secrets masked, and none for a dry run.
func TestAudit(t *testing.T) {
	t.Parallel()
	told := &notes{}
	writes := action.Action{ID: "test:write", DryRun: true, Run: func(_ context.Context, c *action.Call) error {
		c.Record("test.write", map[string]string{"name": c.Input.Get("name").Str()}, nil)
		return nil
	}}
	breaks := newAction("test:break", func(_ context.Context, c *action.Call) error {
		c.Record("test.write", nil, errors.New("no "+c.Input.Get("name").Str()))
		return errors.New("broken")
	})
	w := start(t, onSQLite(t), Options{Key: key, Actions: []action.Action{writes, breaks, waits(make(chan string, 9), nil)}, Audit: told.audit()})
	one := w.create(secretOrder(t, `{steps: [{id: put, action: test:write, input: {name: 'x-${{ secrets.token }}'}}]}`))
	two := w.create(secretOrder(t, `{steps: [{id: put, action: test:write, input: {name: y}}, {id: bad, action: test:break, input: {name: '${{ secrets.token }}'}}]}`))
	three := w.create(order(t, twoWaits, `{}`))
	w.eventually("the third task runs", func() bool { return w.tasks.isRunning(three) })
	if _, err := w.tasks.Cancel(t.Context(), three); err != nil {
		t.Fatal(err)
	}
	dry := order(t, `{steps: [{id: put, action: test:write, input: {name: z}}]}`, `{}`)
	if _, err := w.tasks.DryRun(t.Context(), DryOrder{Order: dry}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`0 acted test.write map[name:x-***] <nil> by user:default/ann in step "put"`,
		`0 ended template:default/demo completed by user:default/ann in step ""`,
		`1 acted test.write map[name:y] <nil> by user:default/ann in step "put"`,
		`1 acted test.write map[] no *** by user:default/ann in step "bad"`,
		`1 ended template:default/demo failed by user:default/ann in step "bad"`,
		`2 ended template:default/demo cancelled by user:default/ann in step ""`,
	}
	w.eventually("all tasks ended", func() bool { return len(told.of(one, two, three)) >= len(want) })
	w.stop()
	if diff := cmp.Diff(want, told.of(one, two, three)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if total := len(told.of(one, two, three)); len(told.all) != total {
		t.Errorf("dry run was recorded: %q", told.all)
	}
}

// TestAuditCancelEarly checks that a task that ends before it begins is recorded
// once.
func TestAuditCancelEarly(t *testing.T) {
	t.Parallel()
	told := &notes{}
	w := open(t, onSQLite(t), Options{Audit: told.audit()})
	id := w.create(order(t, twoWaits, `{}`))
	for range 2 {
		if got, err := w.tasks.Cancel(t.Context(), id); err != nil || got.Status != taskstore.TaskCancelled {
			t.Fatalf("task is %v (%v), want it cancelled", got, err)
		}
	}
	want := []string{`0 ended template:default/demo cancelled by user:default/ann in step ""`}
	if diff := cmp.Diff(want, told.of(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package scaffolder_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// cancel cancels a task.
func (c client) cancel(id string) {
	c.t.Helper()
	if s := c.want(http.StatusOK, http.MethodPost, api+"/tasks/"+id+"/cancel", nil).Get("status").Str(); s != taskstore.TaskCancelled {
		c.t.Errorf("the answer to the cancelling is %s", s)
	}
}

// TestCancelInside stops a step that would take minutes. Those behind it do not
// begin.
func TestCancelInside(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "cancel-inside")
	c.push("cancel-inside", template("cancel-inside", "{id: wait, action: 'debug:wait', input: {minutes: 9}}, "+applying(ns)))
	c.form("cancel-inside", "")
	id := c.create("cancel-inside", parse(t, "{name: one, size: small, cluster: real}"), nil)
	until(t, "the step waits", func() bool {
		_, events := c.send(http.MethodGet, api+"/tasks/"+id+"/events", nil)
		return strings.Contains(string(events), "waiting for 9m")
	})
	began := time.Now()
	c.cancel(id)
	h := c.follow(id)
	if took := time.Since(began); h.status != taskstore.TaskCancelled || took > patience/2 {
		t.Errorf("after %v it is %s:\n%s", took, h.status, h.log())
	}
	if strings.Contains(h.log(), "Beginning step kubernetes:apply") || w.find(t, things+ns+"/things/one") != nil {
		t.Errorf("it went on:\n%s", h.log())
	}
}

// TestCancelBetween cancels during a step that cannot be stopped: it ends, and
// the next does not begin. Run again, the task goes on there.
func TestCancelBetween(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "cancel-between")
	c.push("cancel-between", template("cancel-between", holding("cancel-between")+", "+applying(ns)))
	c.form("cancel-between", "")
	id := c.create("cancel-between", parse(t, "{name: one, size: small, cluster: real}"), nil)
	held(t, "cancel-between")
	c.cancel(id)
	release("cancel-between")
	h := c.follow(id)
	if h.status != taskstore.TaskCancelled || strings.Contains(h.log(), "Beginning step kubernetes:apply") || w.find(t, things+ns+"/things/one") != nil {
		t.Fatalf("it is %s, and went on:\n%s", h.status, h.log())
	}
	c.cancel(id)
	if s := c.task(id).Get("status").Str(); s != taskstore.TaskCancelled {
		t.Errorf("cancelled twice it is %s", s)
	}
}

// TestCancelWaiting cancels a task that waits for its turn: it never begins.
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	b := start(t, sections{"scaffolder": sections{"concurrentTasksLimit": 1}}, hold)
	c := b.client(t)
	c.push("waiting", template("waiting", holding("waiting")), template("next", "{id: say, action: 'debug:log', input: {message: never}}"))
	c.form("next", "")
	first := c.create("waiting", tree.Obj(), nil)
	held(t, "waiting")
	second := c.create("next", tree.Obj(), nil)
	c.cancel(second)
	if s := c.task(second).Get("status").Str(); s != taskstore.TaskCancelled {
		t.Errorf("it is %s", s)
	}
	release("waiting")
	if h := c.follow(first); h.status != taskstore.TaskCompleted {
		t.Errorf("it is %s:\n%s", h.status, h.log())
	}
	if h := c.follow(second); h.status != taskstore.TaskCancelled || strings.Contains(h.log(), "never") {
		t.Errorf("it is %s:\n%s", h.status, h.log())
	}
}

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
		c.t.Errorf("cancel returned status %s, want cancelled", s)
	}
}

// TestCancelInside cancels a step that would take minutes, and checks that
// later steps do not begin.
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
		t.Errorf("after %v the task is %s, want cancelled:\n%s", took, h.status, h.log())
	}
	if strings.Contains(h.log(), "Beginning step kubernetes:apply") || w.find(t, things+ns+"/things/one") != nil {
		t.Errorf("task continued after it was cancelled:\n%s", h.log())
	}
}

// TestCancelBetween cancels a task during a step that cannot be interrupted. It
// checks that the step ends and that the next does not begin.
func TestCancelBetween(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "cancel-between")
	c.push("cancel-between", template("cancel-between", holdStep("cancel-between")+", "+applying(ns)))
	c.form("cancel-between", "")
	id := c.create("cancel-between", parse(t, "{name: one, size: small, cluster: real}"), nil)
	waitForHold(t, "cancel-between")
	c.cancel(id)
	release("cancel-between")
	h := c.follow(id)
	if h.status != taskstore.TaskCancelled || strings.Contains(h.log(), "Beginning step kubernetes:apply") || w.find(t, things+ns+"/things/one") != nil {
		t.Fatalf("task is %s and continued after it was cancelled:\n%s", h.status, h.log())
	}
	c.cancel(id)
	if s := c.task(id).Get("status").Str(); s != taskstore.TaskCancelled {
		t.Errorf("task is %s after it was cancelled twice, want cancelled", s)
	}
}

// TestCancelWaiting checks that a queued task that is cancelled never begins.
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	b := start(t, sections{"scaffolder": sections{"concurrentTasksLimit": 1}}, hold)
	c := b.client(t)
	c.push("waiting", template("waiting", holdStep("waiting")), template("next", "{id: say, action: 'debug:log', input: {message: never}}"))
	c.form("next", "")
	first := c.create("waiting", tree.Obj(), nil)
	waitForHold(t, "waiting")
	second := c.create("next", tree.Obj(), nil)
	c.cancel(second)
	if s := c.task(second).Get("status").Str(); s != taskstore.TaskCancelled {
		t.Errorf("queued task is %s, want cancelled", s)
	}
	release("waiting")
	if h := c.follow(first); h.status != taskstore.TaskCompleted {
		t.Errorf("first task is %s, want completed:\n%s", h.status, h.log())
	}
	if h := c.follow(second); h.status != taskstore.TaskCancelled || strings.Contains(h.log(), "never") {
		t.Errorf("second task is %s, want cancelled:\n%s", h.status, h.log())
	}
}

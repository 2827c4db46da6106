package scaffolder_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// lineSize is the length of a line of flood.
const lineSize = 50_000

// flood is an action that writes a large log.
var flood = action.Action{
	ID: "test:flood", Description: "Logs a lot", Input: tree.Obj(tree.F("type", tree.Str("object"))),
	Run: func(ctx context.Context, c *action.Call) error {
		lines, err := strconv.Atoi(c.Input.Get("lines").Scalar())
		text := strings.Repeat("x", lineSize)
		for i := range lines {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c.Logf("%d %s", i, text)
		}
		return err
	},
}

// TestManyTasks creates 200 tasks at once, and checks that all of them
// complete.
func TestManyTasks(t *testing.T) {
	w, c := enterRough(t)
	ns := w.namespace(t, "many")
	name := unique("many")
	c.push(name, `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {name: `+name+`}, spec: {type: x, owner: a,
  parameters: {required: [n], properties: {n: {type: integer}}},
  steps: [{id: apply, action: 'kubernetes:apply', input: {manifest: {apiVersion: v1, kind: ConfigMap,
    metadata: {name: 'many-${{ parameters.n }}', namespace: `+ns+`}, data: {n: 'number ${{ parameters.n }}'}}}},
    {id: say, action: 'debug:log', input: {message: 'made ${{ steps.apply.output.resources[0].name }}'}}]}}`)
	c.form(name, "")
	const all = 200
	ids := make([]string, all)
	var posting sync.WaitGroup
	for i := range all {
		posting.Go(func() {
			status, body := c.send(http.MethodPost, api+"/tasks", order(t, name, tree.Obj(tree.F("n", tree.Number(int64(i)))), nil))
			if n, err := (wire.Decoder{}).Decode(body); err != nil || status != http.StatusCreated {
				t.Errorf("task %d: %d %s %v", i, status, body, err)
			} else {
				ids[i] = n.Get("id").Str()
			}
		})
	}
	posting.Wait()
	if t.Failed() {
		return
	}
	count := func(status string) int {
		n := c.want(http.StatusOK, http.MethodGet, api+"/tasks?limit=1&templateRef="+name+"&status="+status, nil)
		total, err := strconv.Atoi(n.Get("totalTasks").Scalar())
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	until(t, "all tasks are over", func() bool {
		return count(taskstore.TaskCompleted)+count(taskstore.TaskFailed)+count(taskstore.TaskCancelled) == all
	})
	if n := count(taskstore.TaskCompleted); n != all {
		t.Errorf("%d of %d tasks completed", n, all)
	}
	for i := 0; i < all; i += 17 {
		h := c.follow(ids[i])
		if want := "made many-" + strconv.Itoa(i); !strings.Contains(h.log(), want) {
			t.Errorf("log of task %d does not contain %q:\n%s", i, want, h.log())
		}
	}
	made := w.find(t, "/api/v1/namespaces/"+ns+"/configmaps")
	seen := map[string]bool{}
	for _, m := range made.Get("items").List() {
		seen[m.Get("data", "n").Str()] = true
	}
	for i := range all {
		if !seen["number "+strconv.Itoa(i)] {
			t.Errorf("result of task %d is missing", i)
		}
	}
}

// TestLongLog checks a task that logs 50 MB while one client keeps up, one
// reads nothing until the task has ended, and some disconnect.
func TestLongLog(t *testing.T) {
	_, c := enterRough(t)
	const lines = 1000
	c.push("flood", template("flood", "{id: flood, action: 'test:flood', input: {lines: "+strconv.Itoa(lines)+"}}"))
	c.form("flood", "")
	id := c.create("flood", tree.Obj(), nil)
	late := c.stream(id, 0)
	defer late.Body.Close()
	var reading sync.WaitGroup
	for i := range 5 {
		reading.Go(func() {
			leaving := c.stream(id, 0)
			defer leaving.Body.Close()
			n := 0
			c.read(leaving.Body, func(event, string) bool { n++; return n > i*20 })
		})
	}
	want := func(who string, e []event, bytes int) {
		t.Helper()
		said := 0
		for i := range e {
			if strings.HasPrefix(e[i].Body.Message, fmt.Sprintf("%d x", said)) && len(e[i].Body.Message) > lineSize {
				said++
			}
		}
		if said != lines || bytes < lines*lineSize {
			t.Errorf("client that %s got %d lines of %d, and %d bytes", who, said, lines, bytes)
		}
	}
	h := c.follow(id)
	if h.status != taskstore.TaskCompleted {
		t.Fatalf("task is %s, want completed", h.status)
	}
	want("keeps up", h.events, len(h.raw))
	reading.Wait()
	var events []event
	size := 0
	c.read(late.Body, func(e event, raw string) bool {
		events, size = append(events, e), size+len(raw)
		return false
	})
	want("is late", events, size)
	n := c.want(http.StatusOK, http.MethodGet, api+"/tasks/"+id+"/events?after="+strconv.Itoa(len(events)-2), nil)
	if len(n.List()) != 2 {
		t.Errorf("response has %d events after the third from last, want 2", len(n.List()))
	}
}

// TestStreamGoesOn disconnects from a stream and reconnects, and checks that no
// event is missed or repeated.
func TestStreamGoesOn(t *testing.T) {
	_, c := enterRough(t)
	c.push("goes-on", template("goes-on", `{id: say, action: 'debug:log', input: {message: first}}, `+holdStep("goes-on")+`, {id: again, action: 'debug:log', input: {message: second}}`))
	c.form("goes-on", "")
	id := c.create("goes-on", tree.Obj(), nil)
	waitForHold(t, "goes-on")
	leaving := c.stream(id, 0)
	var seen []string
	var last int64
	c.read(leaving.Body, func(e event, raw string) bool {
		seen, last = append(seen, raw), e.ID
		return strings.Contains(raw, "first")
	})
	_ = leaving.Body.Close()
	back := c.stream(id, last)
	defer back.Body.Close()
	release("goes-on")
	began := time.Now()
	c.read(back.Body, func(_ event, raw string) bool {
		seen = append(seen, raw)
		return false
	})
	if took := time.Since(began); took > patience/2 {
		t.Errorf("stream ended %v after the task", took)
	}
	if whole := strings.TrimSpace(c.follow(id).raw); whole != strings.Join(seen, "\n") {
		t.Errorf("stream in two parts has\n%s\nand in one part\n%s", strings.Join(seen, "\n"), whole)
	}
}

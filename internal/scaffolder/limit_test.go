package scaffolder

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/scaffolder/task"
)

// overLimit checks that a response names the limit that was reached, and when to
// try again.
func overLimit(t *testing.T, r reply, says string) {
	t.Helper()
	if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" || !strings.Contains(r.body, `"name":"TooManyRequestsError"`) || !strings.Contains(r.body, says) {
		t.Errorf("response is %d %s, Retry-After %q; want 429", r.status, r.body, r.header.Get("Retry-After"))
	}
}

// TestStreamLimit checks how many tasks a caller may follow concurrently.
func TestStreamLimit(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.EventStreams = 3 })
	w.scaffer.poll = patience
	id := w.create("ada", "other/wait", `{}`)
	w.until(id, "processing")
	ctx, leave := context.WithCancel(t.Context())
	for range 2 {
		if res, _ := w.open(ctx, "ada", "/tasks/"+id+"/eventstream"); res.StatusCode != 200 {
			t.Fatalf("stream returned %d, want 200", res.StatusCode)
		}
	}
	// A caller who polls for events follows a task too.
	go func() {
		res, err := http.DefaultClient.Do(w.request(ctx, "ada", "GET", "/tasks/"+id+"/events?after=100000", ""))
		if err == nil {
			_ = res.Body.Close()
		}
	}()
	follow := func(n int) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			got := w.scaffer.followers.Open()
			if got == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d streams are open, want %d", got, n)
			}
		}
	}
	follow(3)
	// The task has begun, so that there are events.
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		events, err := w.tasks.TaskEvents(ctx, id, 0, 1)
		if err == nil && len(events) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("task did not begin: %v", err)
		}
	}
	const why = "cannot follow another task: user:default/ada follows 3 already, and scaffolder.limits.eventStreams is 3"
	overLimit(t, w.do("ada", "GET", "/tasks/"+id+"/eventstream", ""), why)
	overLimit(t, w.do("ada", "GET", "/tasks/"+id+"/events?after=100000", ""), why)
	if r := w.do("ada", "GET", "/tasks/"+id+"/events", ""); r.status != 200 {
		t.Errorf("request for past events returned %d %s, want 200", r.status, r.body)
	}
	if res, _ := w.open(ctx, "machine", "/tasks/"+id+"/eventstream"); res.StatusCode != 200 {
		t.Errorf("stream of another caller returned %d, want 200", res.StatusCode)
	}
	leave()
	follow(0)
	close(w.released)
	if r := w.do("ada", "GET", "/tasks/"+id+"/eventstream", ""); r.status != 200 {
		t.Errorf("response is %d %s, want 200", r.status, r.body)
	}
}

// TestTaskLimit checks that a caller with too many tasks gets no more.
func TestTaskLimit(t *testing.T) {
	w := newWorldOf(t, task.Limits{OpenTasks: 2}, nil)
	first := w.create("ada", "other/wait", `{}`)
	w.create("ada", "other/wait", `{}`)
	const body = `{"templateRef":"other/wait","values":{}}`
	overLimit(t, w.do("ada", "POST", "/tasks", body), "cannot create a task: user:default/ada has 2 open tasks, and scaffolder.limits.openTasks is 2")
	w.create("admin", "other/wait", `{}`)
	w.want("ada", "POST", "/tasks/"+first+"/cancel", "", http.StatusOK, nil)
	w.until(first, "cancelled")
	w.create("ada", "other/wait", `{}`)
	overLimit(t, w.do("ada", "POST", "/tasks/"+first+"/retry", ""), "scaffolder.limits.openTasks is 2")
	close(w.released)
}

// TestDryLimit checks that a caller may dry-run one Template at a time.
func TestDryLimit(t *testing.T) {
	w := newWorld(t, nil)
	body := `{"template":` + strings.Replace(dryTemplate, `"test:say"`, `"test:hold"`, 1) + `,"values":{"word":"hi"}}`
	ends := make(chan reply, 2)
	for range 2 {
		go func() { ends <- w.do("ada", "POST", "/dry-run", body) }()
	}
	overLimit(t, <-ends, "cannot dry-run the Template: another dry run of yours is in progress")
	if r := w.do("machine", "POST", "/dry-run", `{"template":`+dryTemplate+`,"values":{"word":"hi"}}`); r.status != 200 {
		t.Errorf("dry run of another caller returned %d %s, want 200", r.status, r.body)
	}
	close(w.released)
	if r := <-ends; r.status != 200 {
		t.Errorf("dry run returned %d %s, want 200", r.status, r.body)
	}
}

package scaffolder

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/identity/auth"
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
			w.scaffer.followers.mu.Lock()
			got := w.scaffer.followers.all["user user:default/ada"]
			w.scaffer.followers.mu.Unlock()
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

// TestGuestStreams checks that guests, who are all the same user, are counted by
// address.
func TestGuestStreams(t *testing.T) {
	f := followers{most: 2}
	follow := func(kind auth.Kind, subject, remote string) (func(), error) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		return f.add(r.WithContext(auth.With(r.Context(), auth.Caller{Kind: kind, Subject: subject})))
	}
	steps := []struct {
		reason          string
		kind            auth.Kind
		subject, remote string
		ok              bool
	}{
		{"A guest may follow a task.", auth.Guest, "g", "192.0.2.1:1", true},
		{"A guest may follow two tasks.", auth.Guest, "g", "192.0.2.1:2", true},
		{"A guest may not follow three tasks.", auth.Guest, "g", "192.0.2.1:3", false},
		{"A guest with another address is counted separately.", auth.Guest, "g", "192.0.2.2:1", true},
		{"A guest with an IPv6 address may follow a task.", auth.Guest, "g", "[2001:db8::1]:1", true},
		{"Addresses of one IPv6 network count as one client.", auth.Guest, "g", "[2001:db8::2]:1", true},
		{"together", auth.Guest, "g", "[2001:db8::3]:1", false},
		{"A user may follow a task from any address.", auth.User, "u", "192.0.2.1:1", true},
		{"A user is counted by name, not by address.", auth.User, "u", "192.0.2.2:1", true},
		{"alone", auth.User, "u", "192.0.2.3:1", false},
		{"A service with the name of a user is counted separately.", auth.Service, "u", "192.0.2.3:1", true},
	}
	var all []func()
	for _, s := range steps {
		done, err := follow(s.kind, s.subject, s.remote)
		if (err == nil) != s.ok {
			t.Errorf("%s: open returned %v", s.reason, err)
		}
		if err == nil {
			all = append(all, done)
		}
	}
	for _, done := range all {
		done()
	}
	if len(f.all) != 0 {
		t.Errorf("callers are left after all streams ended: %v", f.all)
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

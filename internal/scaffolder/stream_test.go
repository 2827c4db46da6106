package scaffolder

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// open follows a task and returns the lines of the stream.
func (w *world) open(ctx context.Context, caller, path string, header ...string) (*http.Response, *bufio.Scanner) {
	w.t.Helper()
	req := w.request(ctx, caller, "GET", path, "")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	return res, lines
}

// TestStream follows a task while it runs, and from the middle.
func TestStream(t *testing.T) {
	w := newWorld(t, nil)
	w.scaffer.ping = 20 * time.Millisecond
	id := w.create("ada", "other/wait", `{}`)
	res, lines := w.open(t.Context(), "ada", "/tasks/"+id+"/eventstream")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	var all []string
	pings, released := 0, false
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == ": ping":
			// An idle stream sends pings.
			if pings++; pings == 3 && !released {
				released = true
				close(w.released)
			}
		case line != "":
			all = append(all, line)
		}
	}
	if err := lines.Err(); err != nil || pings < 3 {
		t.Fatalf("stream ended with %v after %d pings, want at least 3", err, pings)
	}
	text := strings.Join(all, "\n")
	if !strings.HasPrefix(text, `event: log`+"\n"+`data: {"id":1,"isTaskRecoverable":false,"taskId":"`+id+`","body":{"message":"Starting up task with 1 steps"},"type":"log","createdAt":"`) ||
		!strings.Contains(text, "\nevent: completion\ndata: {") || strings.Contains(text, "\nid:") {
		t.Errorf("events differ from those of Backstage:\n%s", text)
	}
	count := strings.Count(text, "event: ")
	last := fmt.Sprintf(`"id":%d,`, count)
	cases := map[string]struct {
		reason, query, header string
		events                int
	}{
		"All":    {"everything", "", "", count},
		"After":  {"The parameter after skips events.", "?after=2", "", count - 2},
		"Again":  {"The header Last-Event-ID skips events.", "", "2", count - 2},
		"First":  {"The parameter has precedence over the header.", "?after=1", "2", count - 1},
		"NoID":   {"An invalid header is ignored.", "", "x", count},
		"Behind": {"A client that has all events gets the completion again, so it does not wait.", fmt.Sprintf("?after=%d", count), "", 1},
		"Beyond": {"A client beyond the last event gets the completion too.", "?after=100000", "", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/eventstream", "/events"} {
				res, _ := w.open(t.Context(), "ada", "/tasks/"+id+path+tc.query, "Last-Event-ID", tc.header)
				body, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Count(string(body), `"taskId"`); got != tc.events || !strings.Contains(string(body), last) {
					t.Errorf("%s: %s has %d events, want %d:\n%s", tc.reason, path, got, tc.events, body)
				}
			}
		})
	}
	for _, bad := range []string{"?after=x", "?after=-1", "?after=1&after=2"} {
		for _, path := range []string{"/eventstream", "/events"} {
			if r := w.do("ada", "GET", "/tasks/"+id+path+bad, ""); r.status != 400 {
				t.Errorf("%s%s returned %d %s, want 400", path, bad, r.status, r.body)
			}
		}
	}
	if r := w.do("ada", http.MethodHead, "/tasks/"+id+"/eventstream", ""); r.status != 200 || r.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD returned %d %v, want only the headers", r.status, r.header)
	}
}

// TestPoll polls for events that have not happened yet.
func TestPoll(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "other/wait", `{}`)
	w.until(id, "processing")
	seen := 0
	for text := ""; !strings.Contains(text, "waiting"); {
		text = w.do("ada", "GET", fmt.Sprintf("/tasks/%s/events?after=%d", id, seen), "").body
		seen += strings.Count(text, `"taskId"`)
	}
	got := make(chan reply)
	go func() { got <- w.do("ada", "GET", fmt.Sprintf("/tasks/%s/events?after=%d", id, seen), "") }()
	select {
	case r := <-got:
		t.Fatalf("poll returned %s before any new event", r.body)
	case <-time.After(100 * time.Millisecond):
	}
	close(w.released)
	if r := <-got; !strings.HasPrefix(r.body, fmt.Sprintf(`[{"id":%d,`, seen+1)) {
		t.Errorf("poll returned %s, want the next event", r.body)
	}
	w.scaffer.poll = time.Millisecond
	other := w.create("ada", "fail", `{}`)
	w.until(other, "failed")
	if r := w.do("ada", "GET", "/tasks/"+other+"/events?after=1", ""); !strings.Contains(r.body, `"type":"completion"`) {
		t.Errorf("poll returned %s, want the existing events at once", r.body)
	}
}

// TestPollEnds polls for events until the timeout.
func TestPollEnds(t *testing.T) {
	w := newWorld(t, nil)
	w.scaffer.poll = 10 * time.Millisecond
	id := w.create("ada", "other/wait", `{}`)
	if r := w.do("ada", "GET", "/tasks/"+id+"/events?after=1000", ""); r.status != 200 || r.body != "[]" {
		t.Errorf("poll returned %d %s, want an empty list", r.status, r.body)
	}
	close(w.released)
}

// TestCancelStream cancels a task that is followed.
func TestCancelStream(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "other/wait", `{}`)
	_, lines := w.open(t.Context(), "ada", "/tasks/"+id+"/eventstream")
	for lines.Scan() && !strings.Contains(lines.Text(), "waiting") {
	}
	w.want("ada", "POST", "/tasks/"+id+"/cancel", "", 200, nil)
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := lines.Err(); err != nil || !strings.Contains(strings.Join(rest, "\n"), "event: cancelled") {
		t.Errorf("stream ended with %v %q, want the cancellation", err, rest)
	}
	w.until(id, "cancelled")
}

// TestLeaving opens many streams and closes them in the middle, and checks that
// no goroutine is left.
func TestLeaving(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "other/wait", `{}`)
	w.until(id, "processing")
	before := runtime.NumGoroutine()
	const many = 200
	ctx, leave := context.WithCancel(t.Context())
	var there, gone sync.WaitGroup
	transport := &http.Transport{}
	there.Add(many)
	for range many {
		gone.Go(func() {
			first := sync.OnceFunc(there.Done)
			defer first()
			res, err := (&http.Client{Transport: transport}).Do(w.request(ctx, "ada", "GET", "/tasks/"+id+"/eventstream", ""))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			for lines := bufio.NewScanner(res.Body); lines.Scan(); {
				first()
			}
		})
	}
	there.Wait()
	leave()
	gone.Wait()
	transport.CloseIdleConnections()
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
	close(w.released)
	w.until(id, "completed")
}

// TestSlow does not read a long stream: the task ends anyway, and then
// everything is read in order.
func TestSlow(t *testing.T) {
	w := newWorld(t, nil)
	id := w.create("ada", "flood", `{}`)
	_, lines := w.open(t.Context(), "ada", "/tasks/"+id+"/eventstream")
	w.until(id, "completed")
	next := 0
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), `"body":{"message":"`); ok && strings.HasPrefix(rest, fmt.Sprintf("%d x", next)) {
			next++
		}
	}
	if err := lines.Err(); err != nil || next != w.lines {
		t.Errorf("slow client got %d of %d lines, %v", next, w.lines, err)
	}
	r := w.do("ada", "GET", "/tasks/"+id+"/events", "")
	if got := strings.Count(r.body, `"stepId":"flood"`); got < w.lines || !strings.HasSuffix(r.body, "]") {
		t.Errorf("poll returned %d of %d lines", got, w.lines)
	}
}

// deaf is a response whose writes fail.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, net.ErrClosed }

// TestDeaf sends pings to a client that has disappeared.
func TestDeaf(t *testing.T) {
	lost := make(chan error, 1)
	s := newStream(deaf{httptest.NewRecorder()}, "x", time.Millisecond, func(err error) { lost <- err })
	defer s.Close()
	select {
	case err := <-lost:
		if err == nil {
			t.Error("failed ping returned no error")
		}
	case <-time.After(patience):
		t.Error("failed ping did not end the stream")
	}
}

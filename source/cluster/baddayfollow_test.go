package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source/cluster"
)

// event returns an event of a stream with a resource version.
func event(what, name string, version int) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"resourceVersion":"%d"}}}`+"\n", what, name, version)
}

// failure returns the last event of a stream.
func failure(code int, message string) string {
	return fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}}`+"\n", message, code)
}

// open begins a stream that does not end.
func open(w http.ResponseWriter, r *http.Request, events string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, events)
	w.(http.Flusher).Flush()
	hang(r.Context())
}

// TestFollowTrouble checks watches of servers that misbehave: the error is
// reported, and requests are not repeated without a pause.
func TestFollowTrouble(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// watch answers the n-th watch, counted from one.
		watch func(n int, w http.ResponseWriter, r *http.Request)
		// says is in the reported error; empty if none is reported.
		says string
		// events are the first events, after which the watch is ended; nil waits for
		// some seconds.
		events []string
		// asked are the resource versions of the first watches.
		asked []string
	}{
		"Error": {reason: "An error in the stream is reported.", says: "the conversion is down", watch: func(_ int, w http.ResponseWriter, _ *http.Request) {
			respond(w, failure(http.StatusInternalServerError, "the conversion is down"))
		}, asked: []string{"1", "1"}},
		"Ends":    {reason: "A stream that ends is started again, with a backoff.", watch: func(_ int, w http.ResponseWriter, _ *http.Request) { respond(w, "") }},
		"Foreign": {reason: "A response that is not a stream is reported.", says: "is text/plain, not JSON", watch: func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }},
		"Hangs":   {reason: "A watch that does not start is reported.", says: "did not respond within", watch: func(_ int, _ http.ResponseWriter, r *http.Request) { hang(r.Context()) }},
		"Refused": {reason: "A missing permission to watch does not cause repeated lists.", says: "403", watch: func(_ int, w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusForbidden, "no")
		}, asked: []string{"1", "1"}},
		"Busy": {reason: "A busy server gets a pause, and the watch resumes.", says: "429", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				refuse(w, http.StatusTooManyRequests, "later")
				return
			}
			open(w, r, event("ADDED", "c", 2))
		}, events: []string{"listed 2", "changed c"}, asked: []string{"1", "1"}},
		"Resumes": {reason: "A watch resumes after the last event or bookmark.", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				respond(w, event("ADDED", "c", 5)+event("DELETED", "a", 6))
			case 2:
				respond(w, event("BOOKMARK", "", 9))
			default:
				open(w, r, event("MODIFIED", "c", 12))
			}
		}, events: []string{"listed 2", "changed c", "deleted a", "changed c"}, asked: []string{"1", "6", "9"}},
		"Cut": {reason: "An event that is cut off is sent again by the next stream.", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				respond(w, event("ADDED", "c", 5)+event("ADDED", "d", 6)[:40])
				return
			}
			open(w, r, event("ADDED", "d", 6))
		}, events: []string{"listed 2", "changed c", "changed d"}, asked: []string{"1", "5"}},
		"Expired": {reason: "An expired resource version causes a new list.", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			switch n {
			case 1:
				respond(w, failure(http.StatusGone, "too old resource version"))
			case 2:
				refuse(w, http.StatusGone, "too old resource version")
			default:
				open(w, r, "")
			}
		}, events: []string{"listed 2", "listed 2", "listed 2"}, asked: []string{"1", "1"}},
		"Restored": {reason: "A resource version from before a restore causes a new list.", says: "Too large", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				refuse(w, http.StatusGatewayTimeout, "Too large resource version")
				return
			}
			open(w, r, "")
		}, events: []string{"listed 2", "listed 2"}},
		"Unreadable": {reason: "An event that cannot be parsed causes a new list.", watch: func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				respond(w, `{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"4","labels":7}}}`)
				return
			}
			open(w, r, event("ADDED", "c", 5))
		}, events: []string{"listed 2", "listed 2", "changed c"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []string
			s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
				watching := r.URL.Query().Get("watch") == "true"
				if watching {
					mu.Lock()
					asked = append(asked, r.URL.Query().Get("resourceVersion"))
					n := len(asked)
					mu.Unlock()
					tc.watch(n, w, r)
				}
				return watching
			}}
			wait := 4 * time.Second
			if tc.events != nil {
				wait = time.Minute
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			var reported, events []string
			enough := errors.New("enough")
			err := connect(t, "here", s.start(t), cluster.Options{Timeout: time.Second}).Watch(ctx, upstreamDefinitions, "", cluster.WatchOptions{
				OnError: func(e *cluster.Error) { reported = append(reported, e.Error()) },
			}, func(n cluster.Event) error {
				if n.Type == cluster.Listed {
					events = append(events, fmt.Sprint("listed ", len(n.Items)))
				} else {
					events = append(events, n.Type.String()+" "+n.Items[0].Name)
				}
				if len(events) == len(tc.events) {
					return enough
				}
				return nil
			})
			if tc.events == nil {
				tc.events, enough = []string{"listed 2"}, context.DeadlineExceeded
			}
			if !errors.Is(err, enough) {
				t.Fatal(err)
			}
			if tc.says == "" != (len(reported) == 0) || !strings.Contains(strings.Join(reported, "\n"), tc.says) {
				t.Errorf("%s\nreported: %q, want %q in it", tc.reason, reported, tc.says)
			}
			if diff := cmp.Diff(tc.events, events); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(asked) < len(tc.asked) || len(tc.asked) > 0 && !cmp.Equal(tc.asked, asked[:len(tc.asked)]) {
				t.Errorf("%s\nwatches began at %q, want %q", tc.reason, asked, tc.asked)
			}
			if n := len(s.seen("/compositeresourcedefinitions")); n > 12 {
				t.Errorf("%s\nserver was asked %d times", tc.reason, n)
			}
		})
	}
}

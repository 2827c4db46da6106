package resource

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/test/apiserver"
)

// event is an event of a stream, or the message of the fault instead of a stream.
type event struct{ name, data string }

// stream follows the object of a cluster as a user until the context ends.
func (w *world) stream(ctx context.Context, t *testing.T, who, name string) <-chan event {
	t.Helper()
	out := make(chan event, 100)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		err := w.eventStream(rw, request(r.Context(), who, "resource", name, ""))
		if f, ok := errors.AsType[*rest.Fault](err); ok {
			out <- event{"fault", f.Message}
		}
	}))
	w.t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		name := ""
		for lines.Scan() {
			if v, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = v
			}
			if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- event{name, v}
			}
		}
	}()
	return out
}

// await returns the first event that contains a text, and how long it took.
func await(t *testing.T, events <-chan event, want string) time.Duration {
	t.Helper()
	began := time.Now()
	limit := time.After(20 * time.Second)
	last := event{}
	for {
		select {
		case last = <-events:
			if strings.Contains(last.name+" "+last.data, want) {
				return time.Since(began)
			}
		case <-limit:
			t.Fatalf("no event contains %q; the last one is %s %s", want, last.name, last.data)
		}
	}
}

// says returns the Shop with another message.
func says(message string) string { return strings.Replace(shop, "waiting for the network", message, 1) }

func TestEventStream(t *testing.T) {
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	t.Run("Change", func(t *testing.T) {
		events := w.stream(ctx, t, "ada", "plain")
		await(t, events, "waiting for the network")
		w.watching(t, true)
		w.server.Apply(t, says("almost there"))
		took := await(t, events, "almost there")
		if t.Logf("the change was sent after %s", took); took > time.Second {
			t.Error("that is more than a second")
		}
		w.server.Apply(t, `---
apiVersion: v1
kind: Event
metadata: {name: invoices.1, namespace: team-a}
involvedObject: {apiVersion: platform.example.org/v1, kind: Shop, name: invoices, namespace: team-a, uid: `+w.uid(t)+`}
type: Warning
reason: Quota
message: no addresses left
`)
		if took := await(t, events, "no addresses left"); took > time.Second {
			t.Errorf("the event was sent after %s", took)
		}
	})
	t.Run("Shared", func(t *testing.T) {
		before := w.made.Load()
		all := make([]<-chan event, 9)
		for i := range all {
			all[i] = w.stream(ctx, t, fmt.Sprint("user", i), "plain")
			await(t, all[i], "almost there")
		}
		if n := w.made.Load() - before; n > 0 {
			t.Errorf("nine more pages cost %d calls", n)
		}
		w.server.Apply(t, says("at last"))
		for _, events := range all {
			await(t, events, "at last")
		}
		// The Shop, the events of its namespace, and the Secret that it composes; twice if
		// another change was just being read.
		if n := w.made.Load() - before; n > 2*3 {
			t.Errorf("one change cost %d calls for ten pages", n)
		}
	})
	t.Run("As", func(t *testing.T) {
		events := w.stream(ctx, t, "ada", "strict")
		await(t, events, `"state":"forbidden"`)
		w.server.Apply(t, says("for ada"))
		if took := await(t, events, "for ada"); took > time.Second {
			t.Errorf("the change was sent after %s", took)
		}
	})
	t.Run("Poll", func(t *testing.T) {
		// The account may not watch.
		events := w.stream(ctx, t, "ada", "poor")
		await(t, events, "for ada")
		w.server.Apply(t, says("polled"))
		await(t, events, "polled")
	})
	t.Run("Down", func(t *testing.T) {
		await(t, w.stream(ctx, t, "ada", "down"), `problem {"message":"Cluster down cannot be reached"}`)
	})
	t.Run("Limit", func(t *testing.T) {
		w.streams.Most = 1
		await(t, w.stream(ctx, t, "ada", "plain"), "fault cannot follow another resource: user:default/ada follows 1 already")
		w.streams.Most = 20
	})
	t.Run("Deleted", func(t *testing.T) {
		events := w.stream(ctx, t, "ada", "plain")
		await(t, events, "polled")
		w.server.Delete(t, shop)
		await(t, events, `"state":"missing"`)
	})
	t.Run("Over", func(t *testing.T) {
		w.streamFor = time.Millisecond
		if status, _ := get(t, w.eventStream, request(t.Context(), "ada", "resource", "plain", "")); status != http.StatusOK {
			t.Errorf("status is %d", status)
		}
	})
	leave()
	w.watching(t, false)
}

// watching waits until changes are watched, or nothing is followed any more.
func (w *world) watching(t *testing.T, want bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		w.sessions.mu.Lock()
		n := len(w.sessions.open)
		w.sessions.mu.Unlock()
		if (n > 0) == want && (w.watches.Len() > 0) == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d sessions and %d watches are open", n, w.watches.Len())
		}
	}
}

// uid returns the uid of the Shop.
func (w *world) uid(t *testing.T) string {
	t.Helper()
	_, body := get(t, w.status, request(t.Context(), "ada", "resource", "plain", ""))
	_, after, ok := strings.Cut(body, `"uid":"`)
	uid, _, _ := strings.Cut(after, `"`)
	if !ok {
		t.Fatalf("no uid in %s", body)
	}
	return uid
}

func TestObject(t *testing.T) {
	w := newWorld(t)
	w.server.Apply(t, strings.Replace(shop, "spec: {", "spec: {adminPassword: hunter2, size: small, ", 1))
	tests := map[string]struct {
		reason, who, kind, name string
		status                  int
		want                    string
	}{
		"Read":     {"The object is returned.", "ada", "resource", "plain", 200, `"size":"small"`},
		"Hidden":   {"A password is hidden.", "ada", "resource", "plain", 200, `"adminPassword":"(hidden)"`},
		"Denied":   {"The cluster decides who may read it.", "bob", "resource", "strict", 403, `cannot get resource "shops"`},
		"Down":     {"A cluster that does not answer is an error.", "ada", "resource", "down", 503, "Cluster down cannot be reached"},
		"NoEntity": {"An entity that the caller may not read does not exist.", "ada", "component", "plain", 404, "No cluster resource found"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, w.object, request(t.Context(), tc.who, tc.kind, tc.name, ""))
			if status != tc.status || !strings.Contains(body, tc.want) || strings.Contains(body, "hunter2") {
				t.Errorf("%s Got %d %s", tc.reason, status, body)
			}
		})
	}
}

// TestRole follows a composite with the roles that the project ships.
func TestRole(t *testing.T) {
	w := newWorld(t)
	w.server.Apply(t, apiserver.CRD("provider.example.org", "Disk", "disks", "Namespaced"))
	w.server.Apply(t, strings.Replace(shop, "resourceRefs: [", "resourceRefs: [{apiVersion: provider.example.org/v1, kind: Disk, name: one}, ", 1))
	owner := "ownerReferences: [{apiVersion: platform.example.org/v1, kind: Shop, name: invoices, uid: " + w.uid(t) + "}]"
	disk := func(message string) string {
		return "{apiVersion: provider.example.org/v1, kind: Disk, metadata: {name: one, namespace: team-a, " + owner + "}, status: {conditions: [{type: Ready, status: 'False', message: " + message + "}]}}\n"
	}
	w.server.Apply(t, disk("no space"))
	events := w.stream(t.Context(), t, "ada", "role")
	await(t, events, "Disk one: no space")
	w.watching(t, true)
	w.server.Apply(t, disk("formatting"))
	if took := await(t, events, "Disk one: formatting"); took > time.Second {
		t.Errorf("the change was sent after %s: is a kind not watched?", took)
	}
	if code, body := get(t, w.status, request(t.Context(), "ada", "resource", "role", "")); code != http.StatusOK || !strings.Contains(body, `resources: [\"secrets\"]`) {
		t.Errorf("the Secret is not forbidden: %d %s", code, body)
	}
}

// TestStreamTimeout checks that the server does not end streams like other requests.
func TestStreamTimeout(t *testing.T) {
	for _, route := range New(Options{Now: time.Now}).Plugin().Routes {
		if got, want := route.Timeout < 0, strings.HasSuffix(route.Path, "/eventstream"); got != want {
			t.Errorf("%s has the timeout %s", route.Path, route.Timeout)
		}
	}
}

// TestLarge reads a composite that refers to 2,000 objects and has a status of a megabyte.
func TestLarge(t *testing.T) {
	const parts = 2000
	w := newWorld(t)
	var refs strings.Builder
	for i := range parts {
		fmt.Fprintf(&refs, "{apiVersion: v1, kind: ConfigMap, name: part-%04d}, ", i)
	}
	large := strings.NewReplacer("resourceRefs: [", "resourceRefs: ["+refs.String(), "status: {", "status: {report: "+strings.Repeat("x", 1<<20)+", ").Replace(shop)
	w.server.Apply(t, large)
	seen := map[string]bool{}
	for skip, pages := 0, 0; ; pages++ {
		var st Status
		calls := w.calls(func() {
			code, body := get(t, w.status, request(t.Context(), "ada", "resource", "plain", fmt.Sprint("skip=", skip)))
			if err := json.Unmarshal([]byte(body), &st); err != nil || code != http.StatusOK || len(body) > 1<<20 {
				t.Fatalf("got %d with %d bytes, %v", code, len(body), err)
			}
		})
		// The kinds of three versions, the Shop, its events, the Secret, and the ConfigMaps by
		// label and by name: four pages each for all ConfigMaps of the namespace.
		if calls > 12 {
			t.Errorf("page %d cost %d calls", pages, calls)
		}
		for _, c := range st.Tree.Children {
			if seen[c.Ref.String()] {
				t.Fatalf("%s is on two pages", c.Ref)
			}
			seen[c.Ref.String()] = true
		}
		skip += len(st.Tree.Children)
		if st.Tree.More == 0 {
			break
		}
		if pages > 10 {
			t.Fatal("the pages do not end")
		}
	}
	if len(seen) != parts+1 {
		t.Errorf("the pages have %d objects, want %d", len(seen), parts+1)
	}
	if code, body := get(t, w.object, request(t.Context(), "ada", "resource", "plain", "")); code != http.StatusOK || len(body) < 1<<20 {
		t.Errorf("the object is %d with %d bytes", code, len(body))
	}
}

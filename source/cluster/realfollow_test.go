package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// log collects the events of a watch, and waits for them.
type log struct {
	mu     sync.Mutex
	events []string
	// state is what a consumer of the events knows.
	state map[string]string
	moved chan struct{}
}

func newLog() *log { return &log{state: map[string]string{}, moved: make(chan struct{}, 1)} }

func (l *log) take(n cluster.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.Type == cluster.Listed {
		l.state = map[string]string{}
		l.events = append(l.events, "listed")
	}
	for _, i := range n.Items {
		if n.Type != cluster.Listed {
			l.events = append(l.events, n.Type.String()+" "+i.Name)
		}
		l.state[i.Name] = i.Labels["step"]
		if n.Type == cluster.Deleted {
			delete(l.state, i.Name)
		}
	}
	select {
	case l.moved <- struct{}{}:
	default:
	}
	return nil
}

// until waits until ok is true for the current state.
func (l *log) until(t *testing.T, what string, ok func(state map[string]string, events []string) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		l.mu.Lock()
		done, state, events := ok(l.state, l.events), fmt.Sprint(l.state), fmt.Sprint(l.events)
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-l.moved:
		case <-deadline:
			t.Fatalf("not seen: %s\nstate %s\nevents %s", what, state, events)
		}
	}
}

// upstreamDefinitions is the resource path of definitions.
var upstreamDefinitions = cluster.Resource{Group: "apiextensions.crossplane.io", Version: "v1", Plural: "compositeresourcedefinitions"}

// TestFollow creates, changes and deletes a definition during a watch, restarts
// the server, and finally misses so many events that the resource version
// expires.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.Options{})
	door := newDoor(t, strings.TrimPrefix(s.URL, "https://"))
	cfg := source.Cluster{Name: "watched", URL: "https://" + door.address, CAData: s.CA, Token: source.Secret(s.Token(t, "default", "watcher"))}
	s.Apply(t, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: watcher}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: watcher, namespace: default}]
`)
	c, err := cluster.Connect(cfg, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	l := newLog()
	ended := make(chan error, 1)
	var troubles atomic.Int64
	go func() {
		ended <- c.Watch(ctx, upstreamDefinitions, "example.dev/ingest", cluster.WatchOptions{OnError: func(e *cluster.Error) {
			troubles.Add(1)
			if e.Cluster != "watched" || e.Hint == "" {
				t.Errorf("error does not have the cluster and a hint: %+v", e)
			}
		}}, l.take)
	}()
	l.until(t, "the first list", func(_ map[string]string, events []string) bool { return slices.Contains(events, "listed") })

	step := func(name, value string) string {
		return strings.Replace(definition(crossplaneV2, name, ""), "labels: {", "labels: {step: "+value+", ", 1)
	}
	has := func(name, value string) func(map[string]string, []string) bool {
		return func(state map[string]string, _ []string) bool { return state[name] == value }
	}
	s.Apply(t, step("etas.five.example.org", "one"))
	l.until(t, "a new definition", has("etas.five.example.org", "one"))
	s.Apply(t, step("etas.five.example.org", "two"))
	l.until(t, "a changed definition", has("etas.five.example.org", "two"))
	s.Apply(t, strings.Replace(step("etas.five.example.org", "two"), "example.dev/ingest", "example.dev/no", 1))
	l.until(t, "one that is no longer chosen", func(state map[string]string, _ []string) bool { return len(state) == 0 })
	s.Apply(t, step("etas.five.example.org", "three"))
	l.until(t, "one that is chosen again", has("etas.five.example.org", "three"))
	s.Apply(t, step("thetas.five.example.org", "one"))
	s.Delete(t, step("etas.five.example.org", "two"))
	l.until(t, "a deleted definition", func(state map[string]string, _ []string) bool {
		_, there := state["etas.five.example.org"]
		return !there && state["thetas.five.example.org"] == "one"
	})

	s.Kill()
	s.Restart(t)
	s.Apply(t, step("thetas.five.example.org", "two"))
	l.until(t, "a change after a crash", has("thetas.five.example.org", "two"))

	// The server forgets in a restart what happened while the connection was
	// blocked.
	door.close()
	s.Delete(t, step("thetas.five.example.org", "two"))
	s.Apply(t, step("iotas.five.example.org", "one"))
	s.Restart(t)
	lists := 0
	l.until(t, "nothing new", func(_ map[string]string, events []string) bool {
		lists = strings.Count(strings.Join(events, " "), "listed")
		return true
	})
	door.open(t)
	l.until(t, "what changed meanwhile", func(state map[string]string, events []string) bool {
		_, there := state["thetas.five.example.org"]
		return !there && state["iotas.five.example.org"] == "one" && strings.Count(strings.Join(events, " "), "listed") > lists
	})
	if troubles.Load() == 0 {
		t.Error("lost connection was not reported")
	}

	enough := errors.New("enough")
	stop(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("Follow ended with %v, want the error of its context", err)
	}
}

// door is a connection to a server that can be blocked.
type door struct {
	address, to string
	mu          sync.Mutex
	listener    net.Listener
	conns       []net.Conn
}

func newDoor(t *testing.T, to string) *door {
	d := &door{to: to, address: "127.0.0.1:0"}
	d.open(t)
	t.Cleanup(d.close)
	return d
}

func (d *door) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.listener, d.address = l, l.Addr().String()
	d.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", d.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			d.mu.Lock()
			d.conns = append(d.conns, in, out)
			d.mu.Unlock()
			pipe := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			}
			go pipe(in, out)
			go pipe(out, in)
		}
	}()
}

// close blocks the connection and cuts open streams.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.listener.Close()
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

// TestFollowEnds checks that many watches which their callback ends at once
// report no error for the closed stream.
func TestFollowEnds(t *testing.T) {
	c := admin(t, "ended", upstream(t), cluster.Options{})
	enough := errors.New("enough")
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		err := c.Watch(ctx, upstreamDefinitions, "", cluster.WatchOptions{OnError: func(e *cluster.Error) {
			t.Errorf("reported error: %v", e)
		}}, func(cluster.Event) error { return enough })
		if !errors.Is(err, enough) {
			t.Fatalf("Follow returned %v, want the error of its callback", err)
		}
		err = c.Watch(ctx, upstreamDefinitions, "", cluster.WatchOptions{OnError: func(e *cluster.Error) {
			t.Errorf("reported error: %v", e)
		}}, func(cluster.Event) error {
			time.AfterFunc(time.Millisecond, cancel)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("Follow ended with %v, want the error of its context", err)
		}
	}
}

// TestFollowQuick checks that a change is reported within a second, and that a
// kind can be watched before it is served.
func TestFollowQuick(t *testing.T) {
	s := upstream(t)
	name := "lambdas.six.example.org"
	post(t, s, "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions", definition(crossplaneV1, name, ""))
	c := admin(t, "quick", s, cluster.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, absent, later := newLog(), make(chan *cluster.Error, 100), newLog()
	var both sync.WaitGroup
	both.Go(func() { _ = c.Watch(ctx, upstreamDefinitions, "team=lambdas", cluster.WatchOptions{}, l.take) })
	both.Go(func() {
		kind := cluster.Resource{Group: "seven.example.org", Version: "v1", Plural: "mus"}
		_ = c.Watch(ctx, kind, "", cluster.WatchOptions{OnError: func(e *cluster.Error) { absent <- e }}, later.take)
	})
	l.until(t, "the first list", func(state map[string]string, _ []string) bool { return len(state) == 1 })
	// The best of several attempts counts, because the machine may be busy.
	best := time.Hour
	for i := range 5 {
		begin, value := time.Now(), fmt.Sprint("s", i)
		patch(t, s, upstreamDefinitions, name, `{"metadata":{"labels":{"step":"`+value+`"}}}`)
		l.until(t, "a change", func(state map[string]string, _ []string) bool { return state[name] == value })
		best = min(best, time.Since(begin))
	}
	if best > time.Second {
		t.Errorf("change was reported after %v", best)
	}
	if e := <-absent; e.Reason != cluster.Absent {
		t.Errorf("watch of a kind that is not served reported %v", e)
	}
	s.Apply(t, definition(crossplaneV2, "mus.seven.example.org", ""))
	s.Apply(t, "apiVersion: seven.example.org/v1\nkind: Mus\nmetadata: {name: m, namespace: red, labels: {step: one}}\nspec: {size: l}\n")
	later.until(t, "an object of a kind that is served later", func(state map[string]string, _ []string) bool { return state["m"] == "one" })
	cancel()
	both.Wait()
}

// patch changes an object as kubectl patch does.
func patch(t testing.TB, s *apiserver.Server, res cluster.Resource, name, body string) {
	t.Helper()
	address := fmt.Sprintf("%s/apis/%s/%s/%s/%s?fieldManager=kubectl-patch", s.URL, res.Group, res.Version, res.Plural, name)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot patch the object: %s\n%s", resp.Status, said)
	}
}

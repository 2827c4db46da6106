package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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

// log is the events of a watch, to be waited for.
type log struct {
	mu     sync.Mutex
	events []string
	// state is what there is, as somebody who listens would know it.
	state map[string]string
	moved chan struct{}
}

func (l *log) take(e cluster.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Type == cluster.Listed && e.Resource.Plural == "compositeresourcedefinitions" {
		l.state = map[string]string{}
		l.events = append(l.events, "listed")
	}
	for _, d := range e.Set.Definitions {
		if e.Type != cluster.Listed {
			l.events = append(l.events, e.Type.String()+" "+d.Name)
		}
		l.state[d.Name] = d.Labels["step"]
		if e.Type == cluster.Deleted {
			delete(l.state, d.Name)
		}
	}
	select {
	case l.moved <- struct{}{}:
	default:
	}
	return nil
}

// until waits until ok holds for what there is.
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

// TestWatch applies, changes and deletes a definition while a watch runs, kills
// the server and brings it back, and at last lets the watch miss so much that
// the server cannot tell it any more.
func TestWatch(t *testing.T) {
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
	l := &log{state: map[string]string{}, moved: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	var troubles atomic.Int64
	go func() {
		ended <- c.Watch(ctx, cluster.WatchOptions{Trouble: func(e *cluster.Error) {
			troubles.Add(1)
			if e.Cluster != "watched" || e.Hint == "" {
				t.Errorf("trouble names the cluster and the way out: %+v", e)
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

	// What happens while the way is blocked is forgotten by a restart.
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
		t.Error("a lost connection is told as trouble")
	}

	enough := errors.New("enough")
	stop(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("Watch ends with its context: %v", err)
	}
}

// TestWatchEnds ends a watch by its listener's error.
func TestWatchEnds(t *testing.T) {
	c := admin(t, "here", upstream(t), cluster.Options{})
	enough := errors.New("enough")
	if err := c.Watch(t.Context(), cluster.WatchOptions{}, func(cluster.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Watch returns what its listener returned: %v", err)
	}
}

// door is a way to a server that can be blocked.
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

// close blocks the way and cuts what is on it.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.listener.Close()
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

// TestEnded ends many watches as soon as they began: that a stream is closed
// because nobody listens any more is no trouble.
func TestEnded(t *testing.T) {
	c := admin(t, "ended", upstream(t), cluster.Options{})
	enough := errors.New("enough")
	for range 50 {
		var trouble []*cluster.Error
		kinds := 0
		err := c.Watch(t.Context(), cluster.WatchOptions{Trouble: func(e *cluster.Error) { trouble = append(trouble, e) }},
			func(cluster.Event) error {
				if kinds++; kinds < 2 {
					return nil
				}
				return enough
			})
		if !errors.Is(err, enough) {
			t.Fatalf("the watch ended otherwise: %v", err)
		}
		if len(trouble) > 0 {
			t.Fatalf("told of as trouble: %v", trouble)
		}
	}
}

package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// later runs an action in the background.
func later(t *testing.T, run func()) (done func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run()
	}()
	return func() {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("action did not end")
		}
	}
}

// TestWait checks that a step waits until an object is ready, through an
// outage.
func TestWait(t *testing.T) {
	ns := namespace(t)
	path := fmt.Sprintf(things, ns, "one")
	var down atomic.Bool
	apply := actions.Actions(before(t, cluster.Options{Patience: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) bool {
		return down.Load() && refuse(w, 503, "gone for a moment")
	}), actions.Options{})[0]
	status := func(conditions string) {
		t.Helper()
		set(t, path+"/status", "controller", `{"status":{"conditions":[`+conditions+`]}}`)
	}
	r := &result{outputs: map[string]*tree.Node{}}
	done := later(t, func() {
		begin(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "wait: {minutes: 1}\n"), r)
	})
	says := func(what string) {
		t.Helper()
		eventually(t, "the log says "+what, func() bool { return strings.Contains(r.lines(), what) })
	}
	says("was created")
	const when = `"lastTransitionTime":"2026-01-01T00:00:00Z"`
	status(`{"type":"Synced","status":"True","reason":"ReconcileSuccess",` + when + `},{"type":"Ready","status":"False","reason":"Creating","message":"waiting for the disk",` + when + `}`)
	says("waiting for the disk")
	down.Store(true)
	says("gone for a moment")
	down.Store(false)
	// A condition from before the last change does not count.
	status(`{"type":"Ready","status":"True","reason":"Available","observedGeneration":0,` + when + `}`)
	says("Ready is True: Available")
	status(`{"type":"Ready","status":"True","reason":"Available","message":"now","observedGeneration":1,` + when + `}`)
	done()
	if r.err != nil {
		t.Fatal(r.message())
	}
	name := "Thing " + ns + "/one"
	want := name + " in cluster real was created\n" +
		name + ": Synced is True: ReconcileSuccess\n" +
		name + ": Ready is False: Creating: waiting for the disk\n" +
		`cluster "real": cannot apply ` + name + ": the server returned 503: gone for a moment; still waiting\n" +
		name + ": Ready is True: Available\n" +
		name + ": Ready is True: Available: now"
	if diff := cmp.Diff(want, r.lines()); diff != "" {
		t.Errorf("log does not have every change once (-want +got):\n%s", diff)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "wait: true\n")); r.err != nil {
		t.Errorf("apply with wait of a ready object: %s", r.message())
	}
}

// TestWaitEnds checks the timeout of waiting.
func TestWaitEnds(t *testing.T) {
	ns := namespace(t)
	all := actions.Actions(fleet(t), actions.Options{Wait: time.Second})
	r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small}"), "wait: true\n"))
	want := fmt.Sprintf("cluster \"real\": cannot wait for Thing %s/one: not ready after 1s: no condition Ready\n"+
		"check the object in the cluster, or wait longer; it is applied, and the cluster continues to process it", ns)
	if r.message() != want || !isReason(r.err, actions.Late) || r.outputs["resources"] == nil {
		t.Errorf("wait for an object that does not become ready returned %s", r.message())
	}

	// A finalizer of another controller blocks the deletion.
	path := fmt.Sprintf(things, ns, "one")
	set(t, path, "controller", `{"metadata":{"finalizers":["example.org/disk"]}}`)
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s, wait: ", ns)
	r = do(t.Context(), t, all[1], in+"500ms}")
	if want := "still exists after 500ms; finalizers: example.org/disk\n"; !strings.Contains(r.message(), want) || !strings.Contains(r.lines(), "waiting for finalizers example.org/disk") {
		t.Errorf("error does not name the finalizer: %s\n%s", r.message(), r.lines())
	}
	r = do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small}"), "wait: true\n"))
	if !strings.Contains(r.message(), "object is being deleted") {
		t.Errorf("wait for an object that is being deleted returned %s", r.message())
	}
	r = &result{outputs: map[string]*tree.Node{}}
	done := later(t, func() { begin(t.Context(), t, all[1], in+"1m}", r) })
	eventually(t, "the step waits", func() bool { return strings.Contains(r.lines(), "waiting for") })
	set(t, path, "controller", `{"metadata":{"finalizers":[]}}`)
	done()
	if r.err != nil || !strings.HasSuffix(r.lines(), "is gone") || !strings.Contains(r.lines(), "is already being deleted") {
		t.Errorf("wait for the deletion: %s\n%s", r.message(), r.lines())
	}

	for wait, want := range map[string]string{"0s": `"0s"`, "soon": `"soon"`, "{weeks: 1}": `{"weeks":1}`, "7": "7"} {
		r := do(t.Context(), t, all[0], with(thing(ns, "two", "{size: small}"), "wait: "+wait+"\n"))
		if r.message() != "cannot use wait: "+want+" is not a duration\nset true, a duration such as 5m, or {minutes: 5}" {
			t.Errorf("wait: %s: %s", wait, r.message())
		}
	}
}

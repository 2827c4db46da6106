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

// later runs an action beside the test.
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
			t.Fatal("it does not end")
		}
	}
}

// TestWait waits until an object is ready, through an outage.
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
	// That it was ready before the last change does not count.
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
		`cluster "real": cannot apply ` + name + ": the server answers 503: gone for a moment; waiting on\n" +
		name + ": Ready is True: Available\n" +
		name + ": Ready is True: Available: now"
	if diff := cmp.Diff(want, r.lines()); diff != "" {
		t.Errorf("every change is told once (-want +got):\n%s", diff)
	}
	if r := do(t.Context(), t, apply, with(thing(ns, "one", "{size: small}"), "wait: true\n")); r.err != nil {
		t.Errorf("what is ready is not waited for: %s", r.message())
	}
}

// TestWaitEnds waits in vain.
func TestWaitEnds(t *testing.T) {
	ns := namespace(t)
	all := actions.Actions(fleet(t), actions.Options{Wait: time.Second})
	r := do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small}"), "wait: true\n"))
	want := fmt.Sprintf("cluster \"real\": cannot wait for Thing %s/one: it is not ready after 1s: it has no condition Ready\n"+
		"it is applied, and the cluster goes on with it: look at it there, or wait longer", ns)
	if r.message() != want || !isReason(r.err, actions.Late) || r.outputs["resources"] == nil {
		t.Errorf("it is not for ever: %s", r.message())
	}

	// Somebody holds it back.
	path := fmt.Sprintf(things, ns, "one")
	set(t, path, "controller", `{"metadata":{"finalizers":["example.org/disk"]}}`)
	in := fmt.Sprintf("{apiVersion: test.example.org/v1, kind: Thing, name: one, namespace: %s, wait: ", ns)
	r = do(t.Context(), t, all[1], in+"500ms}")
	if want := "it is still there after 500ms; it is held by example.org/disk\n"; !strings.Contains(r.message(), want) || !strings.Contains(r.lines(), "waiting for example.org/disk") {
		t.Errorf("who holds it is told: %s\n%s", r.message(), r.lines())
	}
	r = do(t.Context(), t, all[0], with(thing(ns, "one", "{size: small}"), "wait: true\n"))
	if !strings.Contains(r.message(), "it is being deleted") {
		t.Errorf("what goes will not be ready: %s", r.message())
	}
	r = &result{outputs: map[string]*tree.Node{}}
	done := later(t, func() { begin(t.Context(), t, all[1], in+"1m}", r) })
	eventually(t, "it is waited for", func() bool { return strings.Contains(r.lines(), "waiting for") })
	set(t, path, "controller", `{"metadata":{"finalizers":[]}}`)
	done()
	if r.err != nil || !strings.HasSuffix(r.lines(), "is gone") || !strings.Contains(r.lines(), "is being deleted already") {
		t.Errorf("it goes in the end: %s\n%s", r.message(), r.lines())
	}

	for wait, want := range map[string]string{"0s": `"0s"`, "soon": `"soon"`, "{weeks: 1}": `{"weeks":1}`, "7": "7"} {
		r := do(t.Context(), t, all[0], with(thing(ns, "two", "{size: small}"), "wait: "+wait+"\n"))
		if r.message() != "cannot use wait: "+want+" is not how long\nwrite true, a duration such as 5m, or {minutes: 5}" {
			t.Errorf("wait: %s: %s", wait, r.message())
		}
	}
}

package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
)

// three are the references of the entities of definitions.
func three(plurals ...string) []string {
	var out []string
	for _, p := range plurals {
		out = append(out, "API "+p+".example.org-api", "Resource "+p+".example.org-xrd", "Template "+p+".example.org")
	}
	slices.Sort(out)
	return out
}

// has compares the references of the catalog.
func (b *harness) has(t *testing.T, reason string, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(b.catalog.entries()))); diff != "" {
		t.Errorf("%s: %s", reason, diff)
	}
}

// TestOlderList has a watch tell of all there is later than a scan that asked
// after it.
func TestOlderList(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	var asked []string
	b := abroad(t, a, func(o *Options) {
		o.Again = func(_ context.Context, place string) error {
			asked = append(asked, place)
			return nil
		}
	})
	b.visits(t)
	late := cluster.Event{Type: cluster.Listed, Version: 100, Items: []cluster.Item{{Name: "as.example.org", Version: 50, UID: "uid of as.example.org"}}}
	a.put(t, definition("bs", "one"), 110)
	b.visits(t)
	w, l := a.follower(t, b)
	tell := func(n cluster.Event) {
		w.handleEvent(n, l)
		w.read(t.Context(), w.gather())
		b.works(t)
	}
	tell(late)
	b.has(t, "what came late took something away", three("as", "bs"))
	if len(asked) == 0 {
		t.Error("who is to tell whether it was late or the cluster was restored?")
	}
	asked = nil
	late.Version = 120
	tell(late)
	b.has(t, "what a watch lists alone took something away", three("as", "bs"))
	if diff := cmp.Diff([]string{theCluster}, asked); diff != "" {
		t.Errorf("who is to tell whether it is gone: %s", diff)
	}
}

// TestOtherHistory has another cluster come under the name of one.
func TestOtherHistory(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// object and list are the versions of the other cluster; those of the
		// first are 900 and 1000.
		object, list int64
	}{
		"Behind":    {"One whose versions are lower was restored, or is new.", 80, 100},
		"Ahead":     {"One that is further along has objects that are older.", 800, 5000},
		"AllBeyond": {"One that is further along has objects that are newer.", 2000, 5000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := stand(t)
			a.to(1000)
			a.put(t, definition("as", "before"), 900)
			a.put(t, definition("bs", "before"), 950)
			b := abroad(t, a, nil)
			b.visits(t)
			a.clear()
			a.to(0)
			a.put(t, definition("as", "after"), tc.object)
			a.to(tc.list)
			b.visits(t)
			b.has(t, tc.reason, three("as"))
			if objects := b.mirrored(t, "as.example.org"); len(objects) != 1 || objects[0].Version != tc.object {
				t.Errorf("%s\nthe mirror has %+v", tc.reason, objects)
			}
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "after") {
				t.Errorf("%s\nthe Template is %s", tc.reason, text)
			}
			if run := b.visits(t); run.Changed != 0 {
				t.Errorf("%s\nnothing changed since, and it did %+v", tc.reason, run)
			}
		})
	}
}

// TestMarksAhead has the database lose what happened last, and change detection
// not.
func TestMarksAhead(t *testing.T) {
	t.Parallel()
	for _, method := range []string{ByVersion, ByTimestamp, ByHash} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			a := stand(t)
			a.put(t, definition("as", "before"), 50)
			// Of a time that is the newest there is no mark.
			a.put(t, definition("zs", "one"), 90)
			b := abroad(t, a, func(o *Options) { o.Variants[0].Detection.Method = method })
			b.visits(t)
			before := b.mirrored(t, "as.example.org")
			a.put(t, definition("as", "after"), 110)
			a.put(t, definition("zs", "two"), 150)
			b.visits(t)
			if _, err := b.Memory.Observe(t.Context(), mirror.Observation{Source: theCluster, List: theDefinitions, Put: before, Anew: true}); err != nil {
				t.Fatal(err)
			}
			b.works(t)
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "before") {
				t.Fatalf("the database has lost nothing: %s", text)
			}
			b.visits(t)
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "after") {
				t.Errorf("a mark hides the change: %s", text)
			}
		})
	}
}

// interrupted is a Memory into which a worker comes before the state of a source
// is remembered.
type interrupted struct {
	Memory
	// worker works off what is dirty; nil for nobody.
	worker func()
	// inside is who runs alone, of whom there is one; waits says that another
	// waits for that to end.
	inside chan struct{}
	waits  chan struct{}
}

// Alone implements Agenda.
func (i *interrupted) WithLock(ctx context.Context, name string, do func(context.Context) error) error {
	select {
	case i.inside <- struct{}{}:
		<-i.inside
	default:
		select {
		case i.waits <- struct{}{}:
		default:
		}
	}
	return i.Memory.WithLock(ctx, name, func(ctx context.Context) error {
		i.inside <- struct{}{}
		defer func() { <-i.inside }()
		return do(ctx)
	})
}

// SetSource implements Journal.
func (i *interrupted) SetSource(ctx context.Context, name string, data []byte) error {
	if work := i.worker; work != nil && name == theCluster {
		i.worker = nil
		done := make(chan struct{})
		go func() {
			defer close(done)
			work()
		}()
		select {
		case <-done:
		case <-i.waits:
		}
	}
	return i.Memory.SetSource(ctx, name, data)
}

// TestStaleOnce has a worker come between the units of a list that became stale
// and the state that says so.
func TestStaleOnce(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	memory := &interrupted{inside: make(chan struct{}, 1), waits: make(chan struct{}, 1)}
	b := abroad(t, a, func(o *Options) { memory.Memory, o.Memory = o.Memory, memory })
	b.visits(t)
	a.forbid(true)
	worked := make(chan error, 1)
	memory.worker = func() {
		_, err := b.work(context.WithoutCancel(t.Context()))
		worked <- err
	}
	if _, err := b.visit(t); err == nil {
		t.Fatal("what is forbidden was read")
	}
	if err := <-worked; err != nil {
		t.Fatal(err)
	}
	b.works(t)
	b.has(t, "what is stale is there", three("as"))
	for ref, text := range b.catalog.entries() {
		if !strings.Contains(text, "stale-since") {
			t.Errorf("%s is not marked: %s", ref, text)
		}
	}
}

// busy is a Memory in which something happens while a scan goes on: before it
// asks for the kinds that there are, and before it drops those that there are no
// longer.
type busy struct {
	Memory
	during, late func()
}

// SourceObjects implements Mirror.
func (b *busy) SourceObjects(ctx context.Context, source string, lists ...string) ([]mirror.Object, error) {
	b.during()
	return b.Memory.SourceObjects(ctx, source, lists...)
}

// DropLists implements Mirror.
func (b *busy) DropLists(ctx context.Context, source string, lists []string) (int, error) {
	b.late()
	return b.Memory.DropLists(ctx, source, lists)
}

// TestListsBegun has another replica begin to read a kind while a scan that does
// not know of it ends.
func TestListsBegun(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	memory := &busy{during: func() {}, late: func() {}}
	b := abroad(t, a, func(o *Options) { memory.Memory, o.Memory = o.Memory, memory })
	b.visits(t)
	see := func(list string) {
		x := mirror.Object{Key: "one", Of: "example.org/Xbs", Version: 131, Note: []byte("{}"), Body: []byte("{}")}
		if _, err := memory.Observe(t.Context(), mirror.Observation{Source: theCluster, List: list, Put: []mirror.Object{x}}); err != nil {
			t.Fatal(err)
		}
	}
	see(listComposites + "old.example.org")
	memory.during = func() { see(listComposites + "bs.example.org") }
	memory.late = func() { see(listComposites + "cs.example.org") }
	b.visits(t)
	lists, err := memory.Lists(t.Context(), theCluster)
	want := []string{listComposites + "bs.example.org", listComposites + "cs.example.org", theDefinitions}
	if diff := cmp.Diff(want, lists); diff != "" || err != nil {
		t.Errorf("what was just begun stays, and what no definition gives goes: %s, %v", diff, err)
	}
}

// TestTurn has a scan wait for another longer than it may take.
func TestTurn(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	b := abroad(t, a, nil)
	b.visits(t)
	before := b.catalog.entries()
	b.later(time.Hour)
	if err := b.places[0].lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := b.Scan(over, theCluster, TriggerManual)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		b.places[0].unlock()
	case <-time.After(20 * time.Second):
		b.places[0].unlock()
		t.Errorf("it waits on: %v", <-ended)
	}
	b.works(t)
	if h, s := b.fares(t); h.Status != Healthy || s.State != Connected || len(s.Stale) > 0 {
		t.Errorf("the cluster is well, and health is %+v", h)
	}
	if diff := cmp.Diff(before, b.catalog.entries()); diff != "" {
		t.Errorf("entities changed: %s", diff)
	}
}

const cannotRead = "source cannot be read, wholly or in part; what is known of it stays"

// TestUnreadable has objects that can be listed and not be read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	a := stand(t)
	plurals := []string{"as", "bs", "cs", "ds", "es"}
	for i, plural := range plurals {
		a.put(t, definition(plural, "one"), int64(50+i))
	}
	b := abroad(t, a, nil)
	b.visits(t)
	for i, plural := range plurals {
		a.put(t, definition(plural, "two"), int64(110+i))
		if plural != "as" {
			a.spoil(plural + ".example.org")
		}
	}
	// They are read in any order.
	for range 20 {
		if _, err := b.visit(t); err == nil || !strings.Contains(err.Error(), "4 of the objects") || !strings.Contains(err.Error(), "bs.example.org") {
			t.Errorf("the scan says %v", err)
		}
	}
	if n := b.logged(cannotRead); n != 1 {
		t.Errorf("it is logged %d times: %s", n, b.log)
	}
	h, s := b.fares(t)
	if h.Status != Degraded || h.Clusters["prod"] != Partial || s.State != Partial || !strings.Contains(s.LastError, "bs.example.org") {
		t.Errorf("health is %+v", h)
	}
	b.has(t, "what cannot be read stays", three(plurals...))
	for plural, field := range map[string]string{"as": "two", "bs": "one"} {
		if text := b.catalog.entries()["Template "+plural+".example.org"]; !strings.Contains(text, field) {
			t.Errorf("%s has no field %q: %s", plural, field, text)
		}
	}
	for i, plural := range plurals {
		a.put(t, definition(plural, "three"), int64(120+i))
	}
	b.visits(t)
	if h, s := b.fares(t); h.Status != Healthy || s.LastError != "" || b.logged("source can be read again") != 1 {
		t.Errorf("health is %+v", h)
	}
}

// TestObjectPanics has one object break what makes something of it.
func TestObjectPanics(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, definition("bs", "one"), 51)
	b := abroad(t, a, nil)
	b.visits(t)
	a.put(t, definition("as", "two"), 110)
	a.put(t, definition("bs", "two"), 111)
	w, l := a.follower(t, b)
	whole := l.object
	l.object = func(n *tree.Node) (mirror.Object, error) {
		if name(n) == "bs.example.org" {
			panic("it breaks")
		}
		return whole(n)
	}
	s, err := w.newScan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.read(t.Context(), w.cluster, l)
	if err := s.conclude(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	b.works(t)
	b.has(t, "all are there", three("as", "bs"))
	for plural, field := range map[string]string{"as": "two", "bs": "one"} {
		if text := b.catalog.entries()["Template "+plural+".example.org"]; !strings.Contains(text, field) {
			t.Errorf("%s has no field %q: %s", plural, field, text)
		}
	}
	if _, s := b.fares(t); s.State != Partial || !strings.Contains(s.LastError, "it breaks") || !strings.Contains(s.LastError, "bs.example.org") {
		t.Errorf("health is %+v", s)
	}
}

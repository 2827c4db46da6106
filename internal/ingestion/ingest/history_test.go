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
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/cluster"
)

// three returns the references of the entities of definitions.
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

// TestOtherHistory replaces a cluster by another with the same name.
func TestOtherHistory(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// object and list are the versions of the new cluster; those of the old one are
		// 900 and 1000.
		object, list int64
	}{
		"Behind":    {"A cluster with lower versions is restored or new.", 80, 100},
		"Ahead":     {"A cluster with a higher list version may have older objects.", 800, 5000},
		"AllBeyond": {"A cluster with a higher list version may have newer objects.", 2000, 5000},
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
				t.Errorf("%s\nobjects of the mirror are %+v", tc.reason, objects)
			}
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "after") {
				t.Errorf("%s\nTemplate is %s", tc.reason, text)
			}
			if run := b.visits(t); run.Changed != 0 {
				t.Errorf("%s\nunchanged scan returned %+v, want no changes", tc.reason, run)
			}
		})
	}
}

// TestMarksAhead checks that a database that lost its latest changes is not
// hidden by change detection that did not.
func TestMarksAhead(t *testing.T) {
	t.Parallel()
	for _, method := range []string{variant.ByVersion, variant.ByTimestamp, variant.ByHash} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			a := stand(t)
			a.put(t, definition("as", "before"), 50)
			// There is no mark for the newest time.
			a.put(t, definition("zs", "one"), 90)
			b := abroad(t, a, func(o *Options) { o.Variants[0].Detection.Method = method })
			b.visits(t)
			before := b.mirrored(t, "as.example.org")
			a.put(t, definition("as", "after"), 110)
			a.put(t, definition("zs", "two"), 150)
			b.visits(t)
			if _, err := b.Mirror.Observe(t.Context(), mirror.Observation{Source: theCluster, List: theDefinitions, Put: before, Anew: true}); err != nil {
				t.Fatal(err)
			}
			b.works(t)
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "before") {
				t.Fatalf("database was not reset: %s", text)
			}
			b.visits(t)
			if text := b.catalog.entries()["Template as.example.org"]; !strings.Contains(text, "after") {
				t.Errorf("mark hides the change: %s", text)
			}
		})
	}
}

// TestStaleOnce builds the units of a list that became stale before the stale
// state is stored, and checks that they are built again afterwards.
func TestStaleOnce(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	var build func()
	b := abroad(t, a, func(o *Options) {
		o.reached = func(step, _ string) {
			if step == "settle" && build != nil {
				build()
			}
		}
	})
	b.visits(t)
	a.forbid(true)
	build = func() {
		if err := b.Mirror.Touch(t.Context(), []string{"as.example.org"}); err != nil {
			t.Error(err)
		}
		if _, err := b.processor.Process(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.visit(t); err == nil {
		t.Fatal("scan of a forbidden list returned no error")
	}
	build = nil
	b.works(t)
	b.has(t, "stale entities were removed", three("as"))
	for ref, text := range b.catalog.entries() {
		if !strings.Contains(text, "stale-since") {
			t.Errorf("%s is not marked as stale: %s", ref, text)
		}
	}
}

// TestListsBegun has another replica begin to read a kind before a scan that
// does not know the kind ends.
func TestListsBegun(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	during := map[string]func(){}
	b := abroad(t, a, func(o *Options) {
		o.reached = func(step, _ string) {
			if do := during[step]; do != nil {
				do()
			}
		}
	})
	b.visits(t)
	see := func(list string) {
		x := mirror.Object{Key: "one", Of: "example.org/Xbs", Version: 131, Note: []byte("{}"), Body: []byte("{}")}
		if _, err := b.Mirror.Observe(t.Context(), mirror.Observation{Source: theCluster, List: list, Put: []mirror.Object{x}}); err != nil {
			t.Fatal(err)
		}
	}
	see(object.ListComposites + "old.example.org")
	during["read kinds"] = func() { see(object.ListComposites + "bs.example.org") }
	during["drop lists"] = func() { see(object.ListComposites + "cs.example.org") }
	b.visits(t)
	lists, err := b.Mirror.Lists(t.Context(), theCluster)
	want := []string{object.ListComposites + "bs.example.org", object.ListComposites + "cs.example.org", theDefinitions}
	if diff := cmp.Diff(want, lists); diff != "" || err != nil {
		t.Errorf("lists differ, want the new list kept and the obsolete one removed: %s, %v", diff, err)
	}
}

// TestTurn has a scan wait for another scan until its timeout.
func TestTurn(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	b := abroad(t, a, nil)
	b.visits(t)
	before := b.catalog.entries()
	b.later(time.Hour)
	busy, release, released := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		released <- b.targets[0].Update(t.Context(), func(*scan.Scan) error {
			close(busy)
			<-release
			return nil
		})
	}()
	<-busy
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
			t.Errorf("scan ended with %v, want context.DeadlineExceeded", err)
		}
		close(release)
	case <-time.After(20 * time.Second):
		close(release)
		t.Errorf("scan still waits after its timeout: %v", <-ended)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	b.works(t)
	if h, s := b.healthOf(t); h.Status != health.Healthy || s.State != health.Connected || len(s.Stale) > 0 {
		t.Errorf("health is %+v, want healthy", h)
	}
	if diff := cmp.Diff(before, b.catalog.entries()); diff != "" {
		t.Errorf("entities changed: %s", diff)
	}
}

const cannotRead = "source scan failed or incomplete; last known objects are kept"

// TestUnreadable checks objects that can be listed but not read.
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
	// The order of reading is random.
	for range 20 {
		if _, err := b.visit(t); err == nil || !strings.Contains(err.Error(), "4 of the objects") || !strings.Contains(err.Error(), "bs.example.org") {
			t.Errorf("scan returned %v, want an error that counts and names the objects", err)
		}
	}
	if n := b.logged(cannotRead); n != 1 {
		t.Errorf("failure was logged %d times, want once: %s", n, b.log)
	}
	h, s := b.healthOf(t)
	if h.Status != health.Degraded || h.Clusters["prod"] != health.Partial || s.State != health.Partial || !strings.Contains(s.LastError, "bs.example.org") {
		t.Errorf("health is %+v, want it degraded and the source partial", h)
	}
	b.has(t, "entities of unreadable objects were removed", three(plurals...))
	for plural, field := range map[string]string{"as": "two", "bs": "one"} {
		if text := b.catalog.entries()["Template "+plural+".example.org"]; !strings.Contains(text, field) {
			t.Errorf("%s has no field %q: %s", plural, field, text)
		}
	}
	for i, plural := range plurals {
		a.put(t, definition(plural, "three"), int64(120+i))
	}
	b.visits(t)
	if h, s := b.healthOf(t); h.Status != health.Healthy || s.LastError != "" || b.logged("source scan recovered") != 1 {
		t.Errorf("health is %+v, want healthy, and the recovery logged once", h)
	}
}

// TestObjectPanics checks that an object whose conversion panics affects no
// other object.
func TestObjectPanics(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, definition("bs", "one"), 51)
	b := abroad(t, a, nil)
	b.visits(t)
	a.put(t, definition("as", "two"), 110)
	a.put(t, definition("bs", "two"), 111)
	c, err := cluster.Connect(a.settings(), cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	apis, err := c.APIs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := listing.List{
		Name: theDefinitions, Resource: apis[0].DefinitionsResource(),
		Labels: []string{""}, Refuse: func(cluster.Item) string { return "" },
		Object: func(n *tree.Node) mirror.Object {
			if name(n) == "bs.example.org" {
				panic("it breaks")
			}
			cluster.Settle(n, apis[0])
			return b.variants[0].Definition(n, c.Origin(cluster.ShortDefinition, "", name(n)))
		},
	}
	b.targets[0].Read = func(ctx context.Context, s *scan.Scan) error {
		(&listing.Reader{Scan: s, Cluster: c}).Read(ctx, l)
		return nil
	}
	if _, err := b.visit(t); err == nil {
		t.Error("scan returned no error")
	}
	b.has(t, "entities are missing", three("as", "bs"))
	for plural, field := range map[string]string{"as": "two", "bs": "one"} {
		if text := b.catalog.entries()["Template "+plural+".example.org"]; !strings.Contains(text, field) {
			t.Errorf("%s has no field %q: %s", plural, field, text)
		}
	}
	if _, s := b.healthOf(t); s.State != health.Partial || !strings.Contains(s.LastError, "it breaks") || !strings.Contains(s.LastError, "bs.example.org") {
		t.Errorf("source health is %+v, want partial with the name of the object", s)
	}
}

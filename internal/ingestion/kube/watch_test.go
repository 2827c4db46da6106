package kube

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/database"
)

const (
	theCluster     = "composerIngestor/prod"
	theDefinitions = object.ListDefinitions + "compositeresourcedefinitions.apiextensions.crossplane.io"
)

func TestMain(m *testing.M) { database.Main(m) }

// newTestWatcher returns a watcher that watches nothing yet.
func newTestWatcher(services *scan.Services, c *cluster.Cluster) *watcher {
	t := scan.NewTarget(services, variant.New(&variant.Options{}, ""), status.Target{Name: theCluster, At: "prod", Cluster: true}, time.Hour)
	return &watcher{
		definitions: &definitions{Target: t, cluster: c, Share: NewShare(1)}, moved: make(chan struct{}, 1),
		pending: map[string]*pendingEvents{}, failing: map[string]bool{},
	}
}

// TestOlderList checks that a list of a watch that is older than the last scan has
// no effect.
func TestOlderList(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A client that closed the connection gets no response.
		_, _ = w.Write([]byte(`{"kind":"APIResourceList","resources":[{"name":"compositeresourcedefinitions","verbs":["create","list"]}]}`))
	}))
	t.Cleanup(server.Close)
	c, err := cluster.Connect(source.Cluster{Name: "prod", URL: server.URL, Token: "theirs"}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	m := mirror.New(database.Open(t, database.SQLite(t)))
	w := newTestWatcher(&scan.Services{
		Mirror: m, Metrics: metrics.New(nil), Once: &once.Log{}, Now: time.Now, BuildSoon: func() {},
		ScanSoon: func(t *scan.Target) { asked = append(asked, t.Name) },
	}, c)
	seen := mirror.Observation{Source: theCluster, List: theDefinitions, Put: []mirror.Object{
		{Source: theCluster, List: theDefinitions, Key: "as.example.org", Unit: "as.example.org", Version: 50, Note: []byte("{}"), Body: []byte("{}")},
		{Source: theCluster, List: theDefinitions, Key: "bs.example.org", Unit: "bs.example.org", Version: 110, Note: []byte("{}"), Body: []byte("{}")},
	}}
	if _, err := m.Observe(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	state, err := json.Marshal(status.Status{Lists: map[string]status.List{theDefinitions: {Version: 110}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetSource(t.Context(), theCluster, state); err != nil {
		t.Fatal(err)
	}
	l := listing.List{
		Name: theDefinitions, Refuse: func(cluster.Item) string { return "not of interest" },
		Resource: cluster.Resource{Group: "apiextensions.crossplane.io", Version: "v2", Plural: "compositeresourcedefinitions"},
	}
	late := cluster.Event{Type: cluster.Listed, Version: 100, Items: []cluster.Item{{Name: "as.example.org", Version: 50}}}
	tell := func(reason string) {
		t.Helper()
		w.handleEvent(late, l)
		w.read(t.Context(), w.gather())
		known, err := m.Known(t.Context(), theCluster, theDefinitions)
		if diff := cmp.Diff(map[string]int64{"as.example.org": 50, "bs.example.org": 110}, known); diff != "" || err != nil {
			t.Errorf("%s: %s (%v)", reason, diff, err)
		}
	}
	tell("the older list removed something")
	if len(asked) == 0 {
		t.Error("no scan was requested, although the list may be late or the cluster restored")
	}
	asked = nil
	late.Version = 120
	tell("a list of a watch removed something by itself")
	if diff := cmp.Diff([]string{theCluster}, asked); diff != "" {
		t.Errorf("requested scans differ: %s", diff)
	}
	asked = nil
	late.Version, l.Refuse = 130, func(cluster.Item) string { panic("as if the code had a mistake") }
	tell("a panic removed something")
	if diff := cmp.Diff([]string{theCluster}, asked); diff != "" {
		t.Errorf("requested scans after a panic differ: %s", diff)
	}
}

// TestEvents checks how events of a watch are merged.
func TestEvents(t *testing.T) {
	t.Parallel()
	item := func(name string, version int64) cluster.Item { return cluster.Item{Name: name, Version: version} }
	one := func(kind cluster.EventType, name string, version int64) cluster.Event {
		return cluster.Event{Type: kind, Items: []cluster.Item{item(name, version)}, Version: version}
	}
	type gathered struct {
		Listed bool
		Items  map[string]int64
		Gone   map[string]int64
	}
	cases := map[string]struct {
		reason string
		events []cluster.Event
		want   gathered
	}{
		"Changes": {
			"The last of several changes counts.",
			[]cluster.Event{one(cluster.Changed, "a", 1), one(cluster.Changed, "b", 2), one(cluster.Changed, "a", 3)},
			gathered{false, map[string]int64{"a": 3, "b": 2}, nil},
		},
		"Deleted": {
			"A deleted object is not read.",
			[]cluster.Event{one(cluster.Changed, "a", 1), one(cluster.Deleted, "a", 2)},
			gathered{false, nil, map[string]int64{"a": 2}},
		},
		"BackAgain": {
			"An object that was deleted and created again is read.",
			[]cluster.Event{one(cluster.Deleted, "a", 1), one(cluster.Changed, "a", 2)},
			gathered{false, map[string]int64{"a": 2}, nil},
		},
		"Listed": {
			"A list replaces all earlier events.",
			[]cluster.Event{one(cluster.Changed, "a", 1), one(cluster.Deleted, "b", 2), {Type: cluster.Listed, Items: []cluster.Item{item("c", 3)}, Version: 4}},
			gathered{true, map[string]int64{"c": 3}, nil},
		},
		"AfterList": {
			"Events after a list are added to it.",
			[]cluster.Event{{Type: cluster.Listed, Items: []cluster.Item{item("a", 1), item("b", 2)}, Version: 2}, one(cluster.Deleted, "a", 3), one(cluster.Changed, "c", 4)},
			gathered{true, map[string]int64{"b": 2, "c": 4}, map[string]int64{"a": 3}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestWatcher(&scan.Services{Metrics: metrics.New(nil)}, nil)
			for _, n := range tc.events {
				w.handleEvent(n, listing.List{Name: "definitions x"})
			}
			w.handleEvent(one(cluster.Changed, "z", 9), listing.List{Name: "compositions x"})
			all := w.gather()
			if len(all) != 2 || all[0].list.Name != "definitions x" {
				t.Fatalf("lists are %v, want definitions first", all)
			}
			got := gathered{Listed: all[0].listed}
			for _, key := range slices.Sorted(maps.Keys(all[0].items)) {
				if got.Items == nil {
					got.Items = map[string]int64{}
				}
				got.Items[key] = all[0].items[key].Version
			}
			if len(all[0].gone) > 0 {
				got.Gone = all[0].gone
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if len(w.gather()) != 0 {
				t.Error("events were returned a second time")
			}
		})
	}
}

// TestNoKinds checks that a kind whose composites are disabled is neither listed
// nor watched.
func TestNoKinds(t *testing.T) {
	t.Parallel()
	k := cluster.Kind{Resource: cluster.Resource{Group: "example.org", Version: "v1", Plural: "as"}, Kind: "Xa"}
	note, err := json.Marshal(object.Note{Kinds: []cluster.Kind{k}})
	if err != nil {
		t.Fatal(err)
	}
	objects := []mirror.Object{{List: theDefinitions, Key: "as.example.org", Note: note}}
	for _, off := range []bool{false, true} {
		w := newTestWatcher(&scan.Services{}, nil)
		w.Variant.NoComposites = off
		if kinds := w.kindsOf(objects); (len(kinds) == 0) != off {
			t.Errorf("with composites disabled: %v, kinds are %v", off, kinds)
		}
	}
}

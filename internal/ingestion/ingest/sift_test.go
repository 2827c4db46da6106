package ingest

import (
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source/cluster"
)

// TestSift checks which changes of an object have it read, by method.
func TestSift(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	before := cluster.Item{Name: "a.example.org", Version: 7, UID: "u", Generation: 1, Labels: map[string]string{"team": "red"}, Changed: noon}
	with := func(change func(*cluster.Item)) cluster.Item {
		i := before
		change(&i)
		return i
	}
	refuse := func(i cluster.Item) string {
		if i.Labels["team"] != "red" {
			return "it is not red"
		}
		return ""
	}
	const nothing, look, refused = "nothing", "look", "refused"
	cases := map[string]struct {
		reason string
		now    cluster.Item
		known  map[string]int64
		// unmarked reports whether change detection has no mark.
		unmarked bool
		// want is the result for the methods version, timestamp, hash, and disabled.
		want [4]string
	}{
		"Same": {
			"An unchanged object is skipped; metadata has no hash.",
			before, map[string]int64{"a.example.org": 7}, false, [4]string{nothing, nothing, look, look},
		},
		"Status": {
			"A new version is read, even if neither spec nor time changed.",
			with(func(i *cluster.Item) { i.Version = 8 }), map[string]int64{"a.example.org": 7}, false, [4]string{look, look, look, look},
		},
		"SeenByOthers": {
			"With timestamps, a version that another replica stored is skipped.",
			with(func(i *cluster.Item) { i.Version = 8 }), map[string]int64{"a.example.org": 8}, false, [4]string{look, nothing, look, look},
		},
		"Later": {
			"A later time is read.",
			with(func(i *cluster.Item) { i.Version, i.Changed = 8, noon.Add(time.Second) }), map[string]int64{"a.example.org": 8}, false, [4]string{look, look, look, look},
		},
		"LabelGone": {
			"Labels are compared, as servers set no time when a label is removed.",
			with(func(i *cluster.Item) { i.Version, i.Labels = 8, map[string]string{"team": "red", "tier": "x"} }),
			map[string]int64{"a.example.org": 8}, false, [4]string{look, look, look, look},
		},
		"Another": {
			"An object that was deleted and created again has another uid.",
			with(func(i *cluster.Item) { i.UID = "other" }), map[string]int64{"a.example.org": 7}, false, [4]string{look, nothing, look, look},
		},
		"Unknown": {
			"A mark of an object that the mirror does not have is ignored.",
			before, nil, false, [4]string{look, look, look, look},
		},
		"Unmarked": {
			"Without a mark everything is read.",
			before, map[string]int64{"a.example.org": 7}, true, [4]string{look, look, look, look},
		},
		"Refused": {
			"An object that is refused by its metadata is not read.",
			with(func(i *cluster.Item) { i.Version, i.Labels = 8, nil }), map[string]int64{"a.example.org": 7}, false, [4]string{refused, refused, refused, refused},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [4]string
			for n, d := range []Detection{{Enabled: true, Method: ByVersion}, {Enabled: true, Method: ByTimestamp}, {Enabled: true, Method: ByHash}, {Method: ByVersion}} {
				s := &scan{target: &target{name: "p", variant: &variant{Variant: &Variant{Log: slog.New(slog.DiscardHandler), Detection: d}}}, marks: map[string]string{}}
				l := list{name: "definitions x", refuse: refuse}
				if mark := s.mark(before); mark != "" && !tc.unmarked {
					s.marks[markKey(l.name, "a.example.org")] = mark
				}
				out := s.diffList(l, []cluster.Item{tc.now}, tc.known)
				switch {
				case len(out.want) == 1 && len(out.put) == 0:
					got[n] = look
				case len(out.put) == 1 && len(out.want) == 0 && len(out.put[0].Body) == 0:
					got[n] = refused
				case len(out.put)+len(out.want) == 0:
					got[n] = nothing
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNotices checks how events of a watch are merged.
func TestNotices(t *testing.T) {
	t.Parallel()
	item := func(name string, version int64) cluster.Item { return cluster.Item{Name: name, Version: version} }
	one := func(kind cluster.NoticeType, name string, version int64) cluster.Event {
		return cluster.Event{Type: kind, Items: []cluster.Item{item(name, version)}, Version: version}
	}
	type gathered struct {
		Listed bool
		Items  map[string]int64
		Gone   map[string]int64
	}
	cases := map[string]struct {
		reason  string
		notices []cluster.Event
		want    gathered
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
			in := New(Options{})
			w := &watcher{
				definitions: &definitions{target: &target{name: "p", variant: &variant{Variant: &Variant{Log: slog.New(slog.DiscardHandler)}, in: in}}},
				moved:       make(chan struct{}, 1), pending: map[string]*pendingEvents{}, troubled: map[string]bool{},
			}
			for _, n := range tc.notices {
				w.handleEvent(n, list{name: "definitions x"})
			}
			w.handleEvent(one(cluster.Changed, "z", 9), list{name: "compositions x"})
			all := w.gather()
			if len(all) != 2 || all[0].list.name != "definitions x" {
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

package cluster_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// TestWalk walks through fake servers, one of which does not exist, and checks
// that each definition is returned once, however often a list is restarted.
func TestWalk(t *testing.T) {
	five := []string{
		definitionItem(ours, "a", `"team":"red"`), definitionItem(ours, "b", ""), definitionItem(ours, "c", `"team":"red"`),
		`{"apiVersion":"x","kind":"CompositeResourceDefinition","metadata":{"name":"bad","labels":{"team":"red"},"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`,
		definitionItem(ours, "d", ""),
	}
	expired := 0
	expiring := &standIn{definitions: five, trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("continue") != "2" || expired > 0 {
			return false
		}
		expired++
		refuse(w, http.StatusGone, "the continue parameter is too old")
		return true
	}}
	red, err := selector.Parse("team=red")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		opts   cluster.ReadOptions
		stop   int // yield stops after this number
		want   []string
		status map[string]int // number of definitions of each cluster
		failed bool
	}{
		"All": {
			reason: "All objects of each cluster are returned in order.",
			want: []string{
				"one xas.one.example.org", "one xbs.one.example.org", "one xcs.one.example.org", "finding one/xrd/bad", "one xds.one.example.org",
				"two xas.one.example.org", "two xbs.one.example.org",
			},
			status: map[string]int{"one": 4, "two": 2, "gone": 0}, failed: true,
		},
		"Labels": {reason: "Only definitions with matching labels are returned.", opts: cluster.ReadOptions{Labels: red}, want: []string{"one xas.one.example.org", "one xcs.one.example.org", "finding one/xrd/bad"}, status: map[string]int{"one": 2, "two": 0, "gone": 0}, failed: true},
		"Stop":   {reason: "The walk ends when the callback stops it.", stop: 2, want: []string{"one xas.one.example.org", "one xbs.one.example.org"}, status: map[string]int{"one": 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expired = 0
			status := map[string]int{}
			src := cluster.New([]*cluster.Cluster{
				connect(t, "one", expiring.start(t), cluster.Options{PageSize: 2}),
				connect(t, "gone", source.Cluster{URL: "https://127.0.0.1:1", Token: credential}, failing),
				connect(t, "two", (&standIn{}).start(t), cluster.Options{}),
			}, tc.opts, func(s cluster.Status) {
				status[s.Cluster] = s.Definitions
				if (s.Err != nil) != (s.Cluster == "gone") {
					t.Errorf("%s\ncluster %s: %v", tc.reason, s.Cluster, s.Err)
				}
			})
			var got []string
			err := src.Walk(t.Context(), func(f xrd.Found) bool {
				if f.Finding != nil {
					got = append(got, "finding "+f.Finding.File)
				} else {
					got = append(got, f.Record.Metadata["cluster"]+" "+f.Record.Name())
				}
				return len(got) != tc.stop
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.status, status); diff != "" {
				t.Errorf("%s\nstatus (-want +got):\n%s", tc.reason, diff)
			}
			failed, ok := errors.AsType[*cluster.Error](err)
			if ok != tc.failed || ok && failed.Cluster != "gone" {
				t.Errorf("%s\nerror %v", tc.reason, err)
			}
		})
	}
}

// TestWalkRecord checks that a record has the origin of its definition.
func TestWalkRecord(t *testing.T) {
	c := (&standIn{}).start(t)
	src := cluster.New([]*cluster.Cluster{connect(t, "one", c, cluster.Options{})}, cluster.ReadOptions{}, nil)
	for r, err := range source.Extract(t.Context(), src, source.ExtractOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"cluster": "one", "location": "url:" + c.URL}, r.Metadata); diff != "" || r.Source != xrd.SourceCluster {
			t.Errorf("source %q, metadata (-want +got):\n%s", r.Source, diff)
		}
	}
}

// TestWalkEnds checks that a walk ends with its context.
func TestWalkEnds(t *testing.T) {
	src := cluster.New([]*cluster.Cluster{
		connect(t, "one", (&standIn{}).start(t), cluster.Options{}), connect(t, "two", (&standIn{}).start(t), cluster.Options{}),
	}, cluster.ReadOptions{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := src.Walk(ctx, func(xrd.Found) bool {
		n++
		cancel()
		return true
	})
	// The rest of the current page may still be returned.
	if n > 2 {
		t.Errorf("%d definitions after the cancellation", n)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestWalkReal walks through a real cluster that serves definitions in two
// versions.
func TestWalkReal(t *testing.T) {
	s := upstream(t)
	s.Apply(t, definition(crossplaneV1, "xzetas.walk.example.org", "  claimNames: {kind: Zeta, plural: zetas}\n")+definition(crossplaneV2, "etas.walk.example.org", ""))
	labels, err := selector.Parse("team in (xzetas,etas)")
	if err != nil {
		t.Fatal(err)
	}
	src := cluster.New([]*cluster.Cluster{admin(t, "up", s, cluster.Options{PageSize: 1})}, cluster.ReadOptions{Labels: labels}, nil)
	got := map[string]string{}
	if err := src.Walk(t.Context(), func(f xrd.Found) bool {
		if got[f.Record.Name()] != "" {
			t.Errorf("%s was returned twice", f.Record.Name())
		}
		got[f.Record.Name()] = f.Record.XRD.Get("apiVersion").Str()
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"xzetas.walk.example.org": crossplaneV1, "etas.walk.example.org": crossplaneV2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want each definition once, in the version it was written for (-want +got):\n%s", diff)
	}
}

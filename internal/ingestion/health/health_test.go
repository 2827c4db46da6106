package health

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/xrd"
)

func TestWorse(t *testing.T) {
	t.Parallel()
	// The order is from good to bad. Any other state is a failure reason, of which
	// the first is kept.
	order := []string{"", Connected, Waiting, Partial, Pending, "unreachable"}
	for i, has := range order {
		for j, state := range order[1:] {
			if got, want := worse(has, state), j+1 > i; got != want {
				t.Errorf("worse reports for %q after %q: %v, want %v", state, has, got, want)
			}
		}
	}
	if worse("unreachable", "forbidden") {
		t.Error("one failure reason replaced another")
	}
}

func TestSourceHealth(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	good, stale := status.List{Count: 1, Good: then}, status.List{Count: 1, Stale: then, Error: "no"}
	cases := map[string]struct {
		reason string
		status status.Status
		want   string
	}{
		"Never":     {"A source that was not scanned yet is waiting.", status.Status{}, Waiting},
		"Good":      {"A source whose lists were all read is connected.", status.Status{Tried: then, Lists: map[string]status.List{"a": good}}, Connected},
		"Empty":     {"A source may have no lists.", status.Status{Tried: then}, Connected},
		"Part":      {"If one of two lists cannot be read, the source is partial.", status.Status{Tried: then, Error: "no", Reason: "forbidden", Lists: map[string]status.List{"a": good, "b": stale}}, Partial},
		"Away":      {"If no list can be read, the state is the reason of the failure.", status.Status{Tried: then, Error: "no", Reason: "unreachable", Lists: map[string]status.List{"a": stale}}, "unreachable"},
		"FirstTime": {"A source that never had a list has the reason of the failure.", status.Status{Tried: then, Error: "no", Reason: "timeout"}, "timeout"},
		"NoReason":  {"A failure without a reason is reported as failed.", status.Status{Tried: then, Error: "no"}, "failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := status.Target{Name: "p", At: "prod", Cluster: true}
			s := sourceHealth(p, tc.status, map[[2]string]int{{"p", "a"}: 2, {"other", "a"}: 3})
			if s.State != tc.want || s.LastError != tc.status.Error || s.Cluster != "prod" {
				t.Errorf("%s\nsource is %+v, want %s", tc.reason, s, tc.want)
			}
			if diff := cmp.Diff(map[string]int{"a": 2}, s.Objects); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCopyState(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const list = "definitions xs.example.org"
	cluster := status.Target{Name: "p", At: "prod", Cluster: true}
	known := status.Status{Lists: map[string]status.List{list: {Good: then}}}
	stale := status.Status{Lists: map[string]status.List{list: {Stale: then}}}
	cases := map[string]struct {
		reason string
		target status.Target
		note   object.Note
		status status.Status
		state  string
		want   string
	}{
		"Served":     {"A selected definition of a cluster is served unless a condition says otherwise.", cluster, object.Note{}, known, Connected, Served},
		"Refused":    {"Nothing is known of a definition that is not selected.", cluster, object.Note{Refused: "no label"}, known, Connected, Found},
		"File":       {"A file does not serve anything.", status.Target{Name: "p"}, object.Note{}, known, Connected, Found},
		"NotServed":  {"A condition that is not True means that it is not served.", cluster, object.Note{Serving: []xrd.Serving{{Cluster: "prod", Conditions: []xrd.Condition{{Type: "Established", Status: "False"}}}}}, known, Connected, NotServed},
		"Stale":      {"If only its list cannot be read, it is stale.", cluster, object.Note{}, stale, Partial, Stale},
		"Unreadable": {"If the cluster cannot be read, this is its state.", cluster, object.Note{}, stale, "unreachable", Unreadable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			note, err := json.Marshal(tc.note)
			if err != nil {
				t.Fatal(err)
			}
			r := New(Options{Remedy: func(string, variant.Found) *variant.Remedy { return nil }})
			c := r.copyOf(tc.target, &mirror.Object{Unit: "xs.example.org", List: list, Key: "xs.example.org", Note: note}, tc.status, tc.state)
			if c.State != tc.want || c.Since.IsZero() != (tc.want != Stale && tc.want != Unreadable) || (c.Message == "") != (tc.want != NotServed) {
				t.Errorf("%s\ncopy is %+v, want the state %s", tc.reason, c, tc.want)
			}
		})
	}
}

package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/status"
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

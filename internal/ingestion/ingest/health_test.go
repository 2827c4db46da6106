package ingest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestPlaceHealth(t *testing.T) {
	t.Parallel()
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	good, stale := listCondition{Count: 1, Good: then}, listCondition{Count: 1, Stale: then, Error: "no"}
	cases := map[string]struct {
		reason    string
		condition condition
		want      string
	}{
		"Never":     {"A source that was not scanned yet is waiting.", condition{}, Waiting},
		"Good":      {"A source whose lists were all read is connected.", condition{Tried: then, Lists: map[string]listCondition{"a": good}}, Connected},
		"Empty":     {"A source may have no lists.", condition{Tried: then}, Connected},
		"Part":      {"If one of two lists cannot be read, the source is partial.", condition{Tried: then, Error: "no", Reason: "forbidden", Lists: map[string]listCondition{"a": good, "b": stale}}, Partial},
		"Away":      {"If no list can be read, the state is the reason of the failure.", condition{Tried: then, Error: "no", Reason: "unreachable", Lists: map[string]listCondition{"a": stale}}, "unreachable"},
		"FirstTime": {"A source that never had a list has the reason of the failure.", condition{Tried: then, Error: "no", Reason: "timeout"}, "timeout"},
		"NoReason":  {"A failure without a reason is reported as failed.", condition{Tried: then, Error: "no"}, "failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &target{name: "p", at: "prod", cluster: true}
			s := p.health(tc.condition, map[[2]string]int{{"p", "a"}: 2, {"other", "a"}: 3})
			if s.State != tc.want || s.LastError != tc.condition.Error || s.Cluster != "prod" {
				t.Errorf("%s\nsource is %+v, want %s", tc.reason, s, tc.want)
			}
			if diff := cmp.Diff(map[string]int{"a": 2}, s.Objects); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestConclude checks the state of a source through failures and recoveries.
func TestConclude(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files", "others"}, nil)
	steps := []struct {
		reason string
		fails  error
		text   string
		want   string
		// status is that of the service, which has another source that was not read.
		status string
		// stale reports whether the source and its entities are marked as stale.
		stale  bool
		fields string
	}{
		{"A source that could never be read is failed and has no entities.", errors.New("away"), "", "failed", Degraded, false, ""},
		{"A source that can be read is connected.", nil, definition("a", "one"), Connected, Starting, false, "one"},
		{"The entities of a source that cannot be read stay and are stale.", errors.New("away"), "", "failed", Degraded, true, "one"},
		{"The entities also stay after another failure.", errors.New("gone"), "", "failed", Degraded, true, "one"},
		{"Documents that are read before a failure are fresh.", errors.New("half"), definition("a", "two"), Partial, Degraded, false, "two"},
		{"A source that recovers is connected.", nil, definition("a", "three"), Connected, Starting, false, "three"},
	}
	var since time.Time
	for _, step := range steps {
		files := b.sources["files"]
		files.set("a", step.text)
		files.fail(step.fails)
		if _, err := b.read(t, "files"); (err != nil) != (step.fails != nil) {
			t.Fatalf("%s: scan returned the error %v", step.reason, err)
		}
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := h.Sources[0]
		if s.State != step.want || h.Status != step.status || h.Sources[1].State != Waiting {
			t.Errorf("%s\nhealth is %+v", step.reason, h)
		}
		if step.fails == nil {
			since = *b.clock.Load()
		}
		if !s.LastSuccess.Equal(since) || s.LastAttempt != *b.clock.Load() {
			t.Errorf("%s\nlast attempt is %v, success %v; want %v, %v", step.reason, s.LastAttempt, s.LastSuccess, *b.clock.Load(), since)
		}
		if step.fails != nil && !strings.Contains(s.LastError, step.fails.Error()) {
			t.Errorf("%s\nerror is %q", step.reason, s.LastError)
		}
		text := b.catalog.entries()["Template a.example.org"]
		if !strings.Contains(text, step.fields) || (text == "") != (step.fields == "") {
			t.Errorf("%s\nTemplate is %s", step.reason, text)
		}
		if marked := strings.Contains(text, `stale-since":"`+since.Format("2006-01-02T15:04:05.000Z")); marked != step.stale {
			t.Errorf("%s\nTemplate is marked as stale since %v: %v, want %v: %s", step.reason, since, marked, step.stale, text)
		}
		if step.stale && !s.Stale[listFolder].Equal(since) {
			t.Errorf("%s\nstale since %v, want %v", step.reason, s.Stale, since)
		}
	}
}

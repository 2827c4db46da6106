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
	// From good to bad; what is not among them is a reason, and the first stays.
	order := []string{"", Connected, Waiting, Partial, Pending, "unreachable"}
	for i, has := range order {
		for j, state := range order[1:] {
			if got, want := worse(has, state), j+1 > i; got != want {
				t.Errorf("%q after %q: %v, want %v", state, has, got, want)
			}
		}
	}
	if worse("unreachable", "forbidden") {
		t.Error("one reason takes the place of another")
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
		"Never":     {"It was not read yet.", condition{}, Waiting},
		"Good":      {"All went well.", condition{Tried: then, Lists: map[string]listCondition{"a": good}}, Connected},
		"Empty":     {"There may be no lists.", condition{Tried: then}, Connected},
		"Part":      {"One of two lists cannot be read.", condition{Tried: then, Error: "no", Reason: "forbidden", Lists: map[string]listCondition{"a": good, "b": stale}}, Partial},
		"Away":      {"None can be read.", condition{Tried: then, Error: "no", Reason: "unreachable", Lists: map[string]listCondition{"a": stale}}, "unreachable"},
		"FirstTime": {"Nothing is known at all.", condition{Tried: then, Error: "no", Reason: "timeout"}, "timeout"},
		"NoReason":  {"There is no word for it.", condition{Tried: then, Error: "no"}, "failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &target{name: "p", at: "prod", cluster: true}
			s := p.health(tc.condition, map[[2]string]int{{"p", "a"}: 2, {"other", "a"}: 3})
			if s.State != tc.want || s.LastError != tc.condition.Error || s.Cluster != "prod" {
				t.Errorf("%s\nit is %+v, want %s", tc.reason, s, tc.want)
			}
			if diff := cmp.Diff(map[string]int{"a": 2}, s.Objects); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestConclude follows a source through good and bad times.
func TestConclude(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files", "others"}, nil)
	steps := []struct {
		reason string
		fails  error
		text   string
		want   string
		// status is of the service, of which another source was not read.
		status string
		// stale says that the source and its entities are marked.
		stale  bool
		fields string
	}{
		{"It was never read, and cannot be.", errors.New("away"), "", "failed", Degraded, false, ""},
		{"It can be read.", nil, definition("a", "one"), Connected, Starting, false, "one"},
		{"It cannot be read, and stays as it was.", errors.New("away"), "", "failed", Degraded, true, "one"},
		{"It still cannot, for another reason.", errors.New("gone"), "", "failed", Degraded, true, "one"},
		{"What it shows all the same is taken, and is not stale.", errors.New("half"), definition("a", "two"), Partial, Degraded, false, "two"},
		{"It is back.", nil, definition("a", "three"), Connected, Starting, false, "three"},
	}
	var since time.Time
	for _, step := range steps {
		files := b.sources["files"]
		files.set("a", step.text)
		files.fail(step.fails)
		if _, err := b.read(t, "files"); (err != nil) != (step.fails != nil) {
			t.Fatalf("%s: %v", step.reason, err)
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
			t.Errorf("%s\nlast tried %v, well %v; want %v, %v", step.reason, s.LastAttempt, s.LastSuccess, *b.clock.Load(), since)
		}
		if step.fails != nil && !strings.Contains(s.LastError, step.fails.Error()) {
			t.Errorf("%s\nthe error is %q", step.reason, s.LastError)
		}
		text := b.catalog.entries()["Template a.example.org"]
		if !strings.Contains(text, step.fields) || (text == "") != (step.fields == "") {
			t.Errorf("%s\nthe Template is %s", step.reason, text)
		}
		if marked := strings.Contains(text, `stale-since":"`+since.Format("2006-01-02T15:04:05.000Z")); marked != step.stale {
			t.Errorf("%s\nmarked as stale since %v: %v, want %v: %s", step.reason, since, marked, step.stale, text)
		}
		if step.stale && !s.Stale[listFolder].Equal(since) {
			t.Errorf("%s\nstale since %v, want %v", step.reason, s.Stale, since)
		}
	}
}

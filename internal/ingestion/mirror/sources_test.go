package mirror

import (
	"errors"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestSourceStates(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		set := func(name, text string) {
			t.Helper()
			if err := s.SetSource(t.Context(), name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		set("a", `{"n":1}`)
		set("b", "")
		before := database.Written(t, s.DB)
		set("a", `{"n":1}`)
		set("b", "")
		if after := database.Written(t, s.DB); after != before {
			t.Error("unchanged state was written again")
		}
		set("a", `{"n":2}`)
		if after := database.Written(t, s.DB); after == before {
			t.Error("test does not detect a write")
		}
		states, err := open().SourceStates(t.Context())
		if diff := gocmp.Diff(map[string][]byte{"a": []byte(`{"n":2}`), "b": {}}, states, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// TestSettle checks that the state of a source is stored together with the units
// it concerns, in one transaction.
func TestSettle(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		mustObserve(t, s, Observation{Source: "s", List: "one", Put: []Object{definition("a", 1, "{}")}})
		mustObserve(t, s, Observation{Source: "s", List: "two", Put: []Object{definition("b", 1, "{}")}})
		mustObserve(t, s, Observation{Source: "s", List: "three", Put: []Object{definition("c", 1, "{}")}})
		settle(t, s)
		superseded, err := s.Fence(t.Context(), "scan")
		if err != nil {
			t.Fatal(err)
		}
		latest, err := s.Fence(t.Context(), "scan")
		if err != nil {
			t.Fatal(err)
		}
		state := func() string {
			t.Helper()
			states, err := s.SourceStates(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			return string(states["s"])
		}
		if err := s.Settle(superseded, "s", []byte("old"), []string{"one"}, []string{"definition:c"}); !errors.Is(err, db.ErrSuperseded) {
			t.Errorf("superseded caller got %v, want db.ErrSuperseded", err)
		}
		if units := settle(t, s); len(units) > 0 || state() != "" {
			t.Errorf("superseded caller changed units %v and state %q", units, state())
		}
		if err := s.Settle(latest, "s", []byte("new"), []string{"one"}, []string{"definition:c"}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([]string{"definition:c"}, settle(t, s)); diff != "" || state() != "new" {
			t.Errorf("units differ: %s\nstate is %q", diff, state())
		}
		if err := s.Settle(latest, "s", []byte("newer"), nil, nil); err != nil {
			t.Fatal(err)
		}
		if units := settle(t, s); len(units) > 0 || state() != "newer" {
			t.Errorf("state without units changed the units %v; state is %q", units, state())
		}
	})
}

func TestRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		add := func(at time.Duration, text string) {
			t.Helper()
			if err := s.AddRun(t.Context(), start.Add(at), Run{Body: []byte(text), Changes: []byte("changes of " + text)}); err != nil {
				t.Fatal(err)
			}
		}
		// One commit per run would be slow.
		err := s.change(t.Context(), func(w *writer) error {
			return w.Insert(t.Context(), "runs (n, started, run)", "", 3, keptRuns, func(i int, args []any) []any {
				return append(args, i-keptRuns, start.Add(time.Duration(i/2)*time.Second).UnixMilli(), fmt.Append(nil, i))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		// A clock may be wrong or set back: the run written last is the newest.
		add(time.Hour, "ahead")
		add(-time.Second, "back")
		add(time.Minute+time.Millisecond, "newest")
		runs, err := s.Runs(t.Context(), NoLimit)
		if err != nil || len(runs) != keptRuns {
			t.Fatalf("%d runs are stored (%v)", len(runs), err)
		}
		got := []string{string(runs[0].Body), string(runs[1].Body), string(runs[2].Body), string(runs[keptRuns-1].Body)}
		if diff := gocmp.Diff([]string{"newest", "back", "ahead", "3"}, got); diff != "" {
			t.Error(diff)
		}
		if runs, err = s.Runs(t.Context(), 2); err != nil || len(runs) != 2 || string(runs[1].Body) != "back" || runs[1].Changes != nil {
			t.Errorf("newest runs are %+v (%v), want back as the second, without changes", runs, err)
		}
		back, found, err := s.Run(t.Context(), runs[1].ID)
		if err != nil || !found || string(back.Body) != "back" || string(back.Changes) != "changes of back" || back.ID != runs[1].ID {
			t.Errorf("run is %+v, found %t (%v); want back with its changes", back, found, err)
		}
		if _, found, err := s.Run(t.Context(), runs[0].ID+1); err != nil || found {
			t.Errorf("unknown run was found (%v)", err)
		}
	})
}

func TestMarks(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		save := func(source string, set map[string]string, drop ...string) {
			t.Helper()
			if err := s.SaveMarks(t.Context(), source, set, drop); err != nil {
				t.Fatal(err)
			}
		}
		want := func(reason, source string, marks map[string]string) {
			t.Helper()
			got, err := s.LoadMarks(t.Context(), source)
			if diff := gocmp.Diff(marks, got); diff != "" || err != nil {
				t.Errorf("%s: marks differ: %s %v", reason, diff, err)
			}
		}
		want("there are no marks at first", "s", map[string]string{})
		save("s", map[string]string{"a": "1", "b": "2", "c": "3"})
		save("t", map[string]string{"a": "9"})
		want("saved marks are returned", "s", map[string]string{"a": "1", "b": "2", "c": "3"})
		save("s", map[string]string{"a": "4"}, "a", "b", "none")
		want("a mark that is both set and dropped is set", "s", map[string]string{"a": "4", "c": "3"})
		want("other sources have their own marks", "t", map[string]string{"a": "9"})
		if err := s.ForgetMarks(t.Context(), []string{"t", "u"}); err != nil {
			t.Fatal(err)
		}
		want("marks of a source that is not kept are dropped", "s", map[string]string{})
		want("marks of a source that is kept stay", "t", map[string]string{"a": "9"})
		many := map[string]string{}
		for i := range 10_000 {
			many[fmt.Sprint("key", i)] = fmt.Sprint("mark", i)
		}
		save("many", many)
		want("a source may have many marks", "many", many)
	})
}

package mirror

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestHold checks that units of lists that became stale or fresh are held until they
// are released, unless they become dirty for another reason, and need no inspection.
func TestHold(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		for source, list := range map[string]string{"one": "x", "two": "y"} {
			mustObserve(t, s, Observation{Source: source, List: list, Put: []Object{definition("a", 1, "{}"), definition(source, 1, "{}")}})
		}
		settle(t, s)
		unchecked, err := s.Unchecked(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Checked(t.Context(), unchecked, nil); err != nil {
			t.Fatal(err)
		}
		hold := func(source, list string) Held {
			t.Helper()
			if err := s.Settle(t.Context(), source, []byte("stale"), []string{list, "unknown"}, nil); err != nil {
				t.Fatal(err)
			}
			h, err := s.Held(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		first := hold("one", "x")
		second := hold("two", "y")
		if first.Units != 2 || second.Units != 3 || first.Stamp == second.Stamp {
			t.Errorf("held units are %+v, then %+v; want 2, then 3 with another stamp", first, second)
		}
		if units := settle(t, s); len(units) > 0 {
			t.Errorf("units %v are due while they are held", units)
		}
		if n, err := s.CountUnchecked(t.Context()); err != nil || n != 0 {
			t.Errorf("%d units are to be inspected (%v), want none", n, err)
		}
		mustObserve(t, s, Observation{Source: "one", List: "x", Put: []Object{definition("a", 2, `{"changed":true}`)}})
		if diff := gocmp.Diff([]string{"definition:a"}, settle(t, s)); diff != "" {
			t.Errorf("units after one of them changed: %s", diff)
		}
		if err := s.Touch(t.Context(), []string{"definition:one"}); err != nil {
			t.Fatal(err)
		}
		if h := hold("one", "x"); h.Units != 2 {
			t.Errorf("%d units are held, want those that were not dirty", h.Units)
		}
		if diff := gocmp.Diff([]string{"definition:one"}, settle(t, s)); diff != "" {
			t.Errorf("units that were dirty when they were held: %s", diff)
		}
		if err := s.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([]string{"definition:a", "definition:two"}, settle(t, s)); diff != "" {
			t.Errorf("units after the release: %s", diff)
		}
		if h, err := s.Held(t.Context()); err != nil || h != (Held{}) {
			t.Errorf("held units are %+v (%v), want none", h, err)
		}
	})
}

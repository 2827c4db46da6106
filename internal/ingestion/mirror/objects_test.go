package mirror

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// world stores objects of two sources.
func world(tb testing.TB, s *Mirror) {
	tb.Helper()
	a, b := definition("a", 1, `"a"`), definition("b", 1, `"b"`)
	bare := Object{Key: "bare", Unit: "definition:a", Version: 3}
	x1 := composite("x1", a.Kind, 1, "x1")
	x1.Status = []byte(`"new"`)
	for _, o := range []Observation{
		{Source: "s", List: "definitions", Put: []Object{a, b}},
		{Source: "s", List: "x", Put: []Object{x1, composite("x2", a.Claim, 2, "x2")}},
		{Source: "s", List: "y", Put: []Object{composite("y1", b.Kind, 1, "y1")}},
		{Source: "t", List: "definitions", Put: []Object{definition("a", 9, `"ta"`), bare, definition("gone", 1, "")}},
	} {
		mustObserve(tb, s, o)
	}
	mustObserve(tb, s, Observation{Source: "t", List: "definitions", Gone: []Gone{{Key: "gone", Version: 2}}})
	settle(tb, s)
}

// summarizeObjects returns the names of objects with their bodies.
func summarizeObjects(objects []Object, err error) ([]string, error) {
	var all []string
	for _, o := range objects {
		all = append(all, o.Source+" "+o.List+" "+o.Key+" "+string(o.Body))
	}
	return all, err
}

func TestObjects(t *testing.T) {
	a := definition("a", 1, "")
	cases := map[string]struct {
		reason string
		ask    func(s *Mirror) (any, error)
		want   any
	}{
		"Units": {
			reason: "The objects of a unit come from all sources, in order.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.UnitObjects(t.Context(), []string{"definition:b", "definition:a", "definition:gone", "", "definition:a"}))
			},
			want: []string{`s definitions a "a"`, `t definitions a "ta"`, "t definitions bare ", `s definitions b "b"`},
		},
		"Kinds": {
			reason: "The objects of a kind come from all sources, in order.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.KindObjects(t.Context(), []string{a.Claim, a.Kind, "x.io/None", ""}))
			},
			want: []string{"s x x1 x1", "s x x2 x2"},
		},
		"KindByList": {
			reason: "The objects of a kind can be limited to lists.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.KindObjectsIn(t.Context(), a.Kind, "x", "none"))
			},
			want: []string{"s x x1 x1"},
		},
		"KindByKey": {
			reason: "Or to keys.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.KindObjectsIn(t.Context(), a.Claim, "none", "x2"))
			},
			want: []string{"s x x2 x2"},
		},
		"KindByNeither": {
			reason: "Others are left out.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.KindObjectsIn(t.Context(), a.Kind, "y", "x2\x00"))
			},
			want: []string(nil),
		},
		"None": {
			reason: "An empty request returns nothing.",
			ask:    func(s *Mirror) (any, error) { return summarizeObjects(s.UnitObjects(t.Context(), nil)) }, want: []string(nil),
		},
		"Source": {
			reason: "The objects of a source have no bodies.",
			ask:    func(s *Mirror) (any, error) { return summarizeObjects(s.SourceObjects(t.Context(), "s")) },
			want:   []string{"s definitions a ", "s definitions b ", "s x x1 ", "s x x2 ", "s y y1 "},
		},
		"SourceLists": {
			reason: "Lists can be selected.",
			ask: func(s *Mirror) (any, error) {
				return summarizeObjects(s.SourceObjects(t.Context(), "s", "y", "x", "y"))
			},
			want: []string{"s x x1 ", "s x x2 ", "s y y1 "},
		},
		"Lists": {
			reason: "Each list is named once.",
			ask:    func(s *Mirror) (any, error) { return s.Lists(t.Context(), "s") },
			want:   []string{"definitions", "x", "y"},
		},
		"Names": {
			reason: "A unit without existing objects has no name.",
			ask:    func(s *Mirror) (any, error) { return s.UnitNames(t.Context(), "definition:") },
			want:   []string{"definition:a", "definition:b"},
		},
		"NoNames": {
			reason: "A prefix must match completely.",
			ask:    func(s *Mirror) (any, error) { return s.UnitNames(t.Context(), "definition:ab") }, want: []string(nil),
		},
		"AllNames": {
			reason: "An empty prefix matches all units.",
			ask:    func(s *Mirror) (any, error) { return s.UnitNames(t.Context(), "") },
			want:   []string{"definition:a", "definition:b"},
		},
		"Counts": {
			reason: "Deleted objects are not counted.",
			ask:    func(s *Mirror) (any, error) { return s.CountObjects(t.Context()) },
			want:   map[[2]string]int{{"s", "definitions"}: 2, {"s", "x"}: 2, {"s", "y"}: 1, {"t", "definitions"}: 2},
		},
		"Whole": {
			reason: "An object is returned as it was stored.",
			ask: func(s *Mirror) (any, error) {
				all, err := s.UnitObjects(t.Context(), []string{"definition:b"})
				return all, err
			},
			want: []Object{{
				Source: "s", List: "definitions", Key: "b", Unit: "definition:b", Kind: "x.io/Xb", Claim: "x.io/Cb", Version: 1,
				Note: []byte(`{"n":1}`), Body: []byte(`"b"`),
			}},
		},
		"Named": {
			reason: "Objects of a kind can be read by key, with their status.",
			ask: func(s *Mirror) (any, error) {
				all, err := s.ObjectsNamed(t.Context(), a.Kind, "x1", "x2", "y1", "x1", "none\x00")
				return all, err
			},
			want: []Object{{Source: "s", List: "x", Key: "x1", Of: a.Kind, Version: 1, Body: []byte("x1"), Status: []byte(`"new"`)}},
		},
		"NamedWithoutStatus": {
			reason: "An object without a status is returned too.",
			ask: func(s *Mirror) (any, error) {
				all, err := s.ObjectsNamed(t.Context(), a.Claim, "x2")
				return all, err
			},
			want: []Object{{Source: "s", List: "x", Key: "x2", Of: a.Claim, Version: 2, Body: []byte("x2")}},
		},
		"Strange": {
			reason: "A name that cannot be stored is not found, and no error.",
			ask:    func(s *Mirror) (any, error) { return s.Known(t.Context(), "s\x00\xff", "l") }, want: map[string]int64{},
		},
	}
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		world(t, s)
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				got, err := tc.ask(s)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: result differs: %s", tc.reason, diff)
				}
			})
		}
	})
}

func TestDropLists(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		world(t, s)
		n, err := s.DropLists(t.Context(), "s", []string{"x", "none"})
		if err != nil {
			t.Fatal(err)
		}
		if got := settle(t, s); n != 1 || len(got) != 1 || got[0] != "definition:a" {
			t.Errorf("%d units are dirty: %v; want only definition:a", n, got)
		}
		lists, err := s.Lists(t.Context(), "s")
		if diff := gocmp.Diff([]string{"definitions", "y"}, lists); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if n, err = s.DropLists(t.Context(), "s", lists); n != 2 || err != nil {
			t.Errorf("DropLists returned %d units (%v), want 2", n, err)
		}
	})
}

func TestDropSources(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		world(t, s)
		for _, source := range []string{"s", "t", "u"} {
			if err := s.SetSource(t.Context(), source, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			if err := s.SaveMarks(t.Context(), source, map[string]string{"k": "m"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		dropped, err := s.DropSources(t.Context(), []string{"t", "none"})
		if diff := gocmp.Diff(map[string]int{"s": 5, "u": 0}, dropped); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if diff := gocmp.Diff([]string{"definition:a", "definition:b"}, settle(t, s)); diff != "" {
			t.Error(diff)
		}
		counts, err := s.CountObjects(t.Context())
		if diff := gocmp.Diff(map[[2]string]int{{"t", "definitions"}: 2}, counts); diff != "" || err != nil {
			t.Error(diff, err)
		}
		states, err := s.SourceStates(t.Context())
		if diff := gocmp.Diff(map[string][]byte{"t": []byte("{}")}, states); diff != "" || err != nil {
			t.Error(diff, err)
		}
		for source, want := range map[string]int{"s": 0, "t": 1, "u": 0} {
			if marks, err := s.LoadMarks(t.Context(), source); len(marks) != want || err != nil {
				t.Errorf("%s has the marks %v (%v)", source, marks, err)
			}
		}
		if _, err := s.DropSources(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"objects", "object_bodies", "sources", "marks"} {
			var n int
			if err := s.Read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows are left in %s (%v), want none", n, table, err)
			}
		}
	})
}

func TestTouch(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		world(t, s)
		touchSource := func(source, list string, want ...string) {
			t.Helper()
			n, err := s.TouchSource(t.Context(), source, list)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, settle(t, s), cmpopts.EquateEmpty()); diff != "" || n != len(want) {
				t.Errorf("TouchSource returned %d units, which differ: %s", n, diff)
			}
		}
		touchSource("s", "", "definition:a", "definition:b")
		touchSource("s", "x", "definition:a")
		touchSource("t", "definitions", "definition:a")
		touchSource("none", "")
		order := func(want ...string) {
			t.Helper()
			units, err := s.Units(t.Context(), NoLimit)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range units {
				got = append(got, u.Name)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
		touch := func(names ...string) {
			t.Helper()
			if err := s.Touch(t.Context(), names); err != nil {
				t.Fatal(err)
			}
		}
		touch("z", "", "z")
		touch("definition:a")
		touch()
		order("z", "definition:a")
		early, err := s.Units(t.Context(), 1)
		if err != nil || len(early) != 1 || early[0].Name != "z" {
			t.Fatalf("first units are %v (%v), want z", early, err)
		}
		mustObserve(t, s, Observation{Source: "s", List: "definitions", Put: []Object{{Key: "z", Unit: "z", Version: 1}}})
		order("z", "definition:a")
		if err := s.Done(t.Context(), early); err != nil {
			t.Fatal(err)
		}
		order("z", "definition:a")
		touch("z")
		order("definition:a", "z")
		if got := settle(t, s); len(got) != 2 {
			t.Error(got)
		}
		order()
	})
}

package mirror

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.dev/ingestor/test/database"
)

// definition returns an object that is a unit and provides kinds.
func definition(name string, version int64, body string) Object {
	return Object{
		Key: name, Unit: "definition:" + name, Kind: "x.io/X" + name, Claim: "x.io/C" + name, Version: version,
		Note: []byte(`{"n":1}`), Body: []byte(body),
	}
}

// composite returns an object that belongs to the unit that provides its kind.
func composite(key, of string, version int64, body string) Object {
	return Object{Key: key, Of: of, Version: version, Body: []byte(body)}
}

func mustObserve(tb testing.TB, s *Mirror, o Observation) int {
	tb.Helper()
	units, err := s.Observe(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return units
}

// settle returns the names of all dirty units and marks them as done.
func settle(tb testing.TB, s *Mirror) []string {
	tb.Helper()
	units, err := s.Units(tb.Context(), NoLimit)
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Done(tb.Context(), units); err != nil {
		tb.Fatal(err)
	}
	return unitNames(units)
}

func unitNames(units []Unit) []string {
	var names []string
	for _, u := range units {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return names
}

func TestObserve(t *testing.T) {
	const src, list, other = "composerIngestor/prod", "definitions", "composites"
	a, b := definition("a", 5, `"a5"`), definition("b", 6, `"b6"`)
	xa := composite("ns/x", a.Kind, 7, `"x7"`)
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		step := func(reason string, o Observation, units []string, known map[string]int64) {
			t.Helper()
			if o.Source == "" {
				o.Source = src
			}
			if o.List == "" {
				o.List = list
			}
			n := mustObserve(t, s, o)
			got := settle(t, s)
			if diff := gocmp.Diff(units, got, cmpopts.EquateEmpty()); diff != "" || n != len(units) {
				t.Errorf("%s: %d units are dirty: %s", reason, n, diff)
			}
			have, err := s.Known(t.Context(), o.Source, o.List)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(known, have, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: versions differ: %s", reason, diff)
			}
		}
		ua, ub := "definition:a", "definition:b"
		moved, again := a, a
		moved.Unit, moved.Version, again.Version = "definition:c", 10, 11
		noVersion := a
		noVersion.Version = 0
		step("a new object is stored", Observation{Put: []Object{a, b}}, []string{ua, ub}, map[string]int64{"a": 5, "b": 6})
		step("the same version is no change", Observation{Put: []Object{definition("a", 5, "other")}}, nil, map[string]int64{"a": 5, "b": 6})
		step("an older version is ignored", Observation{Put: []Object{definition("a", 4, "old")}}, nil, map[string]int64{"a": 5, "b": 6})
		step("a newer version is stored", Observation{Put: []Object{definition("a", 8, "new")}}, []string{ua}, map[string]int64{"a": 8, "b": 6})
		step("a new version without other changes makes no unit dirty", Observation{Put: []Object{definition("a", 9, "new")}},
			nil, map[string]int64{"a": 9, "b": 6})
		step("unless the object is to be checked", Observation{Look: true, Put: []Object{definition("a", 9, "new"), definition("b", 7, `"b6"`)}},
			[]string{ub}, map[string]int64{"a": 9, "b": 7})
		step("an object changes the unit that gives its kind", Observation{List: other, Put: []Object{xa}},
			[]string{ua}, map[string]int64{"ns/x": 7})
		step("as a claim too, and from any source", Observation{Source: "else", List: other,
			Put: []Object{composite("y", a.Claim, 1, "y"), composite("z", "x.io/None", 1, "z")}}, []string{ua}, map[string]int64{"y": 1, "z": 1})
		step("an object that moves changes its former unit too", Observation{List: other, Put: []Object{composite("ns/x", b.Kind, 8, "x")}},
			[]string{ua, ub}, map[string]int64{"ns/x": 8})
		step("so does an object with another unit", Observation{Put: []Object{moved}}, []string{ua, "definition:c"}, map[string]int64{"a": 10, "b": 7})
		step("and back", Observation{Put: []Object{again}}, []string{ua, "definition:c"}, map[string]int64{"a": 11, "b": 7})
		step("an older deletion is ignored", Observation{Gone: []Gone{{Key: "a", Version: 10}}}, nil, map[string]int64{"a": 11, "b": 7})
		step("a newer deletion is stored", Observation{Gone: []Gone{{Key: "a", Version: 12}}}, []string{ua}, map[string]int64{"b": 7})
		step("an older version is ignored after a deletion", Observation{Put: []Object{again}}, nil, map[string]int64{"b": 7})
		step("a deletion can arrive before its object", Observation{Gone: []Gone{{Key: "d", Version: 20}}}, nil, map[string]int64{"b": 7})
		step("the older object is then ignored", Observation{Put: []Object{definition("d", 19, "d")}}, nil, map[string]int64{"b": 7})
		step("a list keeps its objects", Observation{Complete: true, Keys: []string{"b"}, Version: 15}, nil, map[string]int64{"b": 7})
		step("the tombstone of a deletion that is newer than a list stays", Observation{Put: []Object{definition("d", 19, "d")}},
			nil, map[string]int64{"b": 7})
		step("a version that is not newer than a list without the object is ignored", Observation{Put: []Object{definition("a", 15, "a")}},
			nil, map[string]int64{"b": 7})
		step("also in an older list", Observation{Complete: true, Keys: []string{"a", "b"}, Version: 12,
			Put: []Object{definition("a", 11, "a")}}, nil, map[string]int64{"b": 7})
		step("but not in a list of the same or a later version", Observation{Complete: true, Keys: []string{"a", "b"}, Version: 15,
			Put: []Object{definition("a", 11, "a")}}, []string{ua}, map[string]int64{"a": 11, "b": 7})
		step("a list removes objects it does not have", Observation{Complete: true, Keys: []string{"a"}, Version: 15}, []string{ub}, map[string]int64{"a": 11})
		step("but no newer ones", Observation{Complete: true, Version: 10}, nil, map[string]int64{"a": 11})
		step("stored objects count as part of the list", Observation{Complete: true, Version: 30, Put: []Object{b}}, []string{ua, ub}, map[string]int64{"b": 6})
		step("after a reset, versions are not compared", Observation{Anew: true, Complete: true, Keys: []string{"a"}, Version: 3,
			Put: []Object{definition("a", 2, "a")}}, []string{ua, ub}, map[string]int64{"a": 2})
		step("an object without a version is stored", Observation{Put: []Object{noVersion}}, []string{ua}, map[string]int64{"a": 0})
		step("the same object again is no change", Observation{Put: []Object{noVersion}, Complete: true}, nil, map[string]int64{"a": 0})
		step("any version replaces an object without one", Observation{Put: []Object{definition("a", 1, "b")}}, []string{ua}, map[string]int64{"a": 1})
		step("a deletion without a version leaves no tombstone", Observation{Gone: []Gone{{Key: "a"}}}, []string{ua}, nil)
		step("so any version is stored afterwards", Observation{Put: []Object{definition("a", 4, "b")}}, []string{ua}, map[string]int64{"a": 4})
		step("a list without a version removes all objects it does not have", Observation{Complete: true}, []string{ua}, nil)
		step("an empty observation changes nothing", Observation{}, nil, nil)
	})
}

// TestObserveUnchangedWritesNothing checks that an unchanged observation does
// not write, which would block other writers.
func TestObserveUnchangedWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		full := Observation{Source: "s", List: "l", Complete: true, Keys: []string{"a", "b"}, Version: 9,
			Put: []Object{definition("a", 5, "a"), definition("b", 0, "b")}}
		mustObserve(t, s, full)
		lock, err := open().Write.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Exec("UPDATE stamp SET n = n + 1"); err != nil {
			t.Fatal(err)
		}
		usual := s.Patience
		s.Patience = 50 * time.Millisecond
		before := database.Written(t, s.DB)
		mustObserve(t, s, full)
		mustObserve(t, s, Observation{Source: "s", List: "l", Complete: true, Keys: []string{"a", "b"}, Version: 100})
		mustObserve(t, s, Observation{Source: "s", List: "l", Put: full.Put, Gone: []Gone{{Key: "a", Version: 1}, {Key: "none"}}})
		if err := s.Done(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if n, err := s.DropLists(t.Context(), "s", nil); n != 0 || err != nil {
			t.Error(n, err)
		}
		if dropped, err := s.DropSources(t.Context(), []string{"s"}); len(dropped) != 0 || err != nil {
			t.Error(dropped, err)
		}
		if after := database.Written(t, s.DB); after != before {
			t.Errorf("observation wrote: %d rows, then %d", before, after)
		}
		if err := lock.Rollback(); err != nil {
			t.Fatal(err)
		}
		s.Patience = usual
		if n := mustObserve(t, s, Observation{Source: "s", List: "l", Gone: []Gone{{Key: "a", Version: 10}}}); n != 1 {
			t.Error(n)
		}
		if after := database.Written(t, s.DB); after == before {
			t.Error("test does not detect a write")
		}
	})
}

// modelRow is an object of the model; nil if it was deleted.
type modelRow struct {
	version int64
	object  *Object
}

// observeModel applies an observation as documented. horizons are the versions
// at which sources were last listed.
func observeModel(horizons map[string]int64, have map[string]modelRow, o Observation) {
	last := horizons[o.Source]
	late := !o.Anew && (!o.Complete || o.Version < last)
	if o.Complete && (o.Anew || o.Version > last) {
		horizons[o.Source] = o.Version
	}
	for _, p := range o.Put {
		was, there := have[p.Key]
		if late && !there && p.Version > 0 && p.Version <= last {
			continue
		}
		if !there || o.Anew || was.version == 0 || p.Version == 0 || was.version < p.Version {
			have[p.Key] = modelRow{p.Version, &p}
		}
	}
	for _, g := range o.Gone {
		was, there := have[g.Key]
		if there && !o.Anew && was.version != 0 && g.Version != 0 && was.version > g.Version {
			continue
		}
		if delete(have, g.Key); g.Version > 0 {
			have[g.Key] = modelRow{g.Version, nil}
		}
	}
	if !o.Complete {
		return
	}
	for key, was := range have {
		inList := was.object != nil && (slices.Contains(o.Keys, key) ||
			slices.ContainsFunc(o.Put, func(p Object) bool { return p.Key == key }))
		if !inList && (o.Anew || o.Version == 0 || was.version <= o.Version) {
			delete(have, key)
		}
	}
}

// content returns an object without its version as text, empty if it was
// deleted.
func (r modelRow) content() string {
	if r.object == nil {
		return ""
	}
	o := *r.object
	o.Version = 0
	text, _ := json.Marshal(o)
	return string(text)
}

func drawObservation(t *rapid.T) Observation {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	kinds := rapid.SampledFrom([]string{"", "", "x.io/A", "x.io/B"})
	version := rapid.Int64Range(0, 8)
	object := rapid.Custom(func(t *rapid.T) Object {
		return Object{
			Key: keys.Draw(t, "key"), Unit: rapid.SampledFrom([]string{"", "u", "v"}).Draw(t, "unit"),
			Kind: kinds.Draw(t, "kind"), Claim: kinds.Draw(t, "claim"), Of: kinds.Draw(t, "of"), Version: version.Draw(t, "version"),
			Body: []byte(rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "body")),
		}
	})
	gone := rapid.Custom(func(t *rapid.T) Gone {
		return Gone{Key: keys.Draw(t, "key"), Version: version.Draw(t, "version")}
	})
	return Observation{
		Put:      rapid.SliceOfN(object, 0, 4).Draw(t, "put"),
		Gone:     rapid.SliceOfN(gone, 0, 2).Draw(t, "gone"),
		Complete: rapid.Bool().Draw(t, "complete"), Anew: rapid.IntRange(0, 5).Draw(t, "anew") == 0,
		Keys:    rapid.SliceOfN(keys, 0, 4).Draw(t, "keys"),
		Version: version.Draw(t, "list's"),
	}
}

// TestObserveIsLikeModel compares the store after random observations with a
// simple model, and checks that the units concerned become dirty.
func TestObserveIsLikeModel(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		rapid.Check(t, func(rt *rapid.T) {
			if _, err := s.DropSources(rt.Context(), nil); err != nil {
				rt.Fatal(err)
			}
			settle(t, s)
			// Without anything to drop, list versions are not forgotten.
			s.horizons.clear()
			models, horizons := map[string]map[string]modelRow{"s": {}, "t": {}}, map[string]int64{}
			for range rapid.IntRange(1, 6).Draw(rt, "observations") {
				o := drawObservation(rt)
				o.Source, o.List = rapid.SampledFrom([]string{"s", "t"}).Draw(rt, "source"), "l"
				have := models[o.Source]
				was := maps.Clone(have)
				observeModel(horizons, have, o)
				n, err := s.Observe(rt.Context(), o)
				if err != nil {
					rt.Fatal(err)
				}
				want := affectedUnits(models, was, have)
				if got := settle(t, s); !slices.Equal(want, got) || n != len(want) {
					rt.Fatalf("%d units are dirty: %v, want %v", n, got, want)
				}
				sameRows(rt, s, models)
			}
		})
	})
}

// affectedUnits returns the units affected by the change of a list from was to have.
func affectedUnits(all map[string]map[string]modelRow, was, have map[string]modelRow) []string {
	units, kinds := map[string]bool{}, map[string]bool{}
	for _, key := range []string{"a", "b", "c", "d"} {
		if was[key].content() == have[key].content() {
			continue
		}
		for _, r := range []modelRow{was[key], have[key]} {
			if r.object != nil {
				units[r.object.Unit], kinds[r.object.Of] = true, true
			}
		}
	}
	delete(kinds, "")
	for _, rows := range all {
		for _, r := range rows {
			if r.object != nil && (kinds[r.object.Kind] || kinds[r.object.Claim]) {
				units[r.object.Unit] = true
			}
		}
	}
	delete(units, "")
	return slices.Sorted(maps.Keys(units))
}

func sameRows(t *rapid.T, s *Mirror, models map[string]map[string]modelRow) {
	t.Helper()
	var want, got []string
	for source, have := range models {
		for key, r := range have {
			o := Object{}
			if r.object != nil {
				o = *r.object
			}
			want = append(want, strings.Join([]string{source, key, o.Unit, o.Kind, o.Claim, o.Of,
				fmt.Sprint(r.version), map[bool]string{true: "1", false: "0"}[r.object == nil], string(o.Body)}, "|"))
		}
	}
	err := database.Each(t.Context(), s.Write, `SELECT o.source, o.key, o.unit, o.kind, o.claim, o.of_kind, o.version, o.gone, b.body
		FROM objects o LEFT JOIN object_bodies b ON b.source = o.source AND b.list = o.list AND b.key = o.key`, nil, database.Into(&got))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatal(diff)
	}
	var stray int
	err = s.Write.QueryRow("SELECT (SELECT count(*) FROM object_bodies) - (SELECT count(*) FROM objects o JOIN object_bodies b " +
		"ON b.source = o.source AND b.list = o.list AND b.key = o.key)").Scan(&stray)
	if err != nil || stray != 0 {
		t.Fatalf("%d bodies have no object (%v)", stray, err)
	}
}

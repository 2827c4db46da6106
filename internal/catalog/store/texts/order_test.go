package texts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// entry is an entity with its title, empty if it has none.
type entry struct {
	id    uint32
	title string
}

// entries returns all entities.
func entries(t interface{ Fatal(...any) }, tb testing.TB, d *db.DB, kid int64) map[uint32]entry {
	all := map[uint32]entry{}
	err := db.Each(tb.Context(), d.Query, "SELECT e.id, f.packed FROM entities e JOIN fields f ON f.ref = e.ref", nil, func(rows *db.Rows) error {
		var e entry
		var packed string
		err := rows.Scan(&e.id, &packed)
		e.title, _ = index.First(packed, kid, false)
		all[e.id] = e
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestOrderIsLikeModel changes entities at random, and compares ranges of sets with sorted
// entities.
func TestOrderIsLikeModel(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d := open()
		keys := &index.Keys{}
		w := write.New(d, keys, 0)
		put := func(rt *rapid.T, c write.Change) {
			if _, err := w.Sync(t.Context(), c); err != nil {
				rt.Fatal(err)
			}
		}
		title := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "a", "b", "Bb", "c", "d", "dd", "e", "f", fmt.Sprint("x", rapid.IntRange(0, 99).Draw(t, "n"))}).Draw(t, "title")
		})
		asked, answered, some, skipped := 0, 0, 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			texts := New(d, MaxBytes)
			first := write.Change{Provider: "p", Full: true, Put: []write.Document{component("titled", "title")}}
			for i := range rapid.IntRange(0, 30).Draw(rt, "entities") {
				first.Put = append(first.Put, component(fmt.Sprint("n", i), title.Draw(rt, "title")))
			}
			put(rt, first)
			kid, _ := keys.Get("metadata.title")
			if err := texts.Ask(t.Context(), kid, 1, 1); err != nil {
				rt.Fatal(err)
			}
			changed := false
			for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
				if c := (write.Change{Provider: "p"}); rapid.Bool().Draw(rt, "changes") {
					for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 35), 1, 5, rapid.ID[int]).Draw(rt, "changed") {
						if rapid.IntRange(0, 4).Draw(rt, "removed") == 0 {
							c.Remove = append(c.Remove, fmt.Sprint("component:default/n", i))
						} else {
							c.Put = append(c.Put, component(fmt.Sprint("n", i), title.Draw(rt, "title")))
						}
					}
					put(rt, c)
					changed = true
				}
				all := entries(rt, t, d, kid)
				set := roaring.New()
				for id := range all {
					if rapid.IntRange(0, 3).Draw(rt, "in the set") > 0 {
						set.Add(id)
					}
				}
				r := Range{Desc: rapid.Bool().Draw(rt, "desc"), Limit: rapid.IntRange(1, 8).Draw(rt, "limit")}
				if rapid.Bool().Draw(rt, "has position") {
					from := strings.ToLower(title.Draw(rt, "from"))
					r.From = &from
				} else {
					r.Skip = rapid.IntRange(0, 20).Draw(rt, "skip")
				}
				revision, err := changelog.Revision(t.Context(), d.Query)
				if err != nil {
					rt.Fatal(err)
				}
				got, known, err := texts.Order(t.Context(), revision, true, kid, set, r)
				if err != nil {
					rt.Fatal(err)
				}
				if asked++; !known {
					if none := len(all) == 0 || hasNone(all, set); !none {
						rt.Fatal("the order is unknown")
					}
					continue
				}
				answered++
				if why := misses(all, set, r, got, changed); why != "" {
					rt.Fatalf("%+v of %v: %+v: %s", r, all, got, why)
				}
				if len(got.IDs) < int(set.GetCardinality()) {
					some++
				}
				if got.Before > 0 {
					skipped++
				}
			}
		})
		if answered*3 < asked || some*5 < asked || skipped*20 < asked {
			t.Errorf("of %d ranges, %d are known, %d are a part of the set, and %d skip some", asked, answered, some, skipped)
		}
	})
}

func hasNone(all map[uint32]entry, set *roaring.Bitmap) bool {
	return slices.ContainsFunc(set.ToArray(), func(id uint32) bool { return all[id].title == "" })
}

// misses returns what is wrong with the candidates of a range, or an empty text.
func misses(all map[uint32]entry, set *roaring.Bitmap, r Range, got Candidates, changed bool) string {
	sign := 1
	if r.Desc {
		sign = -1
	}
	var sorted []entry
	equal := 0
	for _, id := range set.ToArray() {
		e := all[id]
		if e.title == "" || r.From != nil && sign*strings.Compare(e.title, *r.From) < 0 {
			continue
		}
		if r.From != nil && e.title == *r.From {
			equal++
		}
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Or(sign*strings.Compare(a.title, b.title), cmp.Compare(a.id, b.id)) })
	had := map[uint32]bool{}
	for _, id := range got.IDs {
		if had[id] || !set.Contains(id) {
			return fmt.Sprintf("%d is there twice, or not in the set", id)
		}
		had[id] = true
	}
	if got.Before > len(sorted) {
		return "more are skipped than there are"
	}
	for _, e := range sorted[:got.Before] {
		if had[e.id] {
			return fmt.Sprintf("%v is skipped and there", e)
		}
	}
	wanted := sorted[min(r.Skip, len(sorted)):min(r.Skip+equal+r.Limit, len(sorted))]
	for _, e := range wanted {
		if !had[e.id] {
			return fmt.Sprintf("%v is missing", e)
		}
	}
	if changed || len(wanted) == 0 {
		// Values that are new are not told apart.
		return ""
	}
	first, last := sorted[min(r.Skip, len(sorted)-1)].title, wanted[len(wanted)-1].title
	exact := slices.DeleteFunc(slices.Clone(sorted), func(e entry) bool {
		return sign*strings.Compare(e.title, first) < 0 || sign*strings.Compare(e.title, last) > 0
	})
	if len(got.IDs) != len(exact) {
		return fmt.Sprintf("there are %d, want %d", len(got.IDs), len(exact))
	}
	return ""
}

// TestOrderUnknown checks when the order is not known.
func TestOrderUnknown(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d := open()
		keys := &index.Keys{}
		w := write.New(d, keys, 0)
		put := func(docs ...write.Document) int64 {
			if _, err := w.Sync(t.Context(), write.Change{Provider: "p", Put: docs}); err != nil {
				t.Fatal(err)
			}
			revision, err := changelog.Revision(t.Context(), d.Query)
			if err != nil {
				t.Fatal(err)
			}
			return revision
		}
		first := put(component("a", "x"), component("b", "y"))
		kid, _ := keys.Get("metadata.title")
		set := roaring.BitmapOf(1, 2)
		several := component("c", "")
		several.Node.Get("metadata").Set("title", tree.Arr(tree.Str("m"), tree.Str("n")))
		now := func() int64 { return first }
		change := func() int64 { return put(component("a", "z")) }
		for _, c := range []struct {
			reason string
			memory int
			// asked is how many rows were read, of ten.
			asked    int
			revision func() int64
			current  bool
			want     bool
		}{
			{"not enough rows were read", MaxBytes, 9, now, true, false},
			{"the values do not fit into memory", 1, 10, now, true, false},
			{"enough rows were read", MaxBytes, 10, now, true, true},
			{"the snapshot has the revision", MaxBytes, 10, now, false, true},
			{"the snapshot is of an earlier revision", MaxBytes, 10, func() int64 { return first - 1 }, true, false},
			{"the snapshot is of a later revision", MaxBytes, 10, change, false, false},
			{"the values are brought up to date", MaxBytes, 10, func() int64 { return put(component("a", "x")) }, true, true},
			{"an entity has several values", MaxBytes, 10, func() int64 { return put(several) }, true, false},
		} {
			x := New(d, c.memory)
			for range c.asked {
				if err := x.Ask(t.Context(), kid, 1, 10); err != nil {
					t.Fatal(err)
				}
			}
			first = x.revision
			_, known, err := x.Order(t.Context(), c.revision(), c.current, kid, set, Range{Limit: 1})
			if err != nil || known != c.want {
				t.Errorf("%s: the order is known: %v (%v), want %v", c.reason, known, err, c.want)
			}
		}
	})
}

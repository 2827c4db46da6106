package texts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// TestFindInIsLikeScan searches snapshots while the catalog changes, and compares what is
// found with a search of the database in the same snapshot.
func TestFindInIsLikeScan(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d := open()
		keys := &index.Keys{}
		w := write.New(d, keys, 0)
		change := func(rt *rapid.T, full bool) {
			c := write.Change{Provider: "p", Full: full, Put: []write.Document{component("always", "title")}}
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 1, 5, rapid.ID[int]).Draw(rt, "changed") {
				if rapid.IntRange(0, 3).Draw(rt, "removed") == 0 {
					c.Remove = append(c.Remove, fmt.Sprint("component:default/n", i))
				} else {
					c.Put = append(c.Put, component(fmt.Sprint("n", i), rapid.SampledFrom([]string{"ab", "bc", "cd", ""}).Draw(rt, "title")))
				}
			}
			if _, err := w.Sync(t.Context(), c); err != nil {
				rt.Fatal(err)
			}
		}
		inMemory, corrected := 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			texts := New(d, rapid.SampledFrom([]int{MaxBytes, MaxBytes, MaxBytes, 10}).Draw(rt, "memory"))
			change(rt, true)
			name, _ := keys.Get("metadata.name")
			title, _ := keys.Get("metadata.title")
			kids := []int64{name, title}
			// later searches the present revision, which brings the values up to date.
			later := func() {
				revision, err := changelog.Revision(t.Context(), d.Query)
				if err == nil {
					_, _, err = texts.Find(t.Context(), revision, kids[:rapid.IntRange(1, 2).Draw(rt, "fields")], "x")
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
			for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
				if rapid.Bool().Draw(rt, "searched before") {
					later()
				}
				if rapid.Bool().Draw(rt, "changed before") {
					change(rt, false)
				}
				err := d.LongSnapshot(t.Context(), func(ask db.Asker) error {
					revision, err := changelog.Revision(t.Context(), ask)
					if err != nil {
						return err
					}
					if d.Client != db.SQLite || rapid.Bool().Draw(rt, "changed after") {
						for range rapid.IntRange(0, 2).Draw(rt, "changes") {
							change(rt, false)
							if rapid.Bool().Draw(rt, "searched after") {
								later()
							}
						}
					}
					text := rapid.SampledFrom([]string{"b", "bc", "n1", "d"}).Draw(rt, "text")
					want, at, err := Scan(t.Context(), ask, kids, text)
					if err != nil || at != revision {
						return fmt.Errorf("scan is of %d, want %d: %w", at, revision, err)
					}
					loads := texts.loads
					got, at, err := texts.FindIn(t.Context(), ask, revision, kids, text)
					if err != nil || at != revision {
						return fmt.Errorf("search is of %d, want %d: %w", at, revision, err)
					}
					if texts.revision == revision && texts.loads >= loads && len(texts.byKid) == 2 {
						inMemory++
					}
					if texts.revision > revision && len(texts.byKid) == 2 {
						corrected++
					}
					all, _, err := Scan(t.Context(), ask, kids, "")
					if err != nil {
						return err
					}
					got.And(all)
					if diff := cmp.Diff(want.ToArray(), got.ToArray()); diff != "" && !slices.Equal(want.ToArray(), got.ToArray()) {
						rt.Fatalf("%q at %d, values at %d: -want +got\n%s", text, revision, texts.revision, diff)
					}
					return nil
				})
				if err != nil {
					rt.Fatal(err)
				}
			}
		})
		if inMemory == 0 || corrected == 0 {
			t.Errorf("%d searches were of the revision in memory, and %d of an earlier one", inMemory, corrected)
		}
	})
}

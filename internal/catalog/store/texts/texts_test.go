package texts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

func component(name, title string) write.Document {
	metadata, spec, n := tree.Obj(), tree.Obj(), tree.Obj()
	metadata.Set("name", tree.Str(name))
	spec.Set("type", tree.Str("service"))
	n.Set("apiVersion", tree.Str("backstage.io/v1alpha1"))
	n.Set("kind", tree.Str("Component"))
	n.Set("metadata", metadata)
	n.Set("spec", spec)
	if title != "" {
		metadata.Set("title", tree.Str(title))
	}
	return write.Document{Node: n}
}

// TestFindIsLikeModel changes entities at random, and compares what is found with a search
// of all values. Between two searches there are few changes, or more than are held beside
// the other values, or so many that the change log does not list them.
func TestFindIsLikeModel(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d := open()
		keys := &index.Keys{}
		w := write.New(d, keys, 0)
		if _, err := w.Sync(t.Context(), write.Change{Provider: "p", Put: []write.Document{component("first", "title")}}); err != nil {
			t.Fatal(err)
		}
		hits, asked := 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			texts := New(d, rapid.SampledFrom([]int{MaxBytes, MaxBytes, MaxBytes, 10}).Draw(rt, "memory"))
			texts.maxLater = rapid.SampledFrom([]int{1, maxLater}).Draw(rt, "later")
			titles := map[string]string{}
			full := true
			for range rapid.IntRange(1, 5).Draw(rt, "rounds") {
				c := write.Change{Provider: "p", Full: full}
				full = false
				for range rapid.IntRange(1, 4).Draw(rt, "changes") {
					name := fmt.Sprint("n", rapid.IntRange(0, 5).Draw(rt, "name"))
					if _, ok := titles[name]; ok && rapid.IntRange(0, 3).Draw(rt, "remove") == 0 {
						c.Remove = append(c.Remove, "component:default/"+name)
						delete(titles, name)
						c.Put = slices.DeleteFunc(c.Put, func(d write.Document) bool { return d.Node.Get("metadata").Get("name").Str() == name })
						continue
					}
					titles[name] = rapid.SampledFrom([]string{"", "Payments", "Payment API", "ä % Öl", "ment"}).Draw(rt, "title")
					c.Put = slices.DeleteFunc(c.Put, func(d write.Document) bool { return d.Node.Get("metadata").Get("name").Str() == name })
					c.Put = append(c.Put, component(name, titles[name]))
				}
				if _, err := w.Sync(t.Context(), c); err != nil {
					rt.Fatal(err)
				}
				// Removed entities may be found: their ids are never those of other entities.
				for name := range titles {
					c.Remove = slices.DeleteFunc(c.Remove, func(ref string) bool { return ref == "component:default/"+name })
				}
				kid, _ := keys.Get("metadata.title")
				revision, err := changelog.Revision(t.Context(), d.Query)
				if err != nil {
					rt.Fatal(err)
				}
				text := rapid.SampledFrom([]string{"ment", "payment a", "ä %", "öl", "s", "x"}).Draw(rt, "text")
				set, at, ok, err := texts.Find(t.Context(), revision, []int64{kid}, text)
				if err != nil {
					rt.Fatal(err)
				}
				if !ok {
					if texts.maxBytes == MaxBytes {
						rt.Fatal("values do not fit into memory")
					}
					continue
				}
				var want, got []string
				for name, title := range titles {
					if strings.Contains(strings.ToLower(title), text) {
						want = append(want, "component:default/"+name)
					}
				}
				err = db.Each(t.Context(), d.Query, "SELECT id, ref FROM entities", nil, func(rows *db.Rows) error {
					var id uint32
					var ref string
					err := rows.Scan(&id, &ref)
					if set.Contains(id) {
						got = append(got, ref)
					}
					return err
				})
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" || err != nil || at != revision {
					rt.Fatalf("%q at %d (%v), -want +got:\n%s", text, at, err, diff)
				}
				if asked++; len(want) > 0 {
					hits++
				}
			}
		})
		if hits*4 < asked {
			t.Errorf("%d of %d searches find something", hits, asked)
		}
	})
}

// TestFewLoads searches after each of some changes: values are read once, and then follow
// the change log.
func TestFewLoads(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	keys := &index.Keys{}
	w, texts := write.New(d, keys, 0), New(d, MaxBytes)
	for i := range 10 {
		c := write.Change{Provider: "p", Put: []write.Document{component("a", fmt.Sprint("title ", i)), component(fmt.Sprint("b", i), "other")}}
		if _, err := w.Sync(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		kid, _ := keys.Get("metadata.title")
		revision, err := changelog.Revision(t.Context(), d.Query)
		if err != nil {
			t.Fatal(err)
		}
		set, _, ok, err := texts.Find(t.Context(), revision, []int64{kid}, fmt.Sprint("le ", i))
		if err != nil || !ok || set.GetCardinality() != 1 {
			t.Errorf("search %d found %d entities (%v)", i, set.GetCardinality(), err)
		}
	}
	if texts.loads != 1 {
		t.Errorf("values were read %d times, want once", texts.loads)
	}
}

package texts

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
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
// the other values, or so many that the change log does not list them. All fields fit into
// memory, or one, or none.
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
			texts := New(d, rapid.SampledFrom([]int{MaxBytes, MaxBytes, 200, 10}).Draw(rt, "memory"))
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
				fields := rapid.SampledFrom([][]string{{"metadata.title"}, {"metadata.name"}, {"metadata.name", "metadata.title"}}).Draw(rt, "fields")
				var kids []int64
				for _, field := range fields {
					kid, _ := keys.Get(field)
					kids = append(kids, kid)
				}
				revision, err := changelog.Revision(t.Context(), d.Query)
				if err != nil {
					rt.Fatal(err)
				}
				text := rapid.SampledFrom([]string{"ment", "payment a", "ä %", "öl", "s", "x", "n1", "%"}).Draw(rt, "text")
				set, at, err := texts.Find(t.Context(), revision, kids, text)
				if err != nil {
					rt.Fatal(err)
				}
				var want, got []string
				for name, title := range titles {
					inTitle := slices.Contains(fields, "metadata.title") && strings.Contains(strings.ToLower(title), text)
					if inTitle || slices.Contains(fields, "metadata.name") && strings.Contains(name, text) {
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
		set, _, err := texts.Find(t.Context(), revision, []int64{kid}, fmt.Sprint("le ", i))
		if err != nil || set.GetCardinality() != 1 {
			t.Errorf("search %d found %d entities (%v)", i, set.GetCardinality(), err)
		}
	}
	if texts.loads != 1 {
		t.Errorf("values were read %d times, want once", texts.loads)
	}
}

// revisionOf returns the revision of a database.
func revisionOf(t *testing.T, d *db.DB) int64 {
	t.Helper()
	n, err := changelog.Revision(t.Context(), d.Query)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// find calls Find, and returns how many entities it found and their revision.
func find(t *testing.T, texts *Texts, revision int64, text string, kids ...int64) (count int, at int64) {
	t.Helper()
	set, at, err := texts.Find(t.Context(), revision, kids, text)
	if err != nil {
		t.Fatalf("cannot find %q: %v", text, err)
	}
	return int(set.GetCardinality()), at
}

// TestRevisionGoesBack replaces the database with a copy that has fewer changes, and then
// gets others.
func TestRevisionGoesBack(t *testing.T) {
	keys := &index.Keys{}
	newest, backup := database.Open(t, database.SQLite(t)), database.Open(t, database.SQLite(t))
	put := func(d *db.DB, title string) (revision int64) {
		c := write.Change{Provider: "p", Put: []write.Document{component("a", title)}}
		if _, err := write.New(d, keys, 0).Sync(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return revisionOf(t, d)
	}
	early := put(backup, "early")
	put(newest, "early")
	late := put(newest, "late")
	kid, _ := keys.Get("metadata.title")
	texts := New(newest, MaxBytes)
	check := func(revision int64, text string, count int, at int64, loads int) {
		t.Helper()
		if n, got := find(t, texts, revision, text, kid); n != count || got != at || texts.loads != loads {
			t.Errorf("Find(%d, %q) found %d entities at %d after %d loads, want %d at %d after %d", revision, text, n, got, texts.loads, count, at, loads)
		}
	}
	check(late, "late", 1, late, 1)
	// A caller that read its revision before the last change does not drop the values.
	check(early, "late", 1, late, 1)
	texts.db = backup
	check(early, "late", 0, early, 2)
	check(early, "early", 1, early, 2)
	if put(backup, "other") != late {
		t.Fatal("the copy does not reach the same revision")
	}
	check(late, "late", 0, late, 2)
	check(late, "other", 1, late, 2)
}

// insert writes values of a key that no entity has, from 0 on, each of 100 bytes.
func insert(t *testing.T, d *db.DB, kid int64, values int) {
	t.Helper()
	for i := range values {
		insertRow(t, d, kid, fmt.Sprintf("%0100d", i), idset.AppendList(nil, []uint32{uint32(i)}))
	}
}

func insertRow(t *testing.T, d *db.DB, kid int64, value string, ids []byte) {
	t.Helper()
	_, err := d.Write.ExecContext(t.Context(), "INSERT INTO postings (kid, value, original, block, n, ids) VALUES ($1, $2, '', -1, 1, $3)", kid, value, ids)
	if err != nil {
		t.Fatal(err)
	}
}

// TestLargeField searches a field that is larger than the memory. Its last row is damaged,
// so reading it would fail.
func TestLargeField(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	insert(t, d, 1000, 20)
	insertRow(t, d, 1000, "last", []byte{0xff})
	texts := New(d, 1000)
	for range 2 {
		if n, _ := find(t, texts, revisionOf(t, d), "0007", 1000); n != 1 {
			t.Errorf("Find found %d entities, want 1", n)
		}
	}
	if texts.loads != 1 || len(texts.byKid) != 0 {
		t.Errorf("values were read %d times and %d fields are held, want 1 and 0", texts.loads, len(texts.byKid))
	}
}

// TestManyFields reads fields of which two fit into memory.
func TestManyFields(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	kids := []int64{1000, 1001, 1002, 1003, 1004, 1005}
	for _, kid := range kids {
		insert(t, d, kid, 5)
	}
	texts := New(d, 1500)
	err := d.Snapshot(t.Context(), func(ask db.Asker) error {
		for _, kid := range kids {
			if err := texts.load(t.Context(), ask, kid); err != nil {
				return err
			}
			sum := 0
			for _, f := range texts.byKid {
				sum += f.bytes()
			}
			if sum > texts.maxBytes {
				t.Errorf("after field %d was read, %d bytes are held, want at most %d", kid, sum, texts.maxBytes)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	texts = New(d, 1500)
	for range 2 {
		if n, _ := find(t, texts, revisionOf(t, d), "0003", kids...); n != 1 {
			t.Errorf("Find found %d entities, want 1", n)
		}
	}
	if texts.loads != 3 {
		t.Errorf("values were read %d times, want 3: then it is known that not all fields fit", texts.loads)
	}
}

// TestFieldsTogetherTooLarge searches fields each of which fits into memory, but not all
// together. They take 1,134 of 1,500 bytes (a and b), 682 (c1, c2 and c3) and 230 (small).
func TestFieldsTogetherTooLarge(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	const a, b, c1, c2, c3, small = 1000, 1001, 1002, 1003, 1004, 1005
	for kid, values := range map[int64]int{a: 10, b: 10, c1: 6, c2: 6, c3: 6, small: 2} {
		insert(t, d, kid, values)
	}
	texts, revision := New(d, 1500), revisionOf(t, d)
	steps := []struct {
		reason     string
		kids, held []int64
		loads      int
	}{
		{"Both are read to know their sizes. Then the database is searched.", []int64{a, b}, []int64{b}, 2},
		{"It is known that they do not fit.", []int64{a, b}, []int64{b}, 2},
		{"One of them is in memory.", []int64{b}, []int64{b}, 2},
		{"The other one fits too, and replaces it.", []int64{a}, []int64{a}, 3},
		{"A small one fits beside it.", []int64{small}, []int64{a, small}, 4},
		{"The one that is not needed is dropped.", []int64{small, b}, []int64{b, small}, 5},
		{"A small one is kept beside one that replaces a large one.", []int64{c1}, []int64{c1, small}, 6},
		{"The one that was used least recently is dropped.", []int64{c2}, []int64{c1, c2}, 7},
		{"One in memory is used.", []int64{c1}, []int64{c1, c2}, 7},
		{"So it is kept, though it was read before the other one.", []int64{c3}, []int64{c1, c3}, 8},
	}
	for i, s := range steps {
		if n, at := find(t, texts, revision, "0001", s.kids...); n != 1 || at != revision {
			t.Errorf("step %d found %d entities at %d, want 1 at %d", i, n, at, revision)
		}
		if diff := cmp.Diff(s.held, slices.Sorted(maps.Keys(texts.byKid))); diff != "" || texts.loads != s.loads {
			t.Errorf("%s\nstep %d: values were read %d times, want %d; fields in memory, -want +got:\n%s", s.reason, i, texts.loads, s.loads, diff)
		}
	}
}

// TestBytes checks that a field takes no more memory than it says.
func TestBytes(t *testing.T) {
	const size = 32 << 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	f := &field{text: make([]byte, 10, size)}
	f.finish()
	if grown := heap() - before; grown > size/2 {
		t.Errorf("a field of %d bytes takes %d", f.bytes(), grown)
	}
	empty := f.bytes()
	for range 2 {
		f.put(1, []string{strings.Repeat("v", 1000)})
		if n := f.bytes() - empty; n < 1000 || n > 1200 {
			t.Errorf("a value of 1000 bytes takes %d", n)
		}
	}
}

// TestScanRevision searches the database with a revision that was read before a change. It
// finds nothing, so that no row has the revision.
func TestScanRevision(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		d := open()
		keys := &index.Keys{}
		w, texts := write.New(d, keys, 0), New(d, 0)
		var revisions []int64
		for i := range 2 {
			c := write.Change{Provider: "p", Put: []write.Document{component("a", fmt.Sprint("title ", i))}}
			if _, err := w.Sync(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			revisions = append(revisions, revisionOf(t, d))
		}
		kid, _ := keys.Get("metadata.title")
		if n, at := find(t, texts, revisions[0], "title 0", kid); n != 0 || at != revisions[1] {
			t.Errorf("Find found %d entities at %d, want 0 at %d", n, at, revisions[1])
		}
	})
}

// TestHitsShareLock searches values in memory while another goroutine does.
func TestHitsShareLock(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	insert(t, d, 1000, 1)
	texts, revision := New(d, MaxBytes), revisionOf(t, d)
	find(t, texts, revision, "0", 1000)
	texts.mu.RLock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = texts.Find(t.Context(), revision, []int64{1000}, "0")
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("a search waits for another one")
	}
	texts.mu.RUnlock()
	<-done
}

// TestConcurrent searches titles and names, which do not fit into memory together, while a
// title changes: each search finds it once, at its revision or a later one.
func TestConcurrent(t *testing.T) {
	d := database.Open(t, database.SQLite(t))
	keys := &index.Keys{}
	w, texts := write.New(d, keys, 0), New(d, 4000)
	put := func(docs ...write.Document) {
		if _, err := w.Sync(t.Context(), write.Change{Provider: "p", Put: docs}); err != nil {
			t.Error(err)
		}
	}
	docs := []write.Document{component("title-of-a", "title")}
	for n := range 20 {
		long := fmt.Sprintf("%0100d", n)
		docs = append(docs, component(long, long))
	}
	put(docs...)
	title, _ := keys.Get("metadata.title")
	name, _ := keys.Get("metadata.name")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 40 {
				revision, err := changelog.Revision(t.Context(), d.Query)
				if err != nil {
					t.Error(err)
					return
				}
				set, at, err := texts.Find(t.Context(), revision, [][]int64{{title}, {name}, {title, name}}[(i+n)%3], "title")
				if err != nil || at < revision || set.GetCardinality() != 1 {
					t.Errorf("Find for revision %d: %v at %d (%v)", revision, set, at, err)
					return
				}
			}
		})
	}
	for i := range 10 {
		put(component("title-of-a", fmt.Sprint("title ", i)))
	}
	wg.Wait()
}

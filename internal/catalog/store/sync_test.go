package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/test/database"
)

// component returns a Component with a name and spec fields in JSON.
func component(tb testing.TB, name string, spec ...string) write.Document {
	tb.Helper()
	return document(tb, fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":"Component",
		"metadata":{"name":%q},"spec":{%s}}`, name, strings.Join(spec, ",")))
}

func group(tb testing.TB, name string, spec ...string) write.Document {
	tb.Helper()
	return document(tb, fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":"Group",
		"metadata":{"name":%q},"spec":{%s}}`, name, strings.Join(spec, ",")))
}

// linksOf returns the relations of an entity's JSON as "type target".
func linksOf(tb testing.TB, s *Store, ref string) []string {
	tb.Helper()
	e, err := s.Get(tb.Context(), ref)
	if err != nil {
		tb.Fatal(err)
	}
	var links []string
	for _, r := range decodeBody(tb, e.JSON).Get("relations").List() {
		links = append(links, r.Get("type").Str()+" "+r.Get("targetRef").Str())
	}
	return links
}

func decodeBody(tb testing.TB, body []byte) *tree.Node {
	tb.Helper()
	n, err := wire.Decoder{}.Decode(body)
	if err != nil {
		tb.Fatalf("relations cannot be decoded: %v in %s", err, body)
	}
	return n
}

func push(tb testing.TB, s *Store, c write.Change) write.Result {
	tb.Helper()
	r, err := s.Sync(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestSync(t *testing.T) {
	a, b, c := "component:default/a", "component:default/b", "component:default/c"
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		step := func(reason string, change write.Change, want write.Result, refs ...string) {
			t.Helper()
			got := push(t, s, change)
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(write.Result{}, "Refs")); diff != "" {
				t.Errorf("%s: result differs: %s", reason, diff)
			}
			var have []string
			err := database.Each(t.Context(), s.Read, "SELECT ref FROM entities ORDER BY ref", nil, database.Into(&have))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(refs, have, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: entities differ: %s", reason, diff)
			}
		}
		docA, docB := component(t, "a", `"type":"x"`), component(t, "b", `"type":"x"`)
		changedA := component(t, "a", `"type":"y"`)
		child := write.Document{Node: changedA.Node, Parent: "location:default/l"}
		step("new entities are added", write.Change{Provider: "p", Full: true, Put: []write.Document{docA, docB}}, write.Result{Added: 2}, a, b)
		step("the same again changes nothing", write.Change{Provider: "p", Full: true, Put: []write.Document{docA, docB}}, write.Result{Unchanged: 2}, a, b)
		step("a delta of the same changes nothing", write.Change{Provider: "p", Put: []write.Document{docA}}, write.Result{Unchanged: 1}, a, b)
		step("only what differs is updated", write.Change{Provider: "p", Full: true, Put: []write.Document{changedA, docB}},
			write.Result{Updated: 1, Unchanged: 1}, a, b)
		step("a new parent is an update", write.Change{Provider: "p", Put: []write.Document{child}}, write.Result{Updated: 1}, a, b)
		step("an entity of another provider is refused", write.Change{Provider: "q", Full: true, Put: []write.Document{docA, component(t, "c")}},
			write.Result{Added: 1, Refused: []write.Refusal{{Index: 0, Ref: a, Owner: "p"}}}, a, b, c)
		step("the first of two documents counts", write.Change{Provider: "q", Put: []write.Document{component(t, "c"), component(t, "C", `"type":"z"`)}},
			write.Result{Unchanged: 1, Refused: []write.Refusal{{Index: 1, Ref: c, Owner: "q"}}}, a, b, c)
		step("a delta removes only its references that the provider owns", write.Change{Provider: "p", Remove: []string{"Component:default/B", c, "component:default/none"}},
			write.Result{Removed: 1}, a, c)
		step("a reference that is both put and removed is put", write.Change{Provider: "p", Put: []write.Document{docB}, Remove: []string{b}}, write.Result{Added: 1}, a, b, c)
		step("an empty full change removes all entities of the provider", write.Change{Provider: "p", Full: true}, write.Result{Removed: 2}, c)
		step("a removed entity can be added by another provider", write.Change{Provider: "q", Put: []write.Document{docA}}, write.Result{Added: 1}, a, c)
		step("an empty full change of an unknown provider changes nothing", write.Change{Provider: "unknown", Full: true}, write.Result{}, a, c)
	})
}

func TestSyncKeepsUID(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		get := func() *Entity {
			e, err := s.Get(t.Context(), "component:default/a")
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
		first := get()
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"type":"x"`)}})
		second := get()
		if first.UID != second.UID {
			t.Error("update changed the uid")
		}
		if first.ETag == second.ETag {
			t.Error("update did not change the etag")
		}
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
		if got := get(); got.ETag != first.ETag {
			t.Error("same content has another etag")
		}
		if err := s.DeleteByUID(t.Context(), first.UID); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteByUID(t.Context(), first.UID); !isNotFound(err) {
			t.Errorf("deleting the entity again returned %v, want not found", err)
		}
	})
}

func TestSyncRelates(t *testing.T) {
	team := "group:default/team"
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		want := func(reason, ref string, links ...string) {
			t.Helper()
			if diff := gocmp.Diff(links, linksOf(t, s, ref), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: relations differ: %s", reason, diff)
			}
		}
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"owner":"team"`)}})
		want("the target need not exist", "component:default/a", "ownedBy "+team)
		push(t, s, write.Change{Provider: "q", Put: []write.Document{group(t, "team")}})
		want("a target that is added later has the relation", team, "ownerOf component:default/a")
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "b", `"owner":"team"`, `"dependsOn":["component:a"]`)}})
		want("an existing target gets the relation", team, "ownerOf component:default/a", "ownerOf component:default/b")
		want("so does a target of another provider", "component:default/a", "dependencyOf component:default/b", "ownedBy "+team)
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"owner":"team"`, `"dependencyOf":["component:b"]`)}})
		want("a relation that both sides declare exists once", "component:default/b", "dependsOn component:default/a", "ownedBy "+team)
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "b", `"owner":"other"`)}})
		want("a relation that one side still declares stays", "component:default/b", "dependsOn component:default/a", "ownedBy group:default/other")
		want("a relation that no side declares is removed", team, "ownerOf component:default/a")
		push(t, s, write.Change{Provider: "p", Remove: []string{"component:default/a"}})
		want("a removed entity declares no relations", "component:default/b", "ownedBy group:default/other")
		want("a removed entity is no target", team)
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "b", `"dependsOn":["component:b"]`)}})
		want("an entity may have a relation to itself", "component:default/b",
			"dependencyOf component:default/b", "dependsOn component:default/b")
		push(t, s, write.Change{Provider: "q", Full: true})
		push(t, s, write.Change{Provider: "p", Full: true})
		for _, table := range []string{"entities", "documents", "postings", "fields", "relations"} {
			var n int
			if err := s.Read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows are left in %s (%v)", n, table, err)
			}
		}
	})
}

// TestSyncUnchangedWritesNothing checks in the database that an unchanged change
// writes nothing, as a write would block others.
func TestSyncUnchangedWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		docs := []write.Document{component(t, "a", `"owner":"team"`), group(t, "team")}
		other := write.Change{Provider: "q", Full: true, Put: []write.Document{component(t, "a")}}
		c := write.Change{Provider: "p", Full: true, Put: docs}
		push(t, s, c)
		lock, err := open().Write.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Exec("UPDATE revision SET n = n + 1"); err != nil {
			t.Fatal(err)
		}
		usual := s.Patience
		s.Patience = 50 * time.Millisecond
		before := database.Written(t, s.DB)
		push(t, s, c)
		push(t, s, write.Change{Provider: "p", Put: docs, Remove: []string{"component:default/none"}})
		if r := push(t, s, other); len(r.Refused) != 1 {
			t.Error("document of another provider was not refused")
		}
		if after := database.Written(t, s.DB); after != before {
			t.Errorf("unchanged change wrote: %d, then %d", before, after)
		}
		if err := lock.Rollback(); err != nil {
			t.Fatal(err)
		}
		s.Patience = usual
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "b")}})
		if after := database.Written(t, s.DB); after == before {
			t.Error("test does not detect a write")
		}
	})
}

func TestSyncRaisesRevision(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		before, err := replica.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
		after, err := replica.Revision(t.Context())
		if err != nil || after <= before {
			t.Errorf("revision was %d and is %d (%v), want it higher", before, after, err)
		}
	})
}

// TestSyncAtOnce has several replicas write the same references concurrently:
// each reference has one owner in the end, and key ids are the same for all.
func TestSyncAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		const replicas = 4
		type outcome struct {
			r   write.Result
			err error
		}
		outcomes := make(chan outcome)
		for i := range replicas {
			s := open()
			var docs []write.Document
			for j := range 20 {
				docs = append(docs, component(t, fmt.Sprintf("c%d", j), fmt.Sprintf(`"key%d":"v","owner":"g"`, j)))
			}
			docs = append(docs, component(t, fmt.Sprintf("own%d", i), `"owner":"g"`))
			go func() {
				r, err := s.Sync(context.Background(), write.Change{Provider: fmt.Sprint("p", i), Full: true, Put: docs})
				outcomes <- outcome{r, err}
			}()
		}
		added := 0
		for range replicas {
			o := <-outcomes
			if o.err != nil {
				t.Error(o.err)
			}
			added += o.r.Added
			if o.r.Added+len(o.r.Refused) != 21 {
				t.Errorf("sum of added and refused is not 21: %+v", o.r)
			}
		}
		if want := 20 + replicas; added != want {
			t.Errorf("%d entities were added, want %d", added, want)
		}
		s := open()
		push(t, s, write.Change{Provider: "g", Put: []write.Document{group(t, "g")}})
		if got := len(linksOf(t, s, "group:default/g")); got != 20+replicas {
			t.Errorf("group owns %d entities", got)
		}
	})
}

// TestSyncMany is large enough to rebuild the index of SQLite and for several
// batches, with one entity that all others relate to.
func TestSyncMany(t *testing.T) {
	const many = 2048
	docs := []write.Document{group(t, "g")}
	for i := range many {
		docs = append(docs, component(t, fmt.Sprintf("c%d", i), `"owner":"g"`))
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		if r := push(t, s, write.Change{Provider: "p", Full: true, Put: docs}); r.Added != many+1 {
			t.Errorf("%+v", r)
		}
		if got := len(linksOf(t, s, "group:default/g")); got != many {
			t.Errorf("group owns %d entities", got)
		}
		page, err := s.Query(t.Context(), Query{Filter: filter.In("relations.ownerOf", "component:default/c7"), Limit: NoLimit})
		if err != nil || len(page.Items) != 1 || page.Items[0].Ref != "group:default/g" {
			t.Errorf("search returned %v (%v), want the group", page.Items, err)
		}
		if r := push(t, s, write.Change{Provider: "p", Full: true, Put: docs[:many/2]}); r.Unchanged != many/2 {
			t.Errorf("%+v", r)
		}
		if got := len(linksOf(t, s, "group:default/g")); got != many/2-1 {
			t.Errorf("group owns %d entities after half were removed", got)
		}
	})
}

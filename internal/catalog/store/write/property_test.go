package write

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/idset"
	"example.dev/ingestor/test/database"
)

// owned is an entity of the model.
type owned struct {
	provider string
	Document
}

// modelAll applies changes as documented, and returns their results.
func modelAll(changes []Change, have map[string]owned) []Result {
	results := make([]Result, len(changes))
	free := map[string]bool{}
	for i, c := range changes {
		put := map[string]bool{}
		for _, d := range c.Put {
			put[entity.RefOf(d.Node).String()] = true
		}
		for ref, was := range have {
			if was.provider == c.Provider && !put[ref] && !slices.Contains(c.Keep, ref) && (c.Full || slices.Contains(c.Remove, ref)) {
				free[ref] = true
				results[i].Removed++
				results[i].Refs.Removed = append(results[i].Refs.Removed, ref)
			}
		}
	}
	taken := map[string]bool{}
	for i, c := range changes {
		r := &results[i]
		for j, d := range c.Put {
			ref := entity.RefOf(d.Node).String()
			was, there := have[ref]
			switch {
			case taken[ref], there && !free[ref] && was.provider != c.Provider:
				r.Refused = append(r.Refused, Refusal{j, ref, was.provider})
				continue
			case !there, free[ref]:
				r.Added++
				r.Refs.Added = append(r.Refs.Added, ref)
			case was.Parent == d.Parent && was.Node.Equal(d.Node):
				r.Unchanged++
			default:
				r.Updated++
				r.Refs.Updated = append(r.Refs.Updated, ref)
			}
			taken[ref] = true
			delete(free, ref)
			have[ref] = owned{c.Provider, d}
		}
	}
	for ref := range free {
		delete(have, ref)
	}
	return results
}

// fieldsOf indexes a value in a simple way, as "key|value|original".
func fieldsOf(key string, n *tree.Node, seen map[string]string) {
	add := func(value, original string) {
		at := key + "|" + value
		if _, ok := seen[at]; !ok && utf8.RuneCountInString(key) <= 200 {
			seen[at] = original
		}
	}
	switch {
	case key == "spec.parameters":
		add(index.NoValue, "")
	case n.IsMap():
		for _, f := range n.Fields {
			fieldsOf(key+"."+strings.ToLower(f.Key), f.Value, seen)
		}
	case n.IsList():
		for _, item := range n.Items {
			fieldsOf(key, item, seen)
		}
	case n.IsNull(), utf8.RuneCountInString(n.Text) > 200:
		add(index.NoValue, "")
	case strings.ToLower(n.Text) == n.Text:
		add(n.Text, "")
	default:
		add(strings.ToLower(n.Text), n.Text)
	}
}

// equals compares all rows of the store with the model.
func equals(t *rapid.T, s *Writer, have map[string]owned) {
	t.Helper()
	rows := func(query string) (all []string) {
		t.Helper()
		if err := database.Each(t.Context(), s.db.Write, query, nil, database.Into(&all)); err != nil {
			t.Fatal(err)
		}
		return all
	}
	var entities, postings, relations []string
	links := map[string]map[body.Link]bool{}
	uid := map[string]string{}
	for _, row := range rows("SELECT ref, uid FROM entities") {
		ref, id, _ := strings.Cut(row, "|")
		uid[ref] = id
	}
	for ref, o := range have {
		for _, r := range entity.Relations(o.Node) {
			for _, e := range []edge{{ref, r.Type, r.Target, ref}, {r.Target, r.Inverse, ref, ref}} {
				relations = append(relations, strings.Join([]string{e.source, e.typ, e.target, e.declarer}, "|"))
				if links[e.source] == nil {
					links[e.source] = map[body.Link]bool{}
				}
				links[e.source][body.Link{Type: e.typ, Target: e.target}] = true
			}
		}
	}
	addField := func(key, value, original, ref string) {
		postings = append(postings, strings.Join([]string{key, value, original, ref}, "|"))
		if value != index.NoValue {
			postings = append(postings, "-"+key+"|||"+ref)
		}
	}
	for ref, o := range have {
		postings = append(postings, "|||"+ref)
		var sorted []body.Link
		for l := range links[ref] {
			sorted = append(sorted, l)
			addField("relations."+strings.ToLower(l.Type), l.Target, "", ref)
		}
		empty := body.New(o.Node)
		served := empty.Serve(uid[ref], 0)
		etag := served.Finish(entity.HashDocument(o.Node), distinct(sorted))
		entities = append(entities, strings.Join([]string{ref, o.provider, o.Parent, etag, string(served.JSON)}, "|"))
		seen := map[string]string{}
		for _, f := range o.Node.Fields {
			fieldsOf(strings.ToLower(f.Key), f.Value, seen)
		}
		fieldsOf("metadata.namespace", tree.Str(entity.RefOf(o.Node).Namespace), seen)
		fieldsOf("metadata.uid", tree.Str(uid[ref]), seen)
		for at, original := range seen {
			key, value, _ := strings.Cut(at, "|")
			addField(key, value, original, ref)
		}
		for _, w := range index.Words(o.Node) {
			postings = append(postings, "|"+w+"||"+ref)
		}
	}
	for _, table := range []struct {
		query string
		want  []string
	}{
		{"SELECT e.ref, e.provider, e.parent, e.etag, d.body FROM entities e JOIN documents d ON d.ref = e.ref", entities},
		{"SELECT ref FROM documents WHERE ref NOT IN (SELECT ref FROM entities)", nil},
		{"SELECT source, type, target, declarer FROM relations", slices.Compact(slices.Sorted(slices.Values(relations)))},
		{"postings", slices.Compact(slices.Sorted(slices.Values(postings)))},
	} {
		var got []string
		if table.query == "postings" {
			got = stored(t, s)
		} else {
			got = rows(table.query)
		}
		slices.Sort(got)
		slices.Sort(table.want)
		if diff := gocmp.Diff(table.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s returned other rows: %s", table.query, diff)
		}
	}
}

// stored returns all postings, each with the key, the value, its spelling and the entity.
// Those of a key as a whole begin with a minus, those of words and of all entities have no
// key.
func stored(t *rapid.T, s *Writer) (all []string) {
	t.Helper()
	refs := map[uint32]string{}
	var id uint32
	var ref string
	err := database.Each(t.Context(), s.db.Write, "SELECT id, ref FROM entities", nil, func(rows *sql.Rows) error {
		err := rows.Scan(&id, &ref)
		refs[id] = ref
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = database.Each(t.Context(), s.db.Write, `SELECT CASE WHEN p.kid < 0 THEN '-' ELSE '' END, coalesce(k.key, ''), p.value, p.original, p.block, p.n, p.ids
		FROM postings p LEFT JOIN keys k ON k.id = abs(p.kid)`, nil, func(rows *sql.Rows) error {
		var sign, key, value, original string
		var block int64
		var n uint64
		var ids []byte
		if err := rows.Scan(&sign, &key, &value, &original, &block, &n, &ids); err != nil {
			return err
		}
		set := roaring.New()
		if err := idset.Add(set, block, ids); err != nil {
			return err
		}
		if set.GetCardinality() != n || n == 0 {
			t.Fatalf("row of %q has %d ids, and says %d", value, set.GetCardinality(), n)
		}
		for _, id := range set.ToArray() {
			all = append(all, strings.Join([]string{sign + key, value, original, refs[id]}, "|"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// drawDocument draws one of few names, so that documents conflict.
func drawDocument(t *rapid.T) Document {
	names := rapid.SampledFrom([]string{"a", "b", "C", "d"})
	text := rapid.SampledFrom([]string{"x", "X", "Mixed Case", "", strings.Repeat("long", 60), "null\x00inside"})
	spec := tree.Obj()
	kind := rapid.SampledFrom([]string{"Component", "Group"}).Draw(t, "kind")
	if rapid.Bool().Draw(t, "owned") {
		spec.Set("owner", tree.Str(names.Draw(t, "owner")))
	}
	if n := rapid.IntRange(0, 2).Draw(t, "depends"); n > 0 {
		spec.Set("dependsOn", tree.Strs(rapid.SliceOfN(rapid.Map(names, func(s string) string { return "component:" + s }), n, n).Draw(t, "on")))
	}
	if rapid.Bool().Draw(t, "mirrored") {
		spec.Set("dependencyOf", tree.Strs([]string{"component:" + names.Draw(t, "of")}))
	}
	if kind == "Group" && rapid.Bool().Draw(t, "parented") {
		spec.Set("parent", tree.Str(names.Draw(t, "parent")))
	}
	spec.Set("Text", tree.Str(strings.ReplaceAll(text.Draw(t, "text"), "\x00", "")))
	if rapid.Bool().Draw(t, "form") {
		spec.Set("parameters", tree.Obj(tree.F("title", tree.Str("no"))))
	}
	metadata := tree.Obj(tree.F("name", tree.Str(names.Draw(t, "name"))))
	if rapid.Bool().Draw(t, "tagged") {
		metadata.Set("tags", tree.Strs(rapid.SliceOfN(text, 1, 3).Draw(t, "tags")))
		for _, tag := range metadata.Get("tags").List() {
			tag.Text = strings.ReplaceAll(tag.Text, "\x00", "")
		}
	}
	if rapid.Bool().Draw(t, "namespaced") {
		metadata.Set("namespace", tree.Str("default"))
	}
	d := Document{
		Node: tree.Obj(tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str(kind)),
			tree.F("metadata", metadata), tree.F("spec", spec)),
		Parent: rapid.SampledFrom([]string{"", "location:default/l"}).Draw(t, "parent of it"),
	}
	if rapid.Bool().Draw(t, "hashed") {
		d.Ref, d.Hash = entity.RefOf(d.Node).String(), entity.HashDocument(d.Node)
	}
	return d
}

// drawChanges draws changes of different providers.
func drawChanges(t *rapid.T, have map[string]owned) []Change {
	var changes []Change
	for _, provider := range rapid.Permutation([]string{"p0", "p1", "p2"}).Draw(t, "providers")[:rapid.IntRange(1, 3).Draw(t, "at once")] {
		c := Change{
			Provider: provider, Full: rapid.Bool().Draw(t, "full"),
			Put: rapid.SliceOfN(rapid.Custom(drawDocument), 0, 5).Draw(t, "put"),
		}
		for _, ref := range slices.Sorted(maps.Keys(have)) {
			if rapid.Bool().Draw(t, "remove") {
				c.Remove = append(c.Remove, ref)
			}
			if rapid.Bool().Draw(t, "keep") {
				c.Keep = append(c.Keep, ref)
			}
		}
		changes = append(changes, c)
	}
	return changes
}

// meanwhile lets another writer write random changes, or none, while a large change is
// planned: the result must be as if they had been written before.
func meanwhile(t *rapid.T, s, other *Writer, c *Change, have map[string]owned) {
	large, err := s.isLarge(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !large || !rapid.Bool().Draw(t, "meanwhile") {
		return
	}
	// The first reads of the change are outside of its transaction, as these.
	reads := 0
	s.betweenReads = func() { reads++ }
	planned := *c
	if planned.Sorted, err = inRefOrder(c.Put); err != nil {
		t.Fatal(err)
	}
	f := newFew(s, &planned, 0)
	if f.revision, err = changelog.Revision(t.Context(), s.db.Query); err != nil {
		t.Fatal(err)
	}
	p, err := s.planLarge(t.Context(), s.db.Query, &planned, f)
	if err == nil {
		_, err = f.consider(t.Context(), s.db.Query, &p.result)
	}
	if err := errors.Join(err, p.edges.Close()); err != nil {
		t.Fatal(err)
	}
	at := rapid.IntRange(1, reads).Draw(t, "read")
	calls := rapid.IntRange(1, 3).Draw(t, "calls meanwhile")
	s.betweenReads = func() {
		if at--; at != 0 {
			return
		}
		s.betweenReads = nil
		for range calls {
			changes := drawChanges(t, have)
			got, err := other.SyncAll(t.Context(), changes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(modelAll(changes, have), got, cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// TestSyncIsLikeModel compares the store after random changes with one that is
// built from scratch. A single change is written as a whole, or in batches of a
// few documents.
func TestSyncIsLikeModel(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Writer) {
		s, other := open(), open()
		rapid.Check(t, func(rt *rapid.T) {
			s.betweenReads = nil
			for i := range 3 {
				push(t, s, Change{Provider: fmt.Sprint("p", i), Full: true})
			}
			have := map[string]owned{}
			for range rapid.IntRange(1, 5).Draw(rt, "calls") {
				changes := drawChanges(rt, have)
				got := make([]Result, 1)
				var err error
				if len(changes) == 1 {
					s.partDocuments = rapid.IntRange(0, 3).Draw(rt, "documents of a part")
					s.maxList = rapid.IntRange(0, 2).Draw(rt, "ids of a list")
					s.mostLogged = rapid.SampledFrom([]int{0, 1, 2000}).Draw(rt, "bytes of a log")
					meanwhile(rt, s, other, &changes[0], have)
					got[0], err = s.Sync(rt.Context(), changes[0])
				} else {
					got, err = s.SyncAll(rt.Context(), changes)
				}
				if err != nil {
					rt.Fatal(err)
				}
				want := modelAll(changes, have)
				if len(changes) == 1 {
					// A large sync does not collect references.
					want[0].Refs, got[0].Refs = Refs{}, Refs{}
				}
				if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)); diff != "" {
					rt.Fatal(diff)
				}
				equals(rt, s, have)
			}
		})
	})
}

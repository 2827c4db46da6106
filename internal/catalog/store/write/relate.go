package write

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// edge is a relation in one direction, and the entity that declares it.
type edge struct{ source, typ, target, declarer string }

func compareEdges(a, b edge) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.typ, b.typ),
		cmp.Compare(a.target, b.target), cmp.Compare(a.declarer, b.declarer))
}

// edgesOf returns the relations that a document declares, in both directions.
func edgesOf(ref string, n *tree.Node) []edge {
	declared := entity.Relations(n)
	edges := make([]edge, 0, 2*len(declared))
	for _, r := range declared {
		// No entity can have such a reference.
		if index.TooLong(r.Target) || db.Storable(r.Target) != r.Target {
			continue
		}
		edges = append(edges, edge{ref, r.Type, r.Target, ref}, edge{r.Target, r.Inverse, ref, ref})
	}
	return edges
}

// linkage is the effect of a change set on relations.
type linkage struct {
	insert, remove []edge
	// before and after are the links of every entity that is put or whose relations
	// change.
	before, after map[string][]body.Link
	// keys are those of the fields that links are indexed as.
	keys []string
}

// same reports whether the linkages of two equal change sets are equal.
func (l *linkage) same(as *linkage) bool {
	if l == nil || as == nil {
		return l == as
	}
	return slices.Equal(l.insert, as.insert) && slices.Equal(l.remove, as.remove) &&
		maps.EqualFunc(l.before, as.before, slices.Equal) && maps.EqualFunc(l.after, as.after, slices.Equal)
}

// relate returns the effect of a change set on relations, and writes nothing.
func (s *Writer) relate(ctx context.Context, ask db.Asker, d *changeSet) (*linkage, error) {
	insert, remove, err := s.changedEdges(ctx, ask, d)
	if err != nil {
		return nil, err
	}
	return s.linkageOf(ctx, ask, d, insert, remove)
}

// changedEdges returns the relations that a change set inserts and removes.
func (s *Writer) changedEdges(ctx context.Context, ask db.Asker, d *changeSet) (insert, remove []edge, err error) {
	err = inParallel(len(d.put), func(i int) error {
		if d.put[i].edges != nil {
			return nil
		}
		return d.put[i].read(len(d.put) <= mostNodes)
	})
	if err != nil {
		return nil, nil, err
	}
	declarers := slices.Clone(d.removed)
	wanted := map[edge]bool{}
	for i := range d.put {
		e := &d.put[i]
		if !e.added {
			declarers = append(declarers, e.ref)
		}
		for _, edge := range e.edges {
			wanted[edge] = true
		}
	}
	err = s.declared(ctx, ask, declarers, func(e edge) {
		if wanted[e] {
			delete(wanted, e)
			return
		}
		remove = append(remove, e)
	})
	insert = slices.Collect(maps.Keys(wanted))
	slices.SortFunc(insert, compareEdges)
	slices.SortFunc(remove, compareEdges)
	return insert, remove, err
}

// linkageOf returns the effect of relations that are inserted and removed on the links of
// the entities that are put, and of others.
func (s *Writer) linkageOf(ctx context.Context, ask db.Asker, d *changeSet, insert, remove []edge) (*linkage, error) {
	own := d.refs()
	affected, others, removed := map[string]bool{}, map[string]bool{}, map[edge]bool{}
	for i := range d.put {
		affected[d.put[i].ref] = true
	}
	for _, e := range remove {
		removed[e] = true
	}
	for _, changed := range [][]edge{insert, remove} {
		for _, e := range changed {
			if !own[e.source] {
				others[e.source] = true
			}
		}
	}
	// Missing entities have no links to update: a group that owns thousands of entities,
	// but does not exist, is not read each time.
	err := s.db.SelectIn(ctx, ask, "SELECT ref FROM entities WHERE ref IN ", slices.Collect(maps.Keys(others)), func(rows *db.Rows) error {
		var ref string
		err := rows.Scan(&ref)
		affected[ref] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	l := &linkage{insert: insert, remove: remove, before: map[string][]body.Link{}, after: map[string][]body.Link{}}
	err = s.edges(ctx, ask, "", slices.Collect(maps.Keys(affected)), func(e edge) {
		l.before[e.source] = append(l.before[e.source], body.Link{Type: e.typ, Target: e.target})
		if !removed[e] {
			l.after[e.source] = append(l.after[e.source], body.Link{Type: e.typ, Target: e.target})
		}
	})
	if err != nil {
		return nil, err
	}
	for _, e := range insert {
		if affected[e.source] {
			l.after[e.source] = append(l.after[e.source], body.Link{Type: e.typ, Target: e.target})
		}
	}
	for ref := range affected {
		l.before[ref] = distinct(l.before[ref])
		l.after[ref] = distinct(l.after[ref])
	}
	l.keys = l.indexed()
	return l, nil
}

// indexed returns the keys of the fields that links are indexed as.
func (l *linkage) indexed() []string {
	types := map[string]bool{}
	for _, links := range l.after {
		for _, k := range links {
			types[k.Type] = true
		}
	}
	var keys []string
	for typ := range types {
		keys = append(keys, linkKey(typ))
	}
	return keys
}

// linkKey returns the key that links of a type are indexed by.
func linkKey(typ string) string { return index.RelationPrefix + index.LowerKey(typ) }

// distinct sorts links and removes duplicates, which several entities declare.
func distinct(links []body.Link) []body.Link {
	slices.SortFunc(links, compareLinks)
	return slices.Compact(links)
}

func compareLinks(a, b body.Link) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Target, b.Target))
}

// declared calls yield, once, for each relation that the entities declare: those that
// begin at them, and their inverses.
func (s *Writer) declared(ctx context.Context, ask db.Asker, refs []string, yield func(edge)) error {
	seen := map[edge]bool{}
	once := func(e edge) {
		if !seen[e] {
			seen[e] = true
			yield(e)
		}
	}
	return s.edges(ctx, ask, "declarer = source AND ", refs, func(e edge) {
		once(e)
		once(edge{e.target, entity.Inverse(e.typ), e.source, e.declarer})
	})
}

// edges calls yield for the relations that begin at one of the references and pass a
// further condition.
func (s *Writer) edges(ctx context.Context, ask db.Asker, and string, refs []string, yield func(edge)) error {
	return s.db.SelectIn(ctx, ask, "SELECT source, type, target, declarer FROM relations WHERE "+and+"source IN ", refs,
		func(rows *db.Rows) error {
			var e edge
			if err := rows.Scan(&e.source, &e.typ, &e.target, &e.declarer); err != nil {
				return err
			}
			yield(e)
			return nil
		})
}

// link writes the changed relations.
func (w *transaction) link(ctx context.Context, l *linkage) error {
	if err := w.unlink(ctx, l.remove); err != nil {
		return err
	}
	return w.Insert(ctx, "relations (source, type, target, declarer)", "", 4, len(l.insert),
		func(i int, args []any) []any {
			e := &l.insert[i]
			return append(args, e.source, e.typ, e.target, e.declarer)
		})
}

// unlink removes relations: many per statement with PostgreSQL; one by one with SQLite,
// which has no round trips and finds each by its key.
func (w *transaction) unlink(ctx context.Context, edges []edge) error {
	if w.s.db.Client == db.SQLite {
		for _, e := range edges {
			err := w.DeleteIn(ctx, "relations", "target", []string{e.target},
				db.Equal{Column: "source", Value: e.source}, db.Equal{Column: "type", Value: e.typ}, db.Equal{Column: "declarer", Value: e.declarer})
			if err != nil {
				return err
			}
		}
		return nil
	}
	return w.ExecValues(ctx, "DELETE FROM relations r USING (VALUES ",
		") AS v (source, type, target, declarer) WHERE r.source = v.source AND r.type = v.type AND r.target = v.target AND r.declarer = v.declarer",
		4, len(edges), func(i int, args []any) []any {
			e := &edges[i]
			return append(args, e.source, e.typ, e.target, e.declarer)
		})
}

// relink writes the links of entities that are not put themselves: the end of their
// JSON, their etag, their fields and their postings.
func (w *transaction) relink(ctx context.Context, d *changeSet, l *linkage) error {
	put := make(map[string]bool, len(d.put))
	for i := range d.put {
		put[d.put[i].ref] = true
	}
	var changed []string
	for ref, after := range l.after {
		if !put[ref] && !slices.Equal(l.before[ref], after) {
			changed = append(changed, ref)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	for part := range slices.Chunk(changed, batchEntities) {
		if err := w.writeLinks(ctx, part, l.after); err != nil {
			return err
		}
	}
	return nil
}

// writeLinks writes the links of entities, where they differ.
func (w *transaction) writeLinks(ctx context.Context, refs []string, after map[string][]body.Link) error {
	if err := w.intern(ctx, (&linkage{after: after}).indexed()); err != nil {
		return err
	}
	was, err := w.linkKids(ctx)
	if err != nil {
		return err
	}
	c := rowBatch{postings: postingChanges{}}
	err = w.s.db.SelectIn(ctx, w.Ask, `SELECT e.id, e.ref, e.uid, e.provider, e.parent, e.hash, e.etag, d.words, d.etag_at, d.relations_at,
		substr(d.body, 1, d.relations_at), f.packed
		FROM entities e JOIN documents d ON d.ref = e.ref JOIN fields f ON f.ref = e.ref WHERE e.ref IN `, slices.Clone(refs),
		func(rows *db.Rows) error {
			var r record
			err := rows.Scan(&r.id, &r.ref, &r.uid, &r.provider, &r.parent, &r.hash, &r.etag,
				&r.words, &r.ETagAt, &r.RelationsAt, &r.JSON, &r.packed)
			if err != nil {
				return err
			}
			etag := r.Finish(r.hash, after[r.ref])
			if etag == r.etag {
				return nil
			}
			r.etag = etag
			before := index.Unpack(r.packed)
			fields := append(slices.DeleteFunc(slices.Clone(before), func(f index.Field) bool { return was[f.Kid] }),
				linkFields(after[r.ref], w.kids)...)
			r.packed, fields = index.Pack(fields)
			c.records = append(c.records, r)
			c.postings.diff(r.id, index.Postings(before, nil), index.Postings(fields, nil))
			return nil
		})
	if err != nil {
		return err
	}
	return w.write(ctx, &c)
}

// linkKids returns the numbers of the keys that links are indexed as.
func (w *transaction) linkKids(ctx context.Context) (map[int64]bool, error) {
	kids := map[int64]bool{}
	err := db.Each(ctx, w.Ask, "SELECT id FROM keys WHERE key >= $1 AND key < $2", []any{index.RelationPrefix, db.After(index.RelationPrefix)},
		func(rows *db.Rows) error {
			var kid int64
			err := rows.Scan(&kid)
			kids[kid] = true
			return err
		})
	return kids, err
}

// linkFields returns the fields of relations for the index, by the numbers of keys.
func linkFields(links []body.Link, kids map[string]int64) []index.Field {
	fields := make([]index.Field, len(links))
	for i, l := range links {
		fields[i] = index.Field{Kid: kids[linkKey(l.Type)], Value: l.Target}
	}
	return fields
}

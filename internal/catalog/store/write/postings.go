package write

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

// postingChange are the entities that a change adds to a set of postings and removes from
// it, in any order.
type postingChange struct{ add, drop []uint32 }

// postingChanges are changes of postings. Its methods record that an entity gets or loses
// postings.
type postingChanges map[index.Posting]*postingChange

func (c postingChanges) of(p index.Posting) *postingChange {
	if c[p] == nil {
		c[p] = &postingChange{}
	}
	return c[p]
}

func (c postingChanges) add(id uint32, all []index.Posting) {
	for _, p := range all {
		change := c.of(p)
		change.add = append(change.add, id)
	}
}

// diff records the change of an entity's postings, both sorted and distinct.
func (c postingChanges) diff(id uint32, before, after []index.Posting) {
	i := 0
	drop := func() {
		change := c.of(before[i])
		change.drop = append(change.drop, id)
		i++
	}
	for _, p := range after {
		for i < len(before) && before[i].Compare(p) < 0 {
			drop()
		}
		if i < len(before) && before[i] == p {
			i++
			continue
		}
		change := c.of(p)
		change.add = append(change.add, id)
	}
	for i < len(before) {
		drop()
	}
}

// postingRow is the key of a row of postings.
type postingRow struct {
	index.Posting
	block int64
}

func (r postingRow) compare(o postingRow) int {
	return cmp.Or(r.Compare(o.Posting), cmp.Compare(r.block, o.block))
}

// appendTexts appends the key as texts, because PostgreSQL takes all parameters of a list of
// values for texts.
func (r postingRow) appendTexts(args []any) []any {
	return append(args, strconv.FormatInt(r.Kid, 10), r.Value, r.Original, strconv.FormatInt(r.block, 10))
}

// postingWriter changes sets. Added ids go to the list of a set, and from a full list to
// blocks, so that a change of a few entities writes short rows.
type postingWriter struct {
	w       *transaction
	changes postingChanges
	// had are the ids of the rows that were read, nil where there is no row.
	had map[postingRow]*idset.Set
	// put are the rows to write, or to delete if their set is empty.
	put map[postingRow]*idset.Set
}

// writePostings writes changes of postings.
func (w *transaction) writePostings(ctx context.Context, changes postingChanges) error {
	all := make([]index.Posting, 0, len(changes))
	for p := range changes {
		all = append(all, p)
	}
	slices.SortFunc(all, index.Posting.Compare)
	known, err := w.insertNew(ctx, changes, all)
	if err != nil {
		return err
	}
	const atOnce = 512
	for some := range slices.Chunk(known, atOnce) {
		m := postingWriter{w: w, changes: changes, had: map[postingRow]*idset.Set{}, put: map[postingRow]*idset.Set{}}
		if err := m.merge(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// insertNew inserts a list for each posting that gets one entity and loses none: most
// of these do not exist. It returns the postings that are left to change, among them those
// of a statement that met an existing one.
func (w *transaction) insertNew(ctx context.Context, changes postingChanges, all []index.Posting) ([]index.Posting, error) {
	var left, single []index.Posting
	for _, p := range all {
		if c := changes[p]; len(c.add) == 1 && len(c.drop) == 0 {
			single = append(single, p)
		} else {
			left = append(left, p)
		}
	}
	err := w.InsertMissing(ctx, "postings (kid, value, original, ids, n, block)", ", 1, "+strconv.Itoa(idset.List), 4, len(single), func(i int, args []any) []any {
		p := single[i]
		return append(args, p.Kid, p.Value, p.Original, idset.AppendList(nil, changes[p].add))
	}, func(from, to int) { left = append(left, single[from:to]...) })
	slices.SortFunc(left, index.Posting.Compare)
	return left, err
}

// merge changes the sets of some postings.
func (m *postingWriter) merge(ctx context.Context, some []index.Posting) error {
	var rows []postingRow
	for _, p := range some {
		rows = append(rows, postingRow{p, idset.List})
		for _, id := range m.changes[p].drop {
			rows = append(rows, postingRow{p, idset.Block(id)})
		}
	}
	if err := m.read(ctx, rows); err != nil {
		return err
	}
	rows = rows[:0]
	full := map[index.Posting]*idset.Set{}
	for _, p := range some {
		list := m.drop(p)
		if int(list.GetCardinality()) <= cmp.Or(m.w.s.maxList, idset.MaxList) {
			continue
		}
		full[p] = list
		for _, id := range list.ToArray() {
			if row := (postingRow{p, idset.Block(id)}); len(rows) == 0 || rows[len(rows)-1] != row {
				rows = append(rows, row)
			}
		}
	}
	if err := m.read(ctx, rows); err != nil {
		return err
	}
	for _, p := range some {
		if list := full[p]; list != nil {
			if err := m.flush(p, list); err != nil {
				return err
			}
		}
	}
	return m.write(ctx)
}

// drop removes ids from the rows of a posting, adds those to add, and returns the list.
func (m *postingWriter) drop(p index.Posting) *idset.Set {
	c := m.changes[p]
	key := postingRow{p, idset.List}
	list := roaring.New()
	before := m.had[key]
	if before != nil {
		list = before.Clone()
	}
	for _, id := range c.drop {
		if list.CheckedRemove(id) {
			continue
		}
		block := postingRow{p, idset.Block(id)}
		if set := m.had[block]; set != nil && set.CheckedRemove(id) {
			m.put[block] = set
		}
	}
	list.AddMany(c.add)
	if before == nil && !list.IsEmpty() || before != nil && !before.Equals(list) {
		m.put[key] = list
	}
	return list
}

// flush moves the ids of a full list to blocks.
func (m *postingWriter) flush(p index.Posting, list *idset.Set) error {
	parts, err := idset.Rows(list, true)
	if err != nil {
		return err
	}
	for _, part := range parts {
		set := roaring.New()
		if err := idset.Add(set, part.Block, part.IDs); err != nil {
			return err
		}
		key := postingRow{p, part.Block}
		if had := m.had[key]; had != nil {
			set.Or(had)
		}
		m.put[key] = set
	}
	m.put[postingRow{p, idset.List}] = roaring.New()
	return nil
}

// read reads rows, as far as they were not read yet.
func (m *postingWriter) read(ctx context.Context, rows []postingRow) error {
	rows = slices.DeleteFunc(rows, func(r postingRow) bool { _, ok := m.had[r]; return ok })
	slices.SortFunc(rows, postingRow.compare)
	rows = slices.Compact(rows)
	for _, r := range rows {
		m.had[r] = nil
	}
	const head, tail = "WITH v (kid, value, original, block) AS (VALUES ", `) SELECT p.kid, p.value, p.original, p.block, p.ids FROM v CROSS JOIN postings p
		WHERE p.kid = CAST(v.kid AS INTEGER) AND p.value = v.value AND p.original = v.original AND p.block = CAST(v.block AS INTEGER)`
	return m.w.SelectValues(ctx, head, tail, 4, len(rows), func(i int, args []any) []any {
		return rows[i].appendTexts(args)
	}, func(rows *db.Rows) error {
		var r postingRow
		var ids []byte
		if err := rows.Scan(&r.Kid, &r.Value, &r.Original, &r.block, &ids); err != nil {
			return err
		}
		set := roaring.New()
		m.had[r] = set
		return idset.Add(set, r.block, ids)
	})
}

// write writes the rows of put.
func (m *postingWriter) write(ctx context.Context) error {
	type record struct {
		postingRow
		idset.Row
	}
	var records []record
	var empty []postingRow
	for key, set := range m.put {
		if set.IsEmpty() {
			if m.had[key] != nil {
				empty = append(empty, key)
			}
			continue
		}
		rows, err := idset.Rows(set, key.block != idset.List)
		if err != nil {
			return err
		}
		for _, row := range rows {
			records = append(records, record{key, row})
		}
	}
	if err := m.delete(ctx, empty); err != nil {
		return err
	}
	slices.SortFunc(records, func(a, b record) int { return a.compare(b.postingRow) })
	return m.w.Insert(ctx, "postings (kid, value, original, block, n, ids)",
		" ON CONFLICT (kid, value, original, block) DO UPDATE SET n = excluded.n, ids = excluded.ids", 6, len(records),
		func(i int, args []any) []any {
			r := &records[i]
			return append(args, r.Kid, r.Value, r.Original, r.Block, r.N, r.IDs)
		})
}

// delete deletes rows, many per statement.
func (m *postingWriter) delete(ctx context.Context, rows []postingRow) error {
	slices.SortFunc(rows, postingRow.compare)
	const head, tail = "WITH v (kid, value, original, block) AS (VALUES ", `) DELETE FROM postings
		WHERE (kid, value, original, block) IN (SELECT CAST(v.kid AS INTEGER), v.value, v.original, CAST(v.block AS INTEGER) FROM v)`
	return m.w.ExecValues(ctx, head, tail, 4, len(rows), func(i int, args []any) []any { return rows[i].appendTexts(args) })
}

// fieldsAndWords are what an entity is indexed by. Both are sorted and distinct.
type fieldsAndWords struct {
	fields []index.Field
	words  []string
}

// had returns what entities that are in the store are indexed by.
func (w *transaction) had(ctx context.Context, refs []string) (map[string]fieldsAndWords, error) {
	all := make(map[string]fieldsAndWords, len(refs))
	err := w.s.db.SelectIn(ctx, w.Ask, "SELECT f.ref, f.packed, d.words FROM fields f JOIN documents d ON d.ref = f.ref WHERE f.ref IN ", refs, func(rows *db.Rows) error {
		var ref, packed, words string
		err := rows.Scan(&ref, &packed, &words)
		all[ref] = fieldsAndWords{index.Unpack(packed), strings.Split(words, index.WordEnd)}
		return err
	})
	return all, err
}

// forget removes the postings of entities, which must still exist.
func (w *transaction) forget(ctx context.Context, refs []string) error {
	changes := postingChanges{}
	had, err := w.had(ctx, refs)
	if err != nil {
		return err
	}
	err = w.s.db.SelectIn(ctx, w.Ask, "SELECT ref, id FROM entities WHERE ref IN ", refs, func(rows *db.Rows) error {
		var ref string
		var id uint32
		err := rows.Scan(&ref, &id)
		changes.diff(id, index.Postings(had[ref].fields, had[ref].words), nil)
		return err
	})
	if err != nil {
		return err
	}
	return w.post(ctx, changes)
}

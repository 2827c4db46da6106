package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

// reader reads the parts of entities that a walk needs.
type reader struct {
	s   *Store
	ask db.Asker
	// maxLoaded, if not 0, is set by tests: up to how many entities are read and sorted.
	maxLoaded int
}

func (s *Store) reader(ask db.Asker) reader { return reader{s: s, ask: ask, maxLoaded: s.maxLoaded} }

// isSmall reports whether to read the entities of a set one by one.
func (r *reader) isSmall(n int) bool { return n <= cmp.Or(r.maxLoaded, leastLoaded*rowsPerEntity) }

// writeIDs appends ids in parentheses.
func writeIDs(b *db.Statement, ids []uint32) {
	b.WriteByte('(')
	// As with Statement.List, there are few different statements.
	n := 1
	for n < len(ids) {
		n *= 2
	}
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Arg(int64(ids[min(i, len(ids)-1)]))
	}
	b.WriteByte(')')
}

// eachID calls read with the statement that begins with text and ends in ids, for some
// ids at a time.
func (r *reader) eachID(ctx context.Context, text string, ids []uint32, read func(*db.Rows) error) error {
	for len(ids) > 0 {
		var b db.Statement
		b.Add(text)
		n := min(batch, len(ids))
		writeIDs(&b, ids[:n])
		ids = ids[n:]
		if err := b.Each(ctx, r.ask, read); err != nil {
			return err
		}
	}
	return nil
}

// readItems reads entities without their bodies, in any order, with the values that q is
// sorted by.
func (r *reader) readItems(ctx context.Context, q *pageQuery, ids []uint32) ([]item, error) {
	items := make([]item, 0, len(ids))
	var it item
	var id int64
	var packed string
	dest := []any{&id, &it.Ref, &it.UID, &it.ETag, &it.Provider, &it.Parent}
	text := "SELECT e.id, e.ref, e.uid, e.etag, e.provider, e.parent FROM entities e WHERE e.id IN "
	if len(q.columns) > 0 {
		text = "SELECT e.id, e.ref, e.uid, e.etag, e.provider, e.parent, (SELECT f.packed FROM fields f WHERE f.ref = e.ref) FROM entities e WHERE e.id IN "
		dest = append(dest, &packed)
	}
	err := r.eachID(ctx, text, ids, func(rows *db.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		it.id, it.values = uint32(id), make([]*string, len(q.Order))
		for _, col := range q.columns {
			if value, ok := index.First(packed, col.kid, col.desc); ok {
				it.values[col.index] = &value
			}
		}
		items = append(items, it)
		return nil
	})
	return items, err
}

// idRef is an entity's id and reference, which an index has.
type idRef struct {
	id  uint32
	ref string
}

// readRefsOf reads the references of entities, in any order.
func (r *reader) readRefsOf(ctx context.Context, ids []uint32) ([]idRef, error) {
	refs := make([]idRef, 0, len(ids))
	err := r.eachID(ctx, "SELECT e.id, e.ref FROM entities e WHERE e.id IN ", ids, func(rows *db.Rows) error {
		var id int64
		var ref string
		err := rows.Scan(&id, &ref)
		refs = append(refs, idRef{uint32(id), ref})
		return err
	})
	return refs, err
}

// refRange are the references between two others, both excluded, and whether the rows are
// needed whole.
type refRange struct {
	lo, hi      string
	desc, whole bool
}

// refRows are the rows of a range: how many there are, the last reference, and those in a
// set, as items if they are whole.
type refRows struct {
	rows  int
	last  string
	ids   []uint32
	items []item
}

// readRefs reads at most n rows of a range.
func (r *reader) readRefs(ctx context.Context, of refRange, n int, set *idset.Set) (refRows, error) {
	direction, columns := "", "e.ref, e.id"
	if of.desc {
		direction = " DESC"
	}
	var found refRows
	var ref, uid, etag, provider, parent sql.RawBytes
	var id int64
	dest := []any{&ref, &id}
	if of.whole {
		columns += ", e.uid, e.etag, e.provider, e.parent"
		dest = append(dest, &uid, &etag, &provider, &parent)
	}
	var b db.Statement
	b.Add("SELECT "+columns+" FROM entities e WHERE e.ref > %s AND e.ref < %s ORDER BY e.ref"+direction+fmt.Sprintf(" LIMIT %d", n), of.lo, of.hi)
	err := b.Each(ctx, r.ask, func(rows *db.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if found.rows++; found.rows == n {
			found.last = string(ref)
		}
		if !set.Contains(uint32(id)) {
			return nil
		}
		if !of.whole {
			found.ids = append(found.ids, uint32(id))
			return nil
		}
		e := Entity{Ref: string(ref), UID: string(uid), ETag: string(etag), Provider: string(provider), Parent: string(parent)}
		found.items = append(found.items, item{Entity: e, id: uint32(id)})
		return nil
	})
	return found, err
}

// readKinds returns the condition of each kind that entities have, in the order of
// references.
func (r *reader) readKinds(ctx context.Context) ([]cond, error) {
	var b db.Statement
	b.Add("SELECT DISTINCT p.kid, p.value FROM postings p WHERE p.kid = (SELECT k.id FROM keys k WHERE k.key = %s) AND p.value < %s", index.KindKey, index.NoValue)
	var kinds []cond
	err := b.Each(ctx, r.ask, func(rows *db.Rows) error {
		c := cond{op: opKind, values: make([]string, 1)}
		err := rows.Scan(&c.kid, &c.values[0])
		kinds = append(kinds, c)
		return err
	})
	slices.SortFunc(kinds, func(a, b cond) int {
		lo, _ := a.refRange()
		other, _ := b.refRange()
		return strings.Compare(lo, other)
	})
	return kinds, err
}

// valueIDs are the entities that have a value: a few, or a set.
type valueIDs struct {
	value string
	few   []uint32
	set   *idset.Set
}

// in returns those of the entities that are in a set: few, or a set.
func (v *valueIDs) in(set *idset.Set) ([]uint32, *idset.Set) {
	few := slices.DeleteFunc(v.few, func(id uint32) bool { return !set.Contains(id) })
	if v.set == nil {
		return few, nil
	}
	out := roaring.And(v.set, set)
	out.AddMany(few)
	return nil, out
}

// valueRows are rows of postings.
type valueRows struct {
	values []valueIDs
	rows   int
}

// readValues reads at most n rows of the values of a key, in order, beginning with a value
// unless it is nil.
func (r *reader) readValues(ctx context.Context, kid int64, from *string, desc bool, n int) (valueRows, error) {
	direction, comparison := "", ">="
	if desc {
		direction, comparison = " DESC", "<="
	}
	var b db.Statement
	b.Add("SELECT p.value, p.block, p.ids FROM postings p WHERE p.kid = %s AND p.value < %s", kid, index.NoValue)
	if from != nil {
		b.Add(" AND p.value "+comparison+" %s", *from)
	}
	b.Add(" ORDER BY p.value" + direction + fmt.Sprintf(" LIMIT %d", n))
	var found valueRows
	var value, ids sql.RawBytes
	var block int64
	err := b.Each(ctx, r.ask, func(rows *db.Rows) error {
		if err := rows.Scan(&value, &block, &ids); err != nil {
			return err
		}
		found.rows++
		last := len(found.values) - 1
		if last < 0 || found.values[last].value != string(value) {
			found.values = append(found.values, valueIDs{value: string(value)})
			last++
		}
		v := &found.values[last]
		var err error
		if block == idset.List {
			v.few, err = idset.AppendIDs(v.few, ids)
			return err
		}
		if v.set == nil {
			v.set = roaring.New()
		}
		return idset.Add(v.set, block, ids)
	})
	return found, err
}

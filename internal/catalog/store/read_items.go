package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

// reader reads the parts of entities that a walk needs.
type reader struct {
	s   *Store
	ask db.Asker
	// maxLoaded is maxLoaded, unless a test sets another limit.
	maxLoaded int
}

func (s *Store) reader(ask db.Asker) reader {
	r := reader{s: s, ask: ask, maxLoaded: maxLoaded}
	if s.maxLoaded > 0 {
		r.maxLoaded = s.maxLoaded
	}
	return r
}

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

// readRefs reads the ids of at most n entities between two references, both excluded, and
// the last reference.
func (r *reader) readRefs(ctx context.Context, lo, hi string, desc bool, n int) (ids []uint32, last string, err error) {
	direction := ""
	if desc {
		direction = " DESC"
	}
	var b db.Statement
	b.Add("SELECT e.ref, e.id FROM entities e WHERE e.ref > %s AND e.ref < %s ORDER BY e.ref"+direction+fmt.Sprintf(" LIMIT %d", n), lo, hi)
	var ref sql.RawBytes
	err = b.Each(ctx, r.ask, func(rows *db.Rows) error {
		var id int64
		if err := rows.Scan(&ref, &id); err != nil {
			return err
		}
		if ids = append(ids, uint32(id)); len(ids) == n {
			last = string(ref)
		}
		return nil
	})
	return ids, last, err
}

// valueIDs are the entities that have a value: a few, or a set.
type valueIDs struct {
	value string
	few   []uint32
	set   *idset.Set
}

// in returns those of the entities that are in a set.
func (v *valueIDs) in(set *idset.Set) *idset.Set {
	out := roaring.New()
	for _, id := range v.few {
		if set.Contains(id) {
			out.Add(id)
		}
	}
	if v.set != nil {
		out.Or(roaring.And(v.set, set))
	}
	return out
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

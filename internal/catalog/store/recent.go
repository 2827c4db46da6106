// This file finds the entities that changed last. If many entities pass the filter, it reads
// the index of changed_at, and checks the id of each entity:
//
//	SELECT e.id, e.ref, e.changed_at FROM entities e WHERE e.changed_at < $1 AND e.changed_at >= $2
//	ORDER BY e.changed_at DESC, e.ref LIMIT 64
//
// A sync changes many entities at the same time, whose rows follow by
//
//	… WHERE e.changed_at = $1 AND e.ref > $2 ORDER BY e.ref LIMIT 128
//
// If few pass, it reads all of these and sorts them.

package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// Recent is an entity that was added or changed.
type Recent struct {
	Entity
	// At is when, and Created reports that the entity has not changed since it was added.
	At      time.Time
	Created bool
}

// Recent returns the entities that pass a filter and were added or changed since a time,
// the latest first. Entities that were written before the catalog recorded times are not
// among them.
func (s *Store) Recent(ctx context.Context, f filter.Filter, since time.Time, limit int) ([]Recent, error) {
	const doing = "read the latest changes"
	r, err := s.resolveQuery(ctx, Query{Filter: f})
	if err != nil || r.where.op == filter.OpFalse || limit <= 0 {
		return nil, db.Fail(doing, err)
	}
	end, err := s.turn(ctx)
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	defer end()
	var out []Recent
	err = s.consistently(ctx, func(ask db.Asker, snapshot bool) error {
		out, err = s.readRecent(ctx, ask, r.where, since.UnixMilli(), limit, snapshot)
		return err
	})
	return out, db.Fail(doing, err)
}

// readRecent is Recent. Without a snapshot it returns errChanged if the catalog changed
// meanwhile.
func (s *Store) readRecent(ctx context.Context, ask db.Asker, c cond, since int64, limit int, snapshot bool) ([]Recent, error) {
	sel, err := s.selectFor(ctx, ask, c, snapshot)
	if err != nil {
		return nil, err
	}
	r := s.reader(ask)
	var ids []uint32
	if n := sel.count(); r.isSmall(n) {
		ids = sel.set.ToArray()
	} else if ids, err = r.readRecentIDs(ctx, sel, since, limit); err != nil {
		return nil, err
	}
	var out []Recent
	for some := range slices.Chunk(ids, mostLoaded) {
		changed, err := r.readTimes(ctx, some, since)
		if err != nil {
			return nil, err
		}
		out = append(out, changed...)
		slices.SortFunc(out, func(a, b Recent) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Ref, b.Ref)) })
		out = slices.Delete(out, min(limit, len(out)), len(out))
	}
	items := make([]Entity, len(out))
	for i := range out {
		items[i] = out[i].Entity
	}
	same, err := s.fill(ctx, ask, items)
	if err != nil {
		return nil, err
	}
	for i := range items {
		out[i].Entity = items[i]
	}
	now, err := changelog.Revision(ctx, ask)
	if err == nil && !snapshot && (!same || now != sel.revision) {
		err = errChanged
	}
	return out, err
}

// readRecentIDs returns the ids of the entities of a large set that changed last, at least
// limit if there are as many.
func (r *reader) readRecentIDs(ctx context.Context, sel selection, since int64, limit int) ([]uint32, error) {
	var ids []uint32
	at, ref, read := int64(math.MaxInt64), "", 0
	for n, same := leastScanned, false; ; n = min(2*n, mostScanned) {
		// The order of the index is changed_at DESC, ref.
		var b db.Statement
		b.Add("SELECT e.id, e.ref, e.changed_at FROM entities e WHERE ")
		if same {
			b.Add("e.changed_at = %s AND e.ref > %s ORDER BY e.ref", at, ref)
		} else {
			b.Add("e.changed_at < %s AND e.changed_at >= %s ORDER BY e.changed_at DESC, e.ref", at, since)
		}
		b.Add(fmt.Sprintf(" LIMIT %d", n))
		rows := 0
		err := b.Each(ctx, r.ask, func(found *db.Rows) error {
			rows++
			var id int64
			err := found.Scan(&id, &ref, &at)
			if sel.set.Contains(uint32(id)) && len(ids) < limit {
				ids = append(ids, uint32(id))
			}
			return err
		})
		if err != nil || len(ids) == limit || rows < n && !same {
			return ids, err
		}
		same = rows == n
		if read += rows; read > rowsPerEntity*sel.count() {
			// They may all have changed long ago.
			return sel.set.ToArray(), nil
		}
	}
}

// readTimes reads entities that changed since a time.
func (r *reader) readTimes(ctx context.Context, ids []uint32, since int64) ([]Recent, error) {
	var out []Recent
	err := r.eachID(ctx, "SELECT e.ref, e.uid, e.etag, e.provider, e.parent, e.created_at, e.changed_at FROM entities e WHERE e.id IN ", ids, func(rows *db.Rows) error {
		var e Entity
		var created, changed sql.NullInt64
		err := rows.Scan(&e.Ref, &e.UID, &e.ETag, &e.Provider, &e.Parent, &created, &changed)
		if changed.Valid && changed.Int64 >= since {
			out = append(out, Recent{Entity: e, At: db.FromMilli(changed.Int64), Created: created.Valid && created.Int64 == changed.Int64})
		}
		return err
	})
	return out, err
}

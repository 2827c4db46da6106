package write

import (
	"context"
	"database/sql"

	"example.dev/ingestor/internal/db"
)

// keepUIDs stores the uids of entities that are about to be removed, and deletes those
// whose retention has expired.
func (w *transaction) keepUIDs(ctx context.Context, refs []string) error {
	keep := w.s.uidRetention
	if keep == 0 || len(refs) == 0 {
		return nil
	}
	now := w.s.db.Now()
	if _, err := w.Tx.ExecContext(ctx, "DELETE FROM departed WHERE gone < $1", now.Add(-keep).UnixMilli()); err != nil {
		return err
	}
	var uids [][2]string
	err := w.s.db.SelectIn(ctx, w.Ask, "SELECT ref, uid FROM entities WHERE ref IN ", refs, func(rows *db.Rows) error {
		var e [2]string
		err := rows.Scan(&e[0], &e[1])
		uids = append(uids, e)
		return err
	})
	if err != nil {
		return err
	}
	return w.Insert(ctx, "departed (ref, uid, gone)", " ON CONFLICT (ref) DO UPDATE SET uid = excluded.uid, gone = excluded.gone",
		3, len(uids), func(i int, args []any) []any { return append(args, uids[i][0], uids[i][1], now.UnixMilli()) })
}

// reuseUIDs restores the uids of entities that are added again.
func (s *Writer) reuseUIDs(ctx context.Context, ask db.Asker, d *changeSet) error {
	if s.uidRetention == 0 || d.added == 0 {
		return nil
	}
	since := s.db.Now().Add(-s.uidRetention).UnixMilli()
	// Most of the time no entity was removed recently.
	var last sql.NullInt64
	err := db.Each(ctx, ask, "SELECT max(gone) FROM departed", nil, func(rows *db.Rows) error { return rows.Scan(&last) })
	if err != nil || last.Int64 < since {
		return err
	}
	added := make(map[string]*upsert, d.added)
	refs := make([]string, 0, d.added)
	for i := range d.put {
		if e := &d.put[i]; e.added {
			added[e.ref] = e
			refs = append(refs, e.ref)
		}
	}
	return s.db.SelectIn(ctx, ask, "SELECT ref, uid, gone FROM departed WHERE ref IN ", refs, func(rows *db.Rows) error {
		var ref, uid string
		var gone int64
		if err := rows.Scan(&ref, &uid, &gone); err != nil {
			return err
		}
		if gone >= since {
			added[ref].uid = uid
		}
		return nil
	})
}

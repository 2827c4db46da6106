// This file finds the entities that changed last. For a caller who may read everything, or
// much of it, it scans the index of changed_at, and checks each entity:
//
//	SELECT x.ref, x.uid, x.etag, x.provider, x.parent, x.created_at, x.changed_at FROM entities x
//	WHERE x.changed_at >= $1 AND … ORDER BY x.changed_at DESC, x.ref LIMIT 20
//
// For one who may read few entities, it reads all of these, as for a page of a query, and
// sorts them by changed_at.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"example.dev/ingestor/entity/filter"
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
	w, text, err := s.planRecent(ctx, r.where, since, limit)
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	out, same, err := s.readRecent(ctx, s.DB.Query, text, w.args)
	if err == nil && !same {
		// Another writer committed in between: read again in a snapshot.
		err = s.Snapshot(ctx, func(ask db.Asker) error {
			out, _, err = s.readRecent(ctx, ask, text, w.args)
			return err
		})
	}
	return out, db.Fail(doing, err)
}

// planRecent returns the statement of Recent.
func (s *Store) planRecent(ctx context.Context, c cond, since time.Time, limit int) (*sqlWriter, string, error) {
	p, err := s.planFilter(ctx, c)
	if err != nil {
		return nil, "", err
	}
	n, _, err := s.estimateMatches(ctx, c, &p)
	w := s.newSQL(false)
	text := "SELECT x.ref, x.uid, x.etag, x.provider, x.parent, x.created_at, x.changed_at FROM "
	if n < s.sparseLimit() {
		text += "(SELECT x.ref AS ref " + w.writeFrom(&p) + ") p CROSS JOIN entities x WHERE x.ref = p.ref AND x.changed_at >= " + w.args.Add(since.UnixMilli())
	} else {
		text += "entities x WHERE x.changed_at >= " + w.args.Add(since.UnixMilli()) + w.writeAnd(c, "x.ref")
	}
	return w, text + fmt.Sprintf(" ORDER BY x.changed_at DESC, x.ref LIMIT %d", limit), err
}

// readRecent reads the entities of a statement. It returns false if one has changed since
// it was found.
func (s *Store) readRecent(ctx context.Context, ask db.Asker, text string, args db.Args) ([]Recent, bool, error) {
	var out []Recent
	var items []Entity
	err := db.Each(ctx, ask, text, args, func(rows *db.Rows) error {
		var e Entity
		var created sql.NullInt64
		var changed int64
		err := rows.Scan(&e.Ref, &e.UID, &e.ETag, &e.Provider, &e.Parent, &created, &changed)
		items = append(items, e)
		out = append(out, Recent{At: db.FromMilli(changed), Created: created.Valid && created.Int64 == changed})
		return err
	})
	if err != nil {
		return nil, false, err
	}
	same, err := s.fill(ctx, ask, items)
	for i := range items {
		out[i].Entity = items[i]
	}
	return out, same, err
}

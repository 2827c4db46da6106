// Package changelog has the revision of the catalog, which every change of entities
// increases, and the log of what the last revisions changed.
package changelog

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"example.dev/ingestor/internal/db"
)

// The change log has, for each of the last revisions, the references of entities that
// were put, removed, or got other relations. Caches of entity data are updated with it,
// whichever replica wrote the entities.
const (
	// loggedRevisions is for how many revisions the log is kept, and loggedRefs for how
	// many entities of a revision. Beyond that, a full reload costs less.
	loggedRevisions = 64
	loggedRefs      = 4096
	// changedMany is logged in place of more than loggedRefs references, and changedNone
	// in place of none. Neither can be a reference.
	changedMany, changedNone = "*", "-"
)

// Revision returns the revision that a db.Asker sees.
func Revision(ctx context.Context, ask db.Asker) (int64, error) {
	n := int64(-1)
	err := db.Each(ctx, ask, "SELECT n FROM revision", nil, func(rows *db.Rows) error { return rows.Scan(&n) })
	if err == nil && n < 0 {
		err = errors.New("cannot read the revision of the catalog: its table has no row")
	}
	return n, err
}

// Log collects the references of entities that a transaction changes.
type Log struct {
	refs []string
	// many reports that there are more than are logged.
	many bool
}

// Add adds references, in any order.
func (l *Log) Add(refs ...string) {
	if l.many {
		return
	}
	l.refs = append(l.refs, refs...)
	if len(l.refs) > 2*loggedRefs {
		l.compact()
	}
}

// compact removes duplicates, and all references if there are too many.
func (l *Log) compact() {
	slices.Sort(l.refs)
	if l.refs = slices.Compact(l.refs); len(l.refs) > loggedRefs {
		l.refs, l.many = nil, true
	}
}

// Append logs what a transaction changed. Each revision has at least one row: a revision
// without rows was written by a program that keeps no log.
func Append(ctx context.Context, tx *db.Tx, l *Log) error {
	l.compact()
	refs := l.refs
	switch {
	case l.many:
		refs = []string{changedMany}
	case len(refs) == 0:
		refs = []string{changedNone}
	}
	err := tx.Insert(ctx, "changes (revision, ref)", "", 2, len(refs),
		func(i int, args []any) []any { return append(args, tx.N, refs[i]) })
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM changes WHERE revision <= $1", tx.N-loggedRevisions)
	return err
}

// Refs returns the references that the log has after a revision, and the last revision of
// the log, or -1 if it does not cover all changes.
func Refs(ctx context.Context, ask db.Asker, after int64) ([]string, int64, error) {
	var refs []string
	last, gap := after, false
	err := db.Each(ctx, ask, "SELECT revision, ref FROM changes WHERE revision > $1 ORDER BY revision", []any{after},
		func(rows *db.Rows) error {
			var at int64
			var ref string
			if err := rows.Scan(&at, &ref); err != nil {
				return err
			}
			gap = gap || at > last+1 || ref == changedMany
			if last = at; ref != changedNone {
				refs = append(refs, ref)
			}
			return nil
		})
	if gap {
		return nil, -1, err
	}
	return refs, last, err
}

// Changes is what has changed between two revisions.
type Changes struct {
	// Revision is the later one.
	Revision int64
	// Present are the changed entities that exist, and Gone the references of those that do
	// not.
	Present map[string]Entity
	Gone    map[string]bool
	// Complete is false if the log does not cover all changes.
	Complete bool
}

// Entity is an entity as it is indexed: its id and its packed fields.
type Entity struct {
	ID     uint32
	Packed string
}

// Since returns, from one snapshot, what has changed after a revision.
func Since(ctx context.Context, ask db.Asker, revision int64) (*Changes, error) {
	n := &Changes{Present: map[string]Entity{}, Gone: map[string]bool{}}
	seen, many := map[int64]bool{}, false
	err := db.Each(ctx, ask, `SELECT r.n, c.revision, c.ref, e.id, f.packed FROM revision r LEFT JOIN changes c ON c.revision > $1
		LEFT JOIN entities e ON e.ref = c.ref LEFT JOIN fields f ON f.ref = c.ref`, []any{revision},
		func(rows *db.Rows) error {
			var at, id sql.NullInt64
			var ref, packed sql.NullString
			if err := rows.Scan(&n.Revision, &at, &ref, &id, &packed); err != nil || !at.Valid {
				return err
			}
			seen[at.Int64] = true
			switch {
			case ref.String == changedMany:
				many = true
			case packed.Valid:
				n.Present[ref.String] = Entity{uint32(id.Int64), packed.String}
			default:
				n.Gone[ref.String] = true
			}
			return nil
		})
	n.Complete = !many && int64(len(seen)) == n.Revision-revision
	return n, err
}

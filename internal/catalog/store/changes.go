package store

import (
	"context"
	"database/sql"
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

// logChanges logs what the transaction changed. Each revision has at least one row: a
// revision without rows was written by a program that keeps no log.
func (w *writer) logChanges(ctx context.Context) error {
	refs := slices.Sorted(slices.Values(w.changed))
	refs = slices.Compact(refs)
	switch {
	case len(refs) == 0:
		refs = []string{changedNone}
	case len(refs) > loggedRefs:
		refs = []string{changedMany}
	}
	err := w.Insert(ctx, "changes (revision, ref)", "", 2, len(refs),
		func(i int, args []any) []any { return append(args, w.N, refs[i]) })
	if err != nil {
		return err
	}
	_, err = w.Tx.ExecContext(ctx, "DELETE FROM changes WHERE revision <= $1", w.N-loggedRevisions)
	return err
}

// changesSince is what has changed between two revisions.
type changesSince struct {
	// revision is the later one.
	revision int64
	// packed has the fields of changed entities that exist, and gone the references of
	// those that do not.
	packed map[string]string
	gone   map[string]bool
	// complete is false if the log does not cover all changes.
	complete bool
}

// readChanges returns, from one snapshot, what has changed after a revision.
func readChanges(ctx context.Context, ask db.Asker, revision int64) (*changesSince, error) {
	n := &changesSince{packed: map[string]string{}, gone: map[string]bool{}}
	seen, many := map[int64]bool{}, false
	err := db.Each(ctx, ask, `SELECT r.n, c.revision, c.ref, (SELECT f.packed FROM fields f WHERE f.ref = c.ref)
		FROM revision r LEFT JOIN changes c ON c.revision > $1`, []any{revision},
		func(rows *db.Rows) error {
			var at sql.NullInt64
			var ref, packed sql.NullString
			if err := rows.Scan(&n.revision, &at, &ref, &packed); err != nil || !at.Valid {
				return err
			}
			seen[at.Int64] = true
			switch {
			case ref.String == changedMany:
				many = true
			case packed.Valid:
				n.packed[ref.String] = packed.String
			default:
				n.gone[ref.String] = true
			}
			return nil
		})
	n.complete = !many && int64(len(seen)) == n.revision-revision
	return n, err
}

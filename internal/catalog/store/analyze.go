package store

import (
	"context"

	"example.dev/ingestor/internal/db"
)

// someAdded is how many new entities make it worth counting anew.
const someAdded = 200

// analyze has PostgreSQL count what it has after so many entities were added, as long
// as most of the rows are new: it would do so of its own accord some minutes later, and
// plans badly until then.
func (w *writer) analyze(ctx context.Context, added int) error {
	if added < someAdded || w.s.Client != db.Postgres {
		return nil
	}
	var have int
	if err := w.Tx.QueryRowContext(ctx, "SELECT count(*) FROM entities").Scan(&have); err != nil || have > 3*added {
		return err
	}
	_, err := w.Tx.ExecContext(ctx, "ANALYZE entities, documents, search, fields, terms, relations")
	return err
}

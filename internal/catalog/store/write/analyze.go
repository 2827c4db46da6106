package write

import (
	"context"

	"example.dev/ingestor/internal/db"
)

// someAdded is how many new entities make fresh statistics worthwhile.
const someAdded = 200

// analyze has PostgreSQL update its statistics after someAdded entities or more were
// added, if these are a large share of all rows. Autovacuum would do so some minutes
// later, and query plans are bad until then.
func (w *transaction) analyze(ctx context.Context, added int) error {
	if added < someAdded || w.s.db.Client != db.Postgres {
		return nil
	}
	var have int
	if err := w.Tx.QueryRowContext(ctx, "SELECT count(*) FROM entities").Scan(&have); err != nil || have > 3*added {
		return err
	}
	_, err := w.Tx.ExecContext(ctx, "ANALYZE entities, documents, postings, fields, relations")
	return err
}

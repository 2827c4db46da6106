package write

import (
	"context"
	"errors"
	"math"

	"example.dev/ingestor/internal/catalog/store/body"
)

// batchEntities is how many entities are composed before they are written, which bounds
// the memory for it: the next ones are drafted meanwhile. Within a batch, the rows of a
// table are written in index order.
const batchEntities = 1024

// record is a row of entities and of documents.
type record struct {
	id                                     uint32
	ref, uid, provider, parent, hash, etag string
	words                                  string
	// packed are the fields.
	packed string
	body.Body
}

// rowBatch is what is written at once.
type rowBatch struct {
	records  []record
	postings postingChanges
}

// write writes a batch.
func (w *transaction) write(ctx context.Context, c *rowBatch) error {
	if err := w.writeRecords(ctx, c.records); err != nil {
		return err
	}
	return w.post(ctx, c.postings)
}

// newIDs returns the first of n ids that were never used.
func (w *transaction) newIDs(ctx context.Context, n int) (uint32, error) {
	var last int64
	if err := w.Tx.QueryRowContext(ctx, "UPDATE last_id SET n = n + $1 RETURNING n", n).Scan(&last); err != nil {
		return 0, err
	}
	if last > math.MaxUint32 {
		return 0, errors.New("more than 4,294,967,295 entities were added to this catalog; export it into a new database")
	}
	return uint32(last) - uint32(n) + 1, nil
}

func (w *transaction) writeRecords(ctx context.Context, records []record) error {
	// An entity changes when its document does, but not when only its relations do. A
	// migration may have cleared the hash.
	err := w.Insert(ctx, "entities (id, ref, uid, provider, parent, hash, etag, created_at, changed_at)",
		` ON CONFLICT (ref) DO UPDATE SET provider = excluded.provider, parent = excluded.parent, hash = excluded.hash,
		etag = excluded.etag, changed_at = CASE WHEN entities.hash NOT IN ('', excluded.hash) THEN excluded.changed_at ELSE entities.changed_at END`,
		9, len(records), func(i int, args []any) []any {
			r := &records[i]
			return append(args, r.id, r.ref, r.uid, r.provider, r.parent, r.hash, r.etag, w.now, w.now)
		})
	if err != nil {
		return err
	}
	err = w.Insert(ctx, "documents (ref, words, etag_at, relations_at, body)",
		` ON CONFLICT (ref) DO UPDATE SET words = excluded.words, etag_at = excluded.etag_at,
		relations_at = excluded.relations_at, body = excluded.body`,
		5, len(records), func(i int, args []any) []any {
			r := &records[i]
			return append(args, r.ref, r.words, r.ETagAt, r.RelationsAt, r.JSON)
		})
	if err != nil {
		return err
	}
	for i := range records {
		w.changed.Add(records[i].ref)
	}
	return w.Insert(ctx, "fields (ref, packed)", " ON CONFLICT (ref) DO UPDATE SET packed = excluded.packed",
		2, len(records), func(i int, args []any) []any { return append(args, records[i].ref, records[i].packed) })
}

// Package write writes the changes of providers into the tables of the catalog. Planning
// and writing a change are one algorithm, which is why the package is large: a plan is
// computed before its transaction, and checked or computed again in it.
//
// It is one package because the files are the steps of one transaction.
package write

import (
	"context"
	"time"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// Writer writes entities. All methods may be called concurrently.
type Writer struct {
	db           *db.DB
	uidRetention time.Duration
	// writers serializes changes of entities in this process.
	writers db.Writers
	keys    *index.Keys
	// traces are those of the last changes of entities.
	traces traces
	// betweenReads, if not nil, is called by tests between the reads of a plan.
	betweenReads func()
	// partDocuments, maxList and mostLogged, if not 0, are set by tests.
	partDocuments, maxList, mostLogged int
}

// New returns a writer that caches the numbers of keys in keys. An entity that is added
// again within uidRetention after its removal gets its uid back.
func New(d *db.DB, keys *index.Keys, uidRetention time.Duration) *Writer {
	return &Writer{db: d, uidRetention: uidRetention, writers: db.NewWriters(), keys: keys}
}

// transaction changes entities.
type transaction struct {
	*db.Tx
	s *Writer
	// now is the time of all that the transaction changes, in milliseconds.
	now int64
	// kids are the numbers of the keys used so far.
	kids map[string]int64
	// trace, if not nil, covers all that the transaction changes.
	trace *trace
	// changed are the references of entities whose fields the transaction writes or
	// removes.
	changed changelog.Log
	// log, if not nil, collects the changes of postings, which are written at the end.
	log *postingLog
}

// post writes changes of postings, now or at the end.
func (w *transaction) post(ctx context.Context, changes postingChanges) error {
	if w.log != nil {
		return w.log.log(changes)
	}
	return w.writePostings(ctx, changes)
}

// change runs do in a transaction that increases the revision. Other changes of
// entities wait; readers see all of the transaction or nothing.
func (s *Writer) change(ctx context.Context, do func(*transaction) error) error {
	return s.db.Transact(ctx, s.writers, "revision", func(tx *db.Tx) error {
		w := &transaction{Tx: tx, s: s, now: s.db.Now().UnixMilli(), kids: map[string]int64{}}
		if err := do(w); err != nil {
			return err
		}
		tx.AroundCommit = func(commit func() error) error {
			if err := s.traces.leave(w.N, w.trace, commit); err != nil {
				return err
			}
			s.keys.Put(w.kids)
			return nil
		}
		return changelog.Append(ctx, tx, &w.changed)
	})
}

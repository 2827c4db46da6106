package store

import (
	"context"
	"sync"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/column"
	"example.dev/ingestor/internal/catalog/store/index"

	"example.dev/ingestor/internal/db"
)

// Store is the catalog's storage. All methods may be called concurrently.
type Store struct {
	*db.DB
	opts Options
	// writers serializes changes of entities in this process.
	writers db.Writers
	// bodies caches the JSON of entities.
	bodies bodies
	// keys caches the numbers of keys.
	keys index.Keys
	// traces are those of the last changes of entities.
	traces traces
	// tried is when locations were last read, where the database has only an older time: a
	// time alone is not worth a write.
	tried sync.Map
	// These are for reading.
	cached  cached
	flights flights
	columns *column.Columns
	// betweenReads, if not nil, is called by tests between the reads of a plan.
	betweenReads func()
	// partDocuments, if not 0, is set by tests.
	partDocuments int
}

// maxColumnEntities is up to how many entities are counted in memory.
const maxColumnEntities = 500_000

// New returns the catalog's storage in a database.
func New(d *db.DB, opts Options) *Store {
	return &Store{DB: d, opts: opts, bodies: newBodies(), writers: db.NewWriters(), columns: column.New(d, maxColumnEntities)}
}

// Ping returns an error if the database does not answer.
func (s *Store) Ping(ctx context.Context) error {
	err := s.Present()
	if err == nil {
		_, err = changelog.Revision(ctx, s.DB.Query)
	}
	return db.Fail("reach the database", err)
}

// Revision returns a number that every change of entities increases, in all replicas.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	n, err := changelog.Revision(ctx, s.DB.Query)
	return n, db.Fail("read the revision", err)
}

// writer is a transaction that changes entities.
type writer struct {
	*db.Tx
	s *Store
	// kids are the numbers of the keys used so far.
	kids map[string]int64
	// trace, if not nil, covers all that the transaction changes.
	trace *trace
	// changed are the references of entities whose fields the transaction writes or
	// removes.
	changed []string
}

// change runs do in a transaction that increases the revision. Other changes of
// entities wait; readers see all of the transaction or nothing.
func (s *Store) change(ctx context.Context, do func(*writer) error) error {
	return s.Transact(ctx, s.writers, "revision", func(tx *db.Tx) error {
		w := &writer{Tx: tx, s: s, kids: map[string]int64{}}
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
		return changelog.Append(ctx, tx, w.changed)
	})
}

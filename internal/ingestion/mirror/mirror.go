// Package mirror stores the persistent state of ingestion: the objects of every source
// as they were last seen, the units that changed, their findings, the states of sources
// and the last runs.
//
// It is one package because whatever changes in one of its tables makes units dirty in the
// same transaction.
package mirror

import (
	"context"
	"errors"

	"example.dev/ingestor/internal/db"
)

// Mirror is the storage. Its methods may be called concurrently.
type Mirror struct {
	*db.DB
	writers  db.Writers
	horizons horizons
	decoded  decoded
}

// New returns the mirror in a database.
func New(d *db.DB) *Mirror { return &Mirror{DB: d, writers: db.NewWriters()} }

// writer is a transaction that changes the mirror.
type writer struct {
	*db.Tx
	s *Mirror
}

// change runs do in a transaction that increments the stamp of the mirror. It does not
// wait for changes of entities, except with SQLite, which has one writer.
func (s *Mirror) change(ctx context.Context, do func(*writer) error) error {
	return s.Transact(ctx, s.writers, "stamp", func(tx *db.Tx) error { return do(&writer{tx, s}) })
}

// errNothing rolls back a transaction that has nothing to do.
var errNothing = errors.New("no changes to write")

// NoLimit as a limit means all.
const NoLimit = -1

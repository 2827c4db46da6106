// Package db opens the database, SQLite or PostgreSQL, migrates its tables, and
// provides queries, transactions, locks and fences to all other packages, with the same
// SQL for both engines. The contents of the tables are defined by the packages that use
// them.
//
// It is one package because it hides how two database engines differ, and every file needs
// both.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// The engines.
const (
	SQLite   = "sqlite"
	Postgres = "pg"
)

// Options say where the database is.
type Options struct {
	// Client is SQLite or Postgres.
	Client string
	// Path is the file of SQLite; its directory is created.
	Path string
	// URL is the connection string of PostgreSQL. It may contain a password and is
	// never shown.
	URL string
	// Now is the clock.
	Now func() time.Time
	// Answer, if not 0, overrides how long PostgreSQL may take to answer.
	Answer time.Duration
}

// The errors that callers branch on. They wrap the engine's error.
var (
	ErrNotFound = errors.New("not found in the database")
	ErrExists   = errors.New("already in the database")
	// ErrUnavailable is a database that is gone, locked, full or read-only: nothing was
	// changed, and a later retry may succeed.
	ErrUnavailable = errors.New("the database is not available")
	// ErrFull is an ErrUnavailable: the disk of the database is full.
	ErrFull = fmt.Errorf("%w: the disk is full", ErrUnavailable)
	// ErrSuperseded is returned by a write whose fence was raised by another caller.
	ErrSuperseded = errors.New("superseded by another process")
)

// DB is an open database. All methods may be called concurrently.
type DB struct {
	Options
	// Read is for reading. Write is for writing: with SQLite it has one connection.
	Read, Write *sql.DB

	// Patience is how long a write waits for other writers of PostgreSQL.
	Patience time.Duration

	locks locks
	// config is the configuration of connections to PostgreSQL.
	config *pgx.ConnConfig
	// file is SQLite's file as it was opened.
	file fs.FileInfo
	// full reports that the last change failed because the disk is full.
	full       atomic.Bool
	statements statements
	// lists limits the snapshots of long reads, and pages those of short ones.
	lists, pages snapshots
}

// Open opens the database and migrates its tables. The caller must close it.
func Open(ctx context.Context, opts Options) (*DB, error) {
	d := &DB{Options: opts}
	var err error
	switch opts.Client {
	case SQLite:
		err = d.openSQLite(ctx)
	case Postgres:
		err = d.openPostgres(ctx)
	default:
		return nil, fmt.Errorf("cannot open the database: unknown client %q; use %q or %q", opts.Client, SQLite, Postgres)
	}
	if err != nil {
		doing := "open the database"
		if opts.Client == SQLite {
			doing += " " + opts.Path
		}
		return nil, errors.Join(Fail(doing, err), d.Close())
	}
	return d, nil
}

// Close waits for running statements and closes the database.
func (d *DB) Close() error {
	var err error
	d.locks.close()
	if d.Read != nil {
		err = d.Read.Close()
	}
	if d.Write != nil {
		err = errors.Join(err, d.Write.Close())
	}
	return err
}

// Present returns an error if SQLite's file was removed or replaced: writes to a
// removed file are lost.
func (d *DB) Present() error {
	if d.file == nil {
		return nil
	}
	info, err := os.Stat(d.Path)
	if err != nil {
		return Unavailable(err)
	}
	if !os.SameFile(info, d.file) {
		return Unavailable(errors.New("database file was replaced; restart to use the new file"))
	}
	return nil
}

package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/lock"
)

// InUse is the error for a SQLite database from which another process serves a portal.
type InUse struct {
	// Path is the database.
	Path string
	Held *lock.Held
}

// Error names the file and the process.
func (e *InUse) Error() string {
	return fmt.Sprintf("cannot open the database %s: in use by %s", e.Path, e.Held.Holder())
}

// Unwrap returns the lock.
func (e *InUse) Unwrap() error { return e.Held }

// hint returns what to do about it.
func (e *InUse) hint() string {
	return "stop that process, or set backend.database.connection to another file; several processes can share PostgreSQL (backend.database.client: pg)"
}

// lockPath returns the file that a process locks while it serves from a database of
// SQLite. It is the same for the same database, whichever path it was opened by.
func lockPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target + ".lock", nil
	}
	// There is no database yet.
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)) + ".lock", nil
}

// Acquire makes this process the only one that serves from a database of SQLite and
// from its queue: otherwise each process would consider the other's jobs lost. The
// error is an *InUse if another process holds the lock. The lock ends with release, or
// with the process. Readers need no lock, and PostgreSQL needs none at all.
func Acquire(db config.Database) (release func() error, err error) {
	if db.Client != config.ClientSQLite {
		return func() error { return nil }, nil
	}
	fail := func(err error) (func() error, error) {
		return nil, fmt.Errorf("cannot lock the database %s: %w", db.Path, err)
	}
	if err := os.MkdirAll(filepath.Dir(db.Path), 0o750); err != nil {
		return fail(err)
	}
	path, err := lockPath(db.Path)
	if err != nil {
		return fail(err)
	}
	l, err := lock.Acquire(path, 0o600)
	if held, ok := errors.AsType[*lock.Held](err); ok {
		return nil, &InUse{Path: db.Path, Held: held}
	}
	if err != nil {
		return fail(err)
	}
	return l.Release, nil
}

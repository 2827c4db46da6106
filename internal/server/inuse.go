package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/lock"
)

// InUse is a SQLite database that another process serves a portal from.
type InUse struct {
	// Path is the database.
	Path string
	Held *lock.Held
}

// Error names the file and the process.
func (e *InUse) Error() string {
	return fmt.Sprintf("cannot open the database %s: %s uses it", e.Path, e.Held.Holder())
}

// Unwrap returns the lock.
func (e *InUse) Unwrap() error { return e.Held }

// hint is the way out.
func (e *InUse) hint() string {
	return "stop that process, or set backend.database.connection to another file; several processes can share PostgreSQL (backend.database.client: pg)"
}

// lockPath is the file whose lock a process has while it serves from a database of
// SQLite. The same database has the same one, whichever name it was opened by.
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

// Acquire makes this process the only one that serves from a database of SQLite, and
// from the queue beside it: each would take the jobs of the other for lost. The error
// is an *InUse if another process does. The lock ends with release, or with the
// process. Whoever only reads needs no lock, and PostgreSQL none at all.
func Acquire(db config.Database) (release func() error, err error) {
	if db.Client != config.ClientSQLite {
		return func() error { return nil }, nil
	}
	doing := "lock the database " + db.Path
	if err := os.MkdirAll(filepath.Dir(db.Path), 0o750); err != nil {
		return nil, fmt.Errorf("cannot %s: %w", doing, err)
	}
	path, err := lockPath(db.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot %s: %w", doing, err)
	}
	l, err := lock.Acquire(path, 0o600)
	if held, ok := errors.AsType[*lock.Held](err); ok {
		return nil, &InUse{Path: db.Path, Held: held}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot %s: %w", doing, err)
	}
	return l.Release, nil
}

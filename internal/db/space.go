package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// leastSpace is how many bytes must be free on the disk of SQLite's file: a change is
// written to the journal first, which needs space before any is freed.
const leastSpace = 1 << 20

// Full returns an ErrFull if changes cannot be stored because the disk of SQLite's file
// is full. It finds out by itself when there is space again.
func (d *DB) Full(ctx context.Context) error {
	if d.Client != SQLite {
		return nil // PostgreSQL reports it with the error of a write.
	}
	if d.full.Load() {
		// Quotas and limits on the size of files do not show in the free space: the header of
		// the file is written again.
		_, err := d.Write.ExecContext(ctx, "PRAGMA user_version = 0")
		d.wrote(err)
		if isFull(err) {
			return Fail("write to the database", err)
		}
	}
	free, err := FreeSpace(filepath.Dir(d.Path))
	if err == nil && free < leastSpace {
		return Fail("write to the database", fmt.Errorf("%d bytes are free: %w", free, syscall.ENOSPC))
	}
	return nil
}

// wrote remembers whether the last change failed because the disk is full.
func (d *DB) wrote(err error) {
	switch {
	case err == nil:
		d.full.Store(false)
	case isFull(err):
		d.full.Store(true)
	}
}

// isFull reports whether the disk of the database, a quota or a limit on the size of
// files is exhausted.
func isFull(err error) bool {
	if errors.Is(err, ErrFull) {
		return true
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()&0xff == sqlite3.SQLITE_FULL
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "53100"
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

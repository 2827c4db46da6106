package db_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
)

// TestFull checks that a database that cannot grow says so, goes on to be read,
// and notices by itself that it can grow again.
func TestFull(t *testing.T) {
	d, err := db.Open(t.Context(), db.Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "portal.sqlite"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // The test is over.
	limit := func(pages int) {
		t.Helper()
		if _, err := d.Write.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	write := func() error {
		return d.InTx(t.Context(), func(tx *db.Tx) error {
			_, err := tx.ExecContext(t.Context(), "INSERT INTO secrets (name, value) VALUES ('large', zeroblob(1000000))")
			return err
		})
	}
	if err := d.Full(t.Context()); err != nil {
		t.Errorf("an empty database is full: %v", err)
	}
	limit(1) // SQLite takes the present size instead.
	err = db.Fail("write", write())
	want := "cannot write: the database is not available: the disk is full: database or disk is full"
	if !errors.Is(err, db.ErrFull) || !errors.Is(err, db.ErrUnavailable) || !strings.HasPrefix(err.Error(), want) || !strings.HasPrefix(db.Hint(err), "free disk space") {
		t.Errorf("write returned %v with the hint %q, want %s", err, db.Hint(err), want)
	}
	var n int
	if err := d.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM entities").Scan(&n); err != nil {
		t.Errorf("a full database cannot be read: %v", err)
	}
	// A small change does not need the database to grow.
	if err := d.Full(t.Context()); err != nil {
		t.Errorf("a database that takes small changes is full: %v", err)
	}
	limit(1_000_000)
	if err := write(); err != nil {
		t.Error(err)
	}
}

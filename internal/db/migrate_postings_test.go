package db

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

var moved = flag.Int("entities", 5000, "how many entities BenchmarkMovePostings has")

// TestMovePostingsWhileWriting has a replica of the version before change the catalog while
// it is migrated.
func TestMovePostingsWhileWriting(t *testing.T) {
	// forget and add are what the version before executes to replace an entity, in this order.
	forget := []string{"UPDATE revision SET n = n + 1", "DELETE FROM search WHERE ref = 'component:default/a'", "DELETE FROM terms WHERE ref = 'component:default/a'"}
	add := []string{
		"DELETE FROM entities WHERE ref = 'component:default/a'", "DELETE FROM documents WHERE ref = 'component:default/a'", "DELETE FROM fields WHERE ref = 'component:default/a'",
		"INSERT INTO entities (ref, uid, provider, parent, hash, etag) VALUES ('component:default/b', 'b', 'p', '', 'h', 'e')",
		`INSERT INTO documents (ref, words, etag_at, relations_at, body) VALUES ('component:default/b', 'b', 0, 0, '{}')`,
		"INSERT INTO fields (ref, packed) VALUES ('component:default/b', '')",
		"INSERT INTO search (kid, value, original, ref) VALUES (1, 'b', NULL, 'component:default/b')",
		"INSERT INTO terms (word, ref) VALUES ('b', 'component:default/b')",
	}
	execute := func(ctx context.Context, tx *sql.Tx, statements []string) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
	// prepare returns two connections to a database of the version before that has an entity.
	prepare := func(t *testing.T) (migrating, writing *sql.DB) {
		t.Helper()
		opts := Options{Client: Postgres, URL: shared.Database(t)}
		fill(t, opts, postingsVersion-1)
		migrating, _ = rawDB(t, opts)
		writing, _ = rawDB(t, opts)
		for _, s := range []string{
			"INSERT INTO entities (ref, uid, provider, parent, hash, etag) VALUES ('component:default/a', 'a', 'p', '', 'h', 'e')",
			"INSERT INTO search (kid, value, ref) VALUES (1, 'a', 'component:default/a')",
			"INSERT INTO terms (word, ref) VALUES ('a', 'component:default/a')",
		} {
			if _, err := writing.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		return migrating, writing
	}
	waits := func(t *testing.T, db *sql.DB) {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			var n int
			err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
			if err != nil || time.Now().After(until) {
				t.Fatalf("no statement waits for a lock: %v", err)
			}
			if n > 0 {
				return
			}
		}
	}

	t.Run("Before", func(t *testing.T) {
		migrating, writing := prepare(t)
		tx, err := writing.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if err := execute(t.Context(), tx, forget); err != nil {
			t.Fatal(err)
		}
		p, err := newMigrator(migrating, postgresDialect, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			// migrate would try again after a deadlock.
			_, err := p.UpTo(t.Context(), postingsVersion)
			done <- err
		}()
		waits(t, writing)
		if err := errors.Join(execute(t.Context(), tx, add), tx.Commit()); err != nil {
			t.Errorf("writer that began before the migration: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("migration: %v", err)
		}
		if diff := cmp.Diff([]string{"-1||", "0||", "0|b|", "1|b|"}, keysOfPostings(t, writing)); diff != "" {
			t.Errorf("postings (-want +got):\n%s", diff)
		}
	})
	t.Run("During", func(t *testing.T) {
		migrating, writing := prepare(t)
		done := make(chan error, 1)
		err := migrateWith(t.Context(), migrating, postgresDialect, func(version int64) {
			if version != postingsVersion {
				return
			}
			go func() {
				tx, err := writing.BeginTx(t.Context(), nil)
				if err == nil {
					err = errors.Join(execute(t.Context(), tx, append(forget, add...)), tx.Rollback())
				}
				done <- err
			}()
			waits(t, writing)
		})
		if err != nil {
			t.Errorf("migration: %v", err)
		}
		err = <-done
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Message != `relation "search" does not exist` {
			t.Errorf("writer that began during the migration returned %v, want that search does not exist", err)
		}
		if diff := cmp.Diff([]string{"-1||", "0||", "0|a|", "1|a|"}, keysOfPostings(t, writing)); diff != "" {
			t.Errorf("postings (-want +got):\n%s", diff)
		}
	})
}

// keysOfPostings returns the keys of all postings, sorted.
func keysOfPostings(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT kid || '|' || value || '|' || original FROM postings ORDER BY kid, value, original")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		all = append(all, key)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// inserts counts the statements that insert postings.
type inserts struct{ n atomic.Int64 }

func (c *inserts) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(d.SQL, "INSERT INTO postings") {
		c.n.Add(1)
	}
	return ctx
}

func (*inserts) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestMovePostingsInBatches checks that the migration inserts many rows with a statement of
// PostgreSQL, and analyzes the table.
func TestMovePostingsInBatches(t *testing.T) {
	opts := Options{Client: Postgres, URL: shared.Database(t)}
	catalogOfBefore(t, opts, 300)
	config, err := pgx.ParseConfig(opts.URL)
	if err != nil {
		t.Fatal(err)
	}
	counted := &inserts{}
	config.Tracer = counted
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	if err := migrate(t.Context(), db, postgresDialect); err != nil {
		t.Fatal(err)
	}
	var rows, estimated int64
	err = db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM postings), (SELECT reltuples FROM pg_class WHERE relname = 'postings')").Scan(&rows, &estimated)
	if err != nil {
		t.Fatal(err)
	}
	if n := counted.n.Load(); rows < 3000 || n*50 > rows {
		t.Errorf("%d postings were inserted by %d statements, want at most a fiftieth", rows, n)
	}
	if estimated != rows {
		t.Errorf("PostgreSQL estimates %d rows of postings, want %d", estimated, rows)
	}
}

// BenchmarkMovePostings migrates a catalog from the version before postings. With
// -benchtime=1x -entities=100000 it takes some minutes.
func BenchmarkMovePostings(b *testing.B) {
	for client, options := range map[string]func() Options{
		SQLite: func() Options {
			return Options{Client: SQLite, Path: filepath.Join(b.TempDir(), "portal.db"), Now: time.Now}
		},
		Postgres: func() Options { return Options{Client: Postgres, URL: shared.Database(b), Now: time.Now} },
	} {
		b.Run(client, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				opts := options()
				catalogOfBefore(b, opts, *moved)
				b.StartTimer()
				d, err := Open(b.Context(), opts)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := d.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(*moved)*float64(b.N)/b.Elapsed().Seconds(), "entities/s")
		})
	}
}

// catalogOfBefore makes a database of the version before postings, with n entities. Like
// those of the catalogs that we measure with, an entity has 35 fields and 31 words, of which
// 12 and 2 are no other entity's.
func catalogOfBefore(tb testing.TB, opts Options, n int) {
	tb.Helper()
	db, d := rawDB(tb, opts)
	defer func() { _ = db.Close() }()
	p, err := newMigrator(db, d, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := p.UpTo(tb.Context(), postingsVersion-1); err != nil {
		tb.Fatal(err)
	}
	const with = `WITH RECURSIVE entity (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM entity WHERE i < %[1]d),
		field (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM field WHERE k < %[2]d) `
	const ref = "'component:default/of-a-usual-length-' || i"
	for _, s := range []string{
		"INSERT INTO entities (ref, uid, provider, parent, hash, etag) " + fmt.Sprintf(with, n, 1) +
			"SELECT " + ref + ", i || '-uid', 'p', '', 'h', 'e' FROM entity ORDER BY 1",
		"INSERT INTO search (kid, value, original, ref) " + fmt.Sprintf(with, n, 35) +
			"SELECT k, 'value ' || CASE WHEN k <= 12 THEN i ELSE i * 97 % (k * k) END, CASE WHEN k % 4 = 0 THEN 'Value' END, " + ref + " FROM entity CROSS JOIN field ORDER BY 1, 2, 4",
		"INSERT INTO terms (word, ref) " + fmt.Sprintf(with, n, 31) +
			"SELECT 'w' || k || 'x' || CASE WHEN k <= 2 THEN i ELSE i * 97 % (10 * k) END, " + ref + " FROM entity CROSS JOIN field ORDER BY 1, 2",
	} {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatal(s, err)
		}
	}
}

package db

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The environment of TestMigrationProcess: the database, and the step in which
// it stands still.
const (
	migrationClient = "INGESTOR_TEST_MIGRATION_CLIENT"
	migrationPlace  = "INGESTOR_TEST_MIGRATION_PLACE"
	migrationStep   = "INGESTOR_TEST_MIGRATION_STEP"
)

// TestMigrationProcess migrates a database and stands still in one step, for
// the test that kills it.
func TestMigrationProcess(t *testing.T) {
	client, place := os.Getenv(migrationClient), os.Getenv(migrationPlace)
	if client == "" {
		t.Skip("it is the process of TestMigrationInterrupted")
	}
	step, err := strconv.ParseInt(os.Getenv(migrationStep), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Error(migrateRaw(t, Options{Client: client, Path: place, URL: place}, func(version int64) {
		if version == step {
			fmt.Println("ready")
			select {}
		}
	}))
}

// migrateRaw migrates a database with a function that is called in each step.
func migrateRaw(t *testing.T, opts Options, during func(version int64)) error {
	t.Helper()
	db, d := rawDB(t, opts)
	return migrateWith(t.Context(), db, d, during)
}

// rawDB opens a database without migrating it.
func rawDB(tb testing.TB, opts Options) (*sql.DB, dialect) {
	tb.Helper()
	name, dsn, d := "pgx", opts.URL, postgresDialect
	if opts.Client == SQLite {
		f, err := os.OpenFile(opts.Path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			tb.Fatal(err)
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
		name, dsn, d = "sqlite", sqliteDSN(opts.Path, writeCacheKiB, "_journal_mode", "WAL"), sqliteDialect
	}
	db, err := sql.Open(name, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(2)
	return db, d
}

// TestMigrationInterrupted interrupts the migration in each step, by killing
// the process and by ending its context. The next start must complete it: tables
// are as if nothing had happened, and rows of before are there.
func TestMigrationInterrupted(t *testing.T) {
	steps, err := migrationSteps(sqliteDialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	interrupt := map[string]func(t *testing.T, opts Options, step int64){"Killed": killMigration, "Cancelled": cancelMigration}
	for client, options := range map[string]func(t *testing.T) Options{
		SQLite: func(t *testing.T) Options {
			return Options{Client: SQLite, Path: t.TempDir() + "/portal.db", Now: time.Now}
		},
		Postgres: func(t *testing.T) Options { return Options{Client: Postgres, URL: shared.Database(t), Now: time.Now} },
	} {
		t.Run(client, func(t *testing.T) {
			want := tables(t, opener(t, options(t))())
			for how, interrupt := range interrupt {
				for _, s := range steps {
					t.Run(fmt.Sprint(how, "/", s.Version), func(t *testing.T) {
						opts := options(t)
						fill(t, opts, s.Version-1)
						interrupt(t, opts, s.Version)
						if has := version(t, opts); has != s.Version-1 {
							t.Errorf("interrupted database has version %d, want %d", has, s.Version-1)
						}
						d := opener(t, opts)()
						if diff := cmp.Diff(want, tables(t, d)); diff != "" {
							t.Errorf("tables (-without interruption +with):\n%s", diff)
						}
						var n int
						if err := d.Read.QueryRow("SELECT count(*) FROM secrets WHERE name = 'before'").Scan(&n); err != nil || n != 1 && s.Version > 1 {
							t.Errorf("%d rows of before are left, want 1: %v", n, err)
						}
					})
				}
			}
		})
	}
}

// fill migrates a database to a version, and inserts a row.
func fill(t *testing.T, opts Options, to int64) {
	t.Helper()
	if to == 0 {
		return
	}
	db, d := rawDB(t, opts)
	p, err := newMigrator(db, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO secrets (name, value) VALUES ('before', 'x')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// killMigration has another process migrate the database, and kills it in a
// step.
func killMigration(t *testing.T, opts Options, step int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrationProcess$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), migrationClient+"="+opts.Client, migrationPlace+"="+opts.Path+opts.URL, migrationStep+"="+strconv.FormatInt(step, 10))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Errorf("process printed %q (%v), want ready", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // It was killed.
}

// cancelMigration ends the context of a migration in a step, as a signal does.
func cancelMigration(t *testing.T, opts Options, step int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	db, d := rawDB(t, opts)
	err := migrateWith(ctx, db, d, func(version int64) {
		if version == step {
			cancel()
		}
	})
	if err == nil {
		t.Error("migration whose context ended returned no error")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// version returns the version of a database.
func version(t *testing.T, opts Options) int64 {
	t.Helper()
	i, err := Inspect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = i.Close() }()
	has, _, err := i.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// tables returns the columns and indexes of a database.
func tables(t *testing.T, d *DB) (all []string) {
	t.Helper()
	query := "SELECT coalesce(sql, name) FROM sqlite_master"
	if d.Client == Postgres {
		query = `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable FROM information_schema.columns WHERE table_schema = 'public'
			UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'`
	}
	rows, err := d.Read.QueryContext(t.Context(), "SELECT * FROM ("+query+") AS x ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

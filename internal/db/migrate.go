package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"text/template"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// dialect is what differs between the engines.
type dialect struct {
	client string
	name   goose.Dialect
	// Text is compared byte by byte, so that both engines sort alike.
	Text, Bytes string
	// Clustered makes a table an index of its primary key.
	Clustered string
	// Uncompressed stores bodies uncompressed and inline in their row: they are read far
	// more often than written. Unpacked does the same for fields, and Undivided for postings.
	Uncompressed, Unpacked, Undivided string
	// Char is the function that converts a number to a character.
	Char string
}

var (
	sqliteDialect = dialect{
		client: SQLite, name: goose.DialectSQLite3, Text: "TEXT", Bytes: "BLOB", Clustered: "WITHOUT ROWID",
		Char: "char",
	}
	postgresDialect = dialect{
		client: Postgres, name: goose.DialectPostgres, Text: `TEXT COLLATE "C"`, Bytes: "BYTEA",
		Uncompressed: "ALTER TABLE documents ALTER COLUMN body SET STORAGE EXTERNAL;\n" +
			"ALTER TABLE documents SET (toast_tuple_target = 8160);",
		Unpacked: "ALTER TABLE fields ALTER COLUMN packed SET STORAGE EXTERNAL;\n" +
			"ALTER TABLE fields SET (toast_tuple_target = 8160);",
		Undivided: "ALTER TABLE postings ALTER COLUMN ids SET STORAGE EXTERNAL;",
		Char:      "chr",
	}
)

// migrate migrates the database to the latest version that this program supports, and
// refuses a newer one, since the meaning of its rows is unknown.
func migrate(ctx context.Context, db *sql.DB, d dialect) error { return migrateWith(ctx, db, d, nil) }

// migrateWith is migrate with a function, nil for none, that is called at the end of
// each step, in its transaction.
func migrateWith(ctx context.Context, db *sql.DB, d dialect, during func(version int64)) error {
	p, err := newMigrator(db, d, during)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		has, known, err := p.GetVersions(ctx)
		if err != nil {
			return err
		}
		if has > known {
			return fmt.Errorf("database has version %d, and this program supports %d: "+
				"use a newer program, or restore a backup from before the upgrade", has, known)
		}
		if has == known {
			return nil
		}
		// SQLite has no lock that spans several transactions. If another program runs the
		// same step at the same time, one of the two fails as a whole, and finds the step
		// done on the next attempt. PostgreSQL ends a step that meets a deadlock.
		if _, err := p.Up(ctx); err != nil && attempt == len(p.ListSources())+1 {
			return err
		}
	}
}

func newMigrator(db *sql.DB, d dialect, during func(version int64)) (*goose.Provider, error) {
	steps, err := migrationSteps(d, during)
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true)}
	if d.name == goose.DialectPostgres {
		// Replicas may open an empty database at the same time. The others retry every
		// second, for five minutes in each attempt.
		l, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, err
		}
		opts = append(opts, goose.WithSessionLocker(l))
	}
	return goose.NewProvider(d.name, db, nil, opts...)
}

// migrationSteps renders the embedded files. The version of NNNN_name.sql is NNNN.
func migrationSteps(d dialect, during func(version int64)) ([]*goose.Migration, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]*goose.Migration, len(files))
	for i, file := range files {
		number, _, _ := strings.Cut(strings.TrimPrefix(file, "migrations/"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot parse the version of %s: %w", file, err)
		}
		t, err := template.ParseFS(migrations, file)
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		if version == postingsVersion && d.client == Postgres {
			text.WriteString(lockForPostings)
		}
		if err := t.Execute(&text, d); err != nil {
			return nil, err
		}
		steps[i] = goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, text.String())
			if err == nil && version == postingsVersion {
				err = movePostings(ctx, tx, d.client)
			}
			if err == nil && during != nil {
				during(version)
			}
			return err
		}}, nil)
	}
	return steps, nil
}

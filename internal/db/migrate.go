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

// dialect is what the engines call differently.
type dialect struct {
	name goose.Dialect
	// Text is compared byte by byte, so that both engines sort alike.
	Text, Bytes string
	// Clustered makes a table an index of its primary key.
	Clustered string
	// Uncompressed keeps bodies as they are and beside their row: they are
	// read far more often than written. Unpacked is the same for fields.
	Uncompressed, Unpacked string
	// Char makes a character of its number.
	Char string
}

var (
	sqliteDialect = dialect{
		name: goose.DialectSQLite3, Text: "TEXT", Bytes: "BLOB", Clustered: "WITHOUT ROWID",
		Char: "char",
	}
	postgresDialect = dialect{
		name: goose.DialectPostgres, Text: `TEXT COLLATE "C"`, Bytes: "BYTEA",
		Uncompressed: "ALTER TABLE documents ALTER COLUMN body SET STORAGE EXTERNAL;\n" +
			"ALTER TABLE documents SET (toast_tuple_target = 8160);",
		Unpacked: "ALTER TABLE fields ALTER COLUMN packed SET STORAGE EXTERNAL;\n" +
			"ALTER TABLE fields SET (toast_tuple_target = 8160);",
		Char: "chr",
	}
)

// migrate brings the database to the version this program knows, and refuses
// one that is newer: nobody can tell what its rows mean.
func migrate(ctx context.Context, db *sql.DB, d dialect) error {
	p, err := newMigrator(db, d)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		has, known, err := p.GetVersions(ctx)
		if err != nil {
			return err
		}
		if has > known {
			return fmt.Errorf("it has version %d, and this program knows %d: "+
				"use a newer program, or a copy of the database from before it was opened by one", has, known)
		}
		if has == known {
			return nil
		}
		// SQLite has no lock to hold over several transactions. If another
		// program makes the same step at the same time, one of the two fails
		// as a whole, and finds the step done when it looks again.
		if _, err := p.Up(ctx); err != nil && attempt == len(p.ListSources())+1 {
			return err
		}
	}
}

func newMigrator(db *sql.DB, d dialect) (*goose.Provider, error) {
	steps, err := migrationSteps(d)
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true)}
	if d.name == goose.DialectPostgres {
		// Replicas may open an empty database at once. Those that come second
		// look every second, for five minutes.
		l, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, err
		}
		opts = append(opts, goose.WithSessionLocker(l))
	}
	return goose.NewProvider(d.name, db, nil, opts...)
}

// migrationSteps renders the embedded files, of which NNNN_name.sql is version
// NNNN.
func migrationSteps(d dialect) ([]*goose.Migration, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]*goose.Migration, len(files))
	for i, file := range files {
		number, _, _ := strings.Cut(strings.TrimPrefix(file, "migrations/"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot tell the version of %s: %w", file, err)
		}
		t, err := template.ParseFS(migrations, file)
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		if err := t.Execute(&text, d); err != nil {
			return nil, err
		}
		steps[i] = goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, text.String())
			return err
		}}, nil)
	}
	return steps, nil
}

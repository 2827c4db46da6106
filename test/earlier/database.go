package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/scaffolder/seal"
	"example.dev/ingestor/test/postgres"
)

// database is where a version stores its data.
type database interface {
	// client is the name of the database in the configuration.
	client() string
	// connection creates it and returns the connection of the configuration.
	connection(ctx context.Context) (any, error)
	// save writes it to files whose names begin with to. folder is the folder of
	// the program, which has ended.
	save(ctx context.Context, folder, to string) error
}

// sqliteFiles are the files of SQLite, with the key of tasks.
type sqliteFiles struct{}

func (*sqliteFiles) client() string { return db.SQLite }

func (*sqliteFiles) connection(context.Context) (any, error) {
	return object{"filename": "./data/portal.sqlite"}, nil
}

func (*sqliteFiles) save(ctx context.Context, folder, to string) error {
	key, err := os.ReadFile(filepath.Join(folder, "data", "portal-tasks.key"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if key != nil {
		if err := pack(to+"-tasks.key.gz", key); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"portal.sqlite": to + ".sqlite", "portal-jobs.sqlite": to + "-jobs.sqlite"} {
		copied := filepath.Join(folder, "copy-"+from)
		err := db.Backup(ctx, filepath.Join(folder, "data", from), copied)
		if errors.Is(err, fs.ErrNotExist) && from != "portal.sqlite" {
			continue
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(copied)
		if err == nil && key != nil && from == "portal.sqlite" {
			data, err = postponeSealed(ctx, copied, data, key)
		}
		if err != nil {
			return err
		}
		if err := pack(to+".gz", data); err != nil {
			return err
		}
	}
	return nil
}

// postgresDump is a database of PostgreSQL.
type postgresDump struct {
	server *postgres.Server
	name   string
}

func (*postgresDump) client() string { return db.Postgres }

func (p *postgresDump) connection(ctx context.Context) (any, error) {
	at, err := p.server.Create(ctx)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	p.name = strings.TrimPrefix(u.Path, "/")
	return at, nil
}

func (p *postgresDump) save(ctx context.Context, _, to string) error {
	text, err := p.server.Command(ctx, "pg_dump", "--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--dbname="+p.name)
	if err != nil {
		return err
	}
	var kept []string
	for line := range strings.Lines(text) {
		// Earlier versions of PostgreSQL do not know these.
		if !strings.HasPrefix(line, `\restrict `) && !strings.HasPrefix(line, `\unrestrict `) && !strings.HasPrefix(line, "SET transaction_timeout") {
			kept = append(kept, line)
		}
	}
	text = strings.ReplaceAll(strings.Join(kept, ""), hex.EncodeToString(began), hex.EncodeToString(postponed))
	return pack(to+".sql.gz", []byte(text))
}

// A task that was killed fails if it is continued too long after it began. The
// recorded one began in a hundred years, so that it can always be continued.
var began, postponed = []byte(`"began":"20`), []byte(`"began":"21`)

// postponeSealed postpones the task that was killed in the contents of a file,
// where its state is encrypted. The new state has the size of the old one.
func postponeSealed(ctx context.Context, path string, data, secret []byte) ([]byte, error) {
	key, err := seal.New(secret)
	if err != nil {
		return nil, err
	}
	tables, err := db.ReadSQLite(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tables.Close() }() // It was only read.
	var id string
	var state []byte
	if err := tables.QueryRowContext(ctx, "SELECT id, state FROM tasks WHERE status = 'processing'").Scan(&id, &state); err != nil {
		return nil, err
	}
	text, err := key.Open(state, id+"/state")
	if err != nil {
		return nil, err
	}
	if bytes.Count(text, began) != 1 || bytes.Count(data, state) != 1 {
		return nil, errors.New("state of the killed task was not found")
	}
	return bytes.Replace(data, state, key.Seal(bytes.Replace(text, began, postponed, 1), id+"/state"), 1), nil
}

// pack compresses a file.
func pack(to string, data []byte) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o600)
}

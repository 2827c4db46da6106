package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What SQLite may use. The caches are small because the operating system keeps
// the file's pages as well.
const (
	sqliteReaders  = 4
	sqlitePage     = 8 << 10
	readCacheKiB   = 4 << 10
	writeCacheKiB  = 8 << 10
	busyTimeout    = 10 * time.Second
	journalMaximum = 32 << 20
	// checkpointPages is how many pages of the journal are brought into the
	// file at once: large changes in a row write the same ones again and again.
	checkpointPages = 4000
)

// What PostgreSQL is asked for.
const (
	postgresReaders = 12
	postgresWriters = 6
	postgresIdle    = 5 * time.Minute
	connectTimeout  = 5 * time.Second
	// lockTimeout is longer than any change takes.
	lockTimeout = 30 * time.Second
)

// Store is an open database. All methods may be called at once.
type Store struct {
	opts Options
	// read is for reading. write is for writing: with SQLite it is the only
	// connection that does.
	read, write *sql.DB
	// patience is how long to wait for another who writes.
	patience time.Duration
	// changing has room for the one in this process who changes entities, and
	// observing for the one who changes what ingestion remembers.
	changing, observing chan struct{}
	// alone are the names of those who run alone.
	alone seats
	// config is how connections to PostgreSQL are made.
	config *pgx.ConnConfig
	// file is the database of SQLite, as it was opened.
	file fs.FileInfo
	// bodies remembers what was read.
	bodies bodies
	// keys remembers the numbers of keys.
	keys keyNumbers
	// traces are those of the last changes of entities.
	traces traces
	// horizons are those of what ingestion lists.
	horizons horizons
	// tried is when locations were last read, where the database has an older
	// time only: a time is not worth a write.
	tried sync.Map
	// These are for reading.
	statements statements
	cached     cached
	flights    flights
	columns    columns
	// lists are the snapshots that somebody reads a list from, and pages those
	// that end at once.
	lists, pages snapshots
	// betweenReads, if not nil, is called between the reads of a plan, by tests.
	betweenReads func()
	// partDocuments, if not 0, is set by tests.
	partDocuments int
}

// Open opens the database and brings its tables up to date. Close it.
func Open(ctx context.Context, opts Options) (*Store, error) {
	s := &Store{opts: opts, bodies: newBodies(), changing: make(chan struct{}, 1), observing: make(chan struct{}, 1)}
	var err error
	switch opts.Client {
	case SQLite:
		err = s.openSQLite(ctx)
	case Postgres:
		err = s.openPostgres(ctx)
	default:
		return nil, fmt.Errorf("cannot open the database: there is no client %q; use %q or %q", opts.Client, SQLite, Postgres)
	}
	if err != nil {
		doing := "open the database"
		if opts.Client == SQLite {
			doing += " " + opts.Path
		}
		return nil, errors.Join(fail(doing, err), s.Close())
	}
	return s, nil
}

func (s *Store) openSQLite(ctx context.Context) error {
	path, err := filepath.Abs(s.opts.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	// The engine is never asked to make the file: a connection that is opened
	// while somebody moves the file would begin an empty catalog in its place.
	// Others may not read it, since it has secrets in it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = f.Close() // Nothing was written.
	if s.file, err = os.Stat(path); err != nil {
		return err
	}
	if s.write, err = sql.Open("sqlite", sqliteDSN(path, writeCacheKiB, "_journal_mode", "WAL")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	s.write.SetMaxIdleConns(1)
	if err := migratePatiently(ctx, s.write); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite", sqliteDSN(path, readCacheKiB, "_query_only", "true")); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(sqliteReaders)
	s.read.SetMaxIdleConns(sqliteReaders)
	return nil
}

// migratePatiently is migrate for SQLite, which does not wait, whatever it is
// told, when two programs make the same new file a database at once.
func migratePatiently(ctx context.Context, db *sql.DB) error {
	const pause = 50 * time.Millisecond
	for left := busyTimeout; ; left -= pause {
		err := migrate(ctx, db, sqliteDialect)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY || left <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// sqliteDSN is how a connection is opened. A commit is synced to the disk
// (synchronous FULL): there is one for each change that changes something, so
// that costs little, and what a caller was told is stored survives a power cut.
func sqliteDSN(path string, cacheKiB int, key, value string) string {
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, key: {value}}
	for _, p := range []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		fmt.Sprintf("page_size(%d)", sqlitePage),
		"synchronous(FULL)",
		fmt.Sprintf("cache_size(-%d)", cacheKiB),
		fmt.Sprintf("journal_size_limit(%d)", journalMaximum),
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
		"temp_store(MEMORY)",
	} {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

func (s *Store) openPostgres(ctx context.Context) error {
	config, err := pgx.ParseConfig(s.opts.URL)
	if err != nil {
		// The error itself may show the password.
		return errors.New("its connection string cannot be read; write it as postgres://user:password@host:port/database")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	s.patience, s.config = lockTimeout, config
	s.read, s.write = pool(within(config, cmp.Or(s.opts.answer, readAnswer)), postgresReaders), pool(within(config, cmp.Or(s.opts.answer, writeAnswer)), postgresWriters)
	// To bring tables up to date may take minutes.
	db := pool(config, 1)
	return errors.Join(migrate(ctx, db, postgresDialect), db.Close())
}

// pool returns so many connections.
func pool(config *pgx.ConnConfig, most int) *sql.DB {
	// To compile a long filter takes seconds, to run it milliseconds.
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET jit = off")
		return err
	}))
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	db.SetConnMaxIdleTime(postgresIdle)
	return db
}

// Close waits for what runs and closes the database.
func (s *Store) Close() error {
	var err error
	s.alone.close()
	if s.read != nil {
		err = s.read.Close()
	}
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return err
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	err := s.present()
	if err == nil {
		_, err = s.revision(ctx)
	}
	return fail("reach the database", err)
}

// present tells whether the file of SQLite is where it was: what is written to
// one that was removed is lost.
func (s *Store) present() error {
	if s.file == nil {
		return nil
	}
	info, err := os.Stat(s.opts.Path)
	if err != nil {
		return unavailable{err}
	}
	if !os.SameFile(info, s.file) {
		return unavailable{errors.New("the file was replaced by another one; start again to use that")}
	}
	return nil
}

// Revision returns a number that every change of entities raises, whoever
// makes it.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	n, err := s.revision(ctx)
	return n, fail("read the revision", err)
}

func (s *Store) revision(ctx context.Context) (n int64, err error) {
	return n, s.read.QueryRowContext(ctx, "SELECT n FROM revision").Scan(&n)
}

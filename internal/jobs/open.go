package jobs

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/trace/noop"
	_ "modernc.org/sqlite" // The SQLite driver.

	"example.dev/ingestor/internal/db"
)

const (
	// fetchCooldown is the minimum time between two fetches of jobs. River sends at most
	// one notification of a new job in that time, so it is short.
	fetchCooldown = 2 * time.Millisecond
	// fetchInterval is how often River fetches without a notification.
	fetchInterval = 2 * time.Second
	// soon is how far ahead River looks for scheduled jobs.
	soon = 5 * time.Second
	// completedFor and failedFor are how long ended jobs are kept.
	completedFor = time.Hour
	failedFor    = 24 * time.Hour
)

const (
	busyTimeout    = 10 * time.Second
	connectTimeout = 5 * time.Second
	postgresConns  = 8
	postgresIdle   = 5 * time.Minute
	// migrating is the number of the advisory lock that replicas hold to migrate.
	migrating = 7_260_117_315
	// sessions is the prefix of the names of database sessions, followed by the id of the
	// queue.
	sessions = "jobs "
)

// Queue is an open queue. All methods may be called concurrently, except for Handle and
// Every, which must be called before Run. A task with dedicated workers must be handled
// before Add: a job that was added earlier runs on the shared workers.
type Queue struct {
	opts Options
	// id distinguishes the queue from those of other processes.
	id     string
	log    *slog.Logger
	engine engine
	// db is used where River has no function.
	db       *sql.DB
	close    func()
	metrics  *metrics
	tasks    map[string]Task
	mistakes []error
	requests *requests
	schedule map[string]schedule
	// started records that Run was called.
	started sync.Once

	// mu guards tasks and the fields below. running are the jobs that run here. A job that
	// was considered lost, though it is only slow, must not run here twice at the same
	// time.
	mu      sync.Mutex
	running map[string]bool
	// failing are the jobs whose last attempt failed, with the reason.
	failing map[string]string
}

// Open opens the queue and migrates its tables. The caller must close it.
func Open(ctx context.Context, opts Options) (*Queue, error) {
	if opts.Workers <= 0 {
		opts.Workers = defaultWorkers
	}
	if opts.grace <= 0 {
		opts.grace = grace
	}
	if opts.absence <= 0 {
		opts.absence = absence
	}
	if opts.look <= 0 {
		opts.look = look
	}
	if opts.Tracer == nil {
		opts.Tracer = noop.NewTracerProvider().Tracer("")
	}
	q := &Queue{opts: opts, id: rand.Text(), log: opts.Log, tasks: map[string]Task{}, requests: newRequests(),
		schedule: map[string]schedule{}, running: map[string]bool{}, failing: map[string]string{}, close: func() {}}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	var err error
	doing := "open the queue"
	switch opts.Client {
	case db.SQLite:
		doing += " " + opts.Path
		err = q.openSQLite(ctx)
	case db.Postgres:
		err = q.openPostgres(ctx)
	default:
		return nil, fmt.Errorf("cannot %s: there is no client %q; use %q or %q", doing, opts.Client, db.SQLite, db.Postgres)
	}
	if err == nil {
		q.metrics, err = newMetrics(opts.Registry, q)
	}
	if err != nil {
		q.close()
		return nil, fmt.Errorf("cannot %s: %w", doing, err)
	}
	return q, nil
}

// Close closes the database. Run must have returned before.
func (q *Queue) Close() error {
	q.metrics.unregister(q.opts.Registry)
	q.close()
	return nil
}

func (q *Queue) openSQLite(ctx context.Context) error {
	path, err := filepath.Abs(q.opts.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	// Others must not read the file: the arguments of tasks may be confidential.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_ = f.Close() // Nothing was written.
	v := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_journal_mode": {"WAL"}}
	v["_pragma"] = []string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "synchronous(FULL)"}
	u := url.URL{Scheme: "file", Path: path, RawQuery: v.Encode()}
	if q.db, err = sql.Open("sqlite", u.String()); err != nil {
		return err
	}
	q.close = func() { _ = q.db.Close() }
	// Several parts of River write concurrently. With one connection they queue up here,
	// and not in SQLite, which would let some of them starve.
	q.db.SetMaxOpenConns(1)
	driver := newLocal(q.db)
	if q.engine, err = newEngine[*sql.Tx](driver, q.config(), q.opts.Now, driver.tell); err != nil {
		return err
	}
	if err := q.migrate(ctx); err != nil {
		return err
	}
	return q.freeAlone(ctx)
}

// freeAlone takes over what a killed process held. No other process uses the file, so
// that there is no need to wait.
func (q *Queue) freeAlone(ctx context.Context) error {
	leader, err := q.engine.leader(ctx)
	if err == nil && leader != nil {
		err = q.engine.resign(ctx, leader)
	}
	if err != nil {
		return err
	}
	running, err := q.engine.list(ctx, rivertype.JobStateRunning)
	if err != nil {
		return err
	}
	_, err = q.takeOver(ctx, running, func(*rivertype.JobRow) bool { return true })
	return err
}

func (q *Queue) openPostgres(ctx context.Context) error {
	config, err := poolConfig(q.opts.URL)
	if err != nil {
		return err
	}
	config.ConnConfig.RuntimeParams["application_name"] = sessions + q.id
	config.MaxConns = postgresConns
	config.MaxConnIdleTime = postgresIdle
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	q.db = stdlib.OpenDBFromPool(pool)
	q.close = func() { _ = q.db.Close(); pool.Close() }
	if q.engine, err = newEngine(postgresDriver{riverpgxv5.New(pool)}, q.config(), q.opts.Now, nil); err != nil {
		return err
	}
	// Replicas may open an empty database at the same time.
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrating)); err != nil {
		return err
	}
	err = q.migrate(ctx)
	_, unlock := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrating))
	return errors.Join(err, unlock)
}

// poolConfig parses the connection string of PostgreSQL.
func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The original error may contain the password.
		return nil, errors.New("invalid connection string; write it as postgres://user:password@host:port/database")
	}
	if t := &config.ConnConfig.ConnectTimeout; *t == 0 || *t > connectTimeout {
		*t = connectTimeout
	}
	return config, nil
}

func (q *Queue) migrate(ctx context.Context) error {
	return q.engine.migrate(ctx, &rivermigrate.Config{Logger: slog.New(newQuiet(q.log, q.opts.Now))})
}

// migrate migrates the tables to the version that River supports, and refuses a newer
// one, since the meaning of its rows is unknown.
func (e *riverEngine[T]) migrate(ctx context.Context, config *rivermigrate.Config) error {
	there, known, err := e.versions(ctx)
	if err != nil {
		return err
	}
	if there > known {
		return fmt.Errorf("its tables have version %d, and this program supports up to %d: "+
			"use a newer program, or a backup from before a newer program opened the database", there, known)
	}
	m, err := rivermigrate.New(e.driver, config)
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// versions reads the versions itself: River's function fails for a version that is
// newer than it knows.
func (e *riverEngine[T]) versions(ctx context.Context) (there, known int, err error) {
	const table = "river_migration"
	m, err := rivermigrate.New(e.driver, nil)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range m.AllVersions() {
		known = max(known, v.Version)
	}
	exec := e.driver.GetExecutor()
	exists, err := exec.TableExists(ctx, &riverdriver.TableExistsParams{Table: table})
	if err != nil || !exists {
		return 0, known, err
	}
	all, err := exec.MigrationGetByLine(ctx, &riverdriver.MigrationGetByLineParams{Line: riverdriver.MigrationLineMain})
	for _, v := range all {
		there = max(there, v.Version)
	}
	return there, known, err
}

// config returns the configuration of River. River neither ends jobs that take too long
// nor rescues those of a process that is gone: it would do so by the clock of this
// machine, at the moment of their timeout, and count that as an attempt. See watchOver.
func (q *Queue) config() *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{q: q})
	return &river.Config{
		CancelledJobRetentionPeriod: failedFor,
		CompletedJobRetentionPeriod: completedFor,
		DiscardedJobRetentionPeriod: failedFor,
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           fetchInterval,
		Hooks:                       []rivertype.Hook{river.HookInsertBeginFunc(q.soon)},
		ID:                          q.id,
		JobTimeout:                  -1,
		Logger:                      slog.New(newQuiet(q.log, q.opts.Now)),
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.opts.Workers}},
		Workers:                     workers,
		// TestOnly has one effect: a new leader starts at once. Otherwise each of River's
		// services waits for up to a second, one after the other, before the first scheduled
		// job is queued.
		TestOnly: true,
	}
}

// soon makes a job that waits only briefly available, so that it is fetched when it is
// due. River would look for scheduled jobs every five seconds.
func (q *Queue) soon(_ context.Context, p *rivertype.JobInsertParams) error {
	if p.State == rivertype.JobStateScheduled && p.ScheduledAt != nil && p.ScheduledAt.Sub(q.opts.Now()) <= soon {
		p.State = rivertype.JobStateAvailable
	}
	return nil
}

package db

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// An advisory lock of PostgreSQL is polled, with growing pauses: a waiting statement
// would prevent vacuum from removing old rows.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// heartbeat is how often the connection that holds a lock is checked, and how long it
	// may take to answer.
	heartbeat = 5 * time.Second
)

// locks are the named locks of this process.
type locks struct {
	mu     sync.Mutex
	byName map[string]*namedLock
	closed bool
}

// namedLock is held by at most one goroutine of this process.
type namedLock struct {
	held chan struct{}
	// conn is a connection to PostgreSQL for this lock, kept from one holder to the next,
	// nil if there is none. Only the holder uses it.
	conn *pgx.Conn
}

func (l *locks) get(name string) *namedLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName == nil {
		l.byName = map[string]*namedLock{}
	}
	if l.byName[name] == nil {
		l.byName[name] = &namedLock{held: make(chan struct{}, 1)}
	}
	return l.byName[name]
}

// close closes the connections of locks that are not held. A holder closes its own.
func (l *locks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, k := range l.byName {
		select {
		case k.held <- struct{}{}:
			k.disconnect()
			<-k.held
		default:
		}
	}
}

func (l *locks) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// free lets the next goroutine of this process acquire the lock.
func (l *locks) free(k *namedLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		k.disconnect()
	}
	<-k.held
}

func (k *namedLock) disconnect() {
	if k.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// Even if this fails, the server releases the locks of the connection.
	_ = k.conn.Close(ctx)
	k.conn = nil
}

// WithLock runs do while it holds the lock of that name, for which it waits until ctx
// ends. With PostgreSQL the lock is exclusive across all replicas, with SQLite within
// the process. The context of do ends when the lock is lost.
func (d *DB) WithLock(ctx context.Context, name string, do func(context.Context) error) error {
	doing := fmt.Sprintf("hold lock %q", name)
	k := d.locks.get(name)
	select {
	case k.held <- struct{}{}:
	case <-ctx.Done():
		return Fail(doing, context.Cause(ctx))
	}
	defer d.locks.free(k)
	if d.Client == SQLite {
		return do(ctx)
	}
	key := lockKey(name)
	if err := d.acquire(ctx, k, key); err != nil {
		return Fail(doing, err)
	}
	defer k.release(key)
	// A holder that is suspended until another one has acquired the lock cannot write any
	// more, whether or not it has noticed the loss.
	f := fence{name: "alone " + Storable(name)}
	if err := k.conn.QueryRow(ctx, raiseFence, f.name).Scan(&f.n); err != nil {
		return Fail(doing, err)
	}
	watched, lose := context.WithCancelCause(ctx)
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		if err := k.watch(watched); err != nil {
			lose(Unavailable(err))
		}
	}()
	defer func() {
		lose(nil)
		<-lost
	}()
	err := do(f.around(watched))
	if cause := context.Cause(watched); err != nil && ctx.Err() == nil && cause != nil {
		return Fail(doing, cause)
	}
	return err
}

// lockKey returns the number of a lock in PostgreSQL.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("ingestor alone " + name)) // Write never fails.
	return int64(h.Sum64())
}

// acquire waits for PostgreSQL's lock.
func (d *DB) acquire(ctx context.Context, k *namedLock, key int64) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		got, err := d.tryLock(ctx, k, key)
		if err != nil || got {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryLock tries once to acquire the lock. It reconnects if a kept connection has failed
// since.
func (d *DB) tryLock(ctx context.Context, k *namedLock, key int64) (got bool, err error) {
	if d.locks.isClosed() {
		return false, Unavailable(errors.New("database is closed"))
	}
	for kept := k.conn != nil; ; kept = false {
		if k.conn == nil {
			if k.conn, err = pgx.ConnectConfig(ctx, d.config.Copy()); err != nil {
				k.conn = nil
				return false, err
			}
			// A machine that disappeared or hangs must not keep the lock. A server that does not
			// support the setting uses its own timeout.
			_, _ = k.conn.Exec(ctx, fmt.Sprintf("SET idle_session_timeout = %d", (4*heartbeat).Milliseconds()))
		}
		err := k.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&got)
		if err == nil {
			return got, nil
		}
		k.disconnect()
		if !kept || ctx.Err() != nil {
			return false, err
		}
	}
}

// watch returns why the connection was lost, or nil when ctx ends.
func (k *namedLock) watch(ctx context.Context) error {
	for {
		// There are no notifications: this reads until the connection ends.
		quiet, cancel := context.WithTimeout(ctx, heartbeat)
		_, err := k.conn.WaitForNotification(quiet)
		ended := quiet.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !ended {
			return err
		}
		answer, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeat)
		err = k.conn.Ping(answer)
		cancel()
		if err != nil {
			return err
		}
	}
}

// release releases the lock. If that fails, it closes the connection, which releases
// the lock too.
func (k *namedLock) release(key int64) {
	ctx, cancel := context.WithTimeout(context.Background(), heartbeat)
	defer cancel()
	var freed bool
	if err := k.conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", key).Scan(&freed); err != nil || !freed {
		k.disconnect()
	}
}

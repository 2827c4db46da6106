package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// How PostgreSQL is asked for its lock: again and again, since a statement that
// waits would keep old rows from being removed, with pauses that grow.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// pulse is how often the connection that has the lock is looked after, and
	// how long it may take to answer.
	pulse = 5 * time.Second
)

// seats are the names of those who run alone, in this process.
type seats struct {
	mu     sync.Mutex
	byName map[string]*seat
	closed bool
}

// seat has room for one.
type seat struct {
	taken chan struct{}
	// conn is a connection to PostgreSQL of its own, kept from one to the next,
	// nil if there is none. Whoever has the seat has it.
	conn *pgx.Conn
}

func (k *seats) get(name string) *seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName == nil {
		k.byName = map[string]*seat{}
	}
	if k.byName[name] == nil {
		k.byName[name] = &seat{taken: make(chan struct{}, 1)}
	}
	return k.byName[name]
}

// close lets go of the connections that nobody uses. Those in use are closed by
// whoever does.
func (k *seats) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, st := range k.byName {
		select {
		case st.taken <- struct{}{}:
			st.hangUp()
			<-st.taken
		default:
		}
	}
}

func (k *seats) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// leave makes room for the next.
func (k *seats) leave(st *seat) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		st.hangUp()
	}
	<-st.taken
}

func (st *seat) hangUp() {
	if st.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// Whatever happens, the server frees what the connection had.
	_ = st.conn.Close(ctx)
	st.conn = nil
}

// Alone runs do while nobody else runs one of that name, and waits for its turn
// as long as ctx lasts. With PostgreSQL nobody is nobody who shares the database,
// with SQLite nobody who shares the store. If the database can no longer vouch
// for that, the context of do ends.
func (s *Store) Alone(ctx context.Context, name string, do func(context.Context) error) error {
	doing := fmt.Sprintf("run %q alone", name)
	st := s.alone.get(name)
	select {
	case st.taken <- struct{}{}:
	case <-ctx.Done():
		return fail(doing, context.Cause(ctx))
	}
	defer s.alone.leave(st)
	if s.opts.Client == SQLite {
		return do(ctx)
	}
	key := lockKey(name)
	if err := s.sit(ctx, st, key); err != nil {
		return fail(doing, err)
	}
	defer st.stand(key)
	// Whoever stands still for so long that the lock goes to somebody else writes no
	// more, whether or not it has noticed.
	f := fence{name: "alone " + storable(name)}
	if err := st.conn.QueryRow(ctx, raiseFence, f.name).Scan(&f.n); err != nil {
		return fail(doing, err)
	}
	watched, lose := context.WithCancelCause(ctx)
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		if err := st.guard(watched); err != nil {
			lose(unavailable{err})
		}
	}()
	defer func() {
		lose(nil)
		<-lost
	}()
	err := do(f.around(watched))
	if cause := context.Cause(watched); err != nil && ctx.Err() == nil && cause != nil {
		return fail(doing, cause)
	}
	return err
}

// lockKey is the number by which PostgreSQL knows a name.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("ingestor alone " + name)) // It never fails.
	return int64(h.Sum64())
}

// sit waits for the lock.
func (s *Store) sit(ctx context.Context, st *seat, key int64) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		got, err := s.try(ctx, st, key)
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

// try asks for the lock once. A connection that was kept may have ended since.
func (s *Store) try(ctx context.Context, st *seat, key int64) (got bool, err error) {
	if s.alone.isClosed() {
		return false, unavailable{errors.New("the store is closed")}
	}
	for kept := st.conn != nil; ; kept = false {
		if st.conn == nil {
			if st.conn, err = pgx.ConnectConfig(ctx, s.config.Copy()); err != nil {
				st.conn = nil
				return false, err
			}
			// A machine that vanished, or stands still, must not keep the lock. A
			// server that does not know the setting waits for its own time.
			_, _ = st.conn.Exec(ctx, fmt.Sprintf("SET idle_session_timeout = %d", (4*pulse).Milliseconds()))
		}
		err := st.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&got)
		if err == nil {
			return got, nil
		}
		st.hangUp()
		if !kept || ctx.Err() != nil {
			return false, err
		}
	}
}

// guard returns why the connection was lost, or nil when ctx ends.
func (st *seat) guard(ctx context.Context) error {
	for {
		// Nobody notifies it: this is to read until the connection ends.
		quiet, cancel := context.WithTimeout(ctx, pulse)
		_, err := st.conn.WaitForNotification(quiet)
		ended := quiet.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !ended {
			return err
		}
		answer, cancel := context.WithTimeout(context.WithoutCancel(ctx), pulse)
		err = st.conn.Ping(answer)
		cancel()
		if err != nil {
			return err
		}
	}
}

// stand gives the lock back. If that fails, the connection ends, and the lock
// with it.
func (st *seat) stand(key int64) {
	ctx, cancel := context.WithTimeout(context.Background(), pulse)
	defer cancel()
	var freed bool
	if err := st.conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", key).Scan(&freed); err != nil || !freed {
		st.hangUp()
	}
}

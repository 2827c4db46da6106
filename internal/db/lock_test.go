package db

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
)

// twoReplicas returns two stores that must not run at once: one twice with
// SQLite, two replicas with PostgreSQL.
func twoReplicas(t *testing.T, test func(t *testing.T, a, b *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		s := opener(t, Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now})()
		test(t, s, s)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		open := opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now})
		test(t, open(), open())
	})
}

func TestWithLock(t *testing.T) {
	twoReplicas(t, func(t *testing.T, a, b *DB) {
		var inside, runs atomic.Int32
		var all sync.WaitGroup
		failed := errors.New("mine")
		for i := range 20 {
			s := []*DB{a, b}[i%2]
			all.Go(func() {
				err := s.WithLock(t.Context(), "work", func(context.Context) error {
					if inside.Add(1) > 1 {
						t.Error("two run at once")
					}
					runs.Add(1)
					time.Sleep(time.Millisecond)
					inside.Add(-1)
					return failed
				})
				if !errors.Is(err, failed) {
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()
		if n := runs.Load(); n != 20 {
			t.Errorf("%d ran", n)
		}
	})
}

func TestWithLockByName(t *testing.T) {
	twoReplicas(t, func(t *testing.T, a, b *DB) {
		err := a.WithLock(t.Context(), "one", func(ctx context.Context) error {
			if err := b.WithLock(ctx, "two", func(context.Context) error { return nil }); err != nil {
				t.Errorf("another name: %v", err)
			}
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			err := b.WithLock(ctx, "one", func(context.Context) error {
				t.Error("it ran")
				return nil
			})
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
				t.Errorf("the same name: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.WithLock(t.Context(), "one", func(context.Context) error { return nil }); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestWithLockPanic has the holder of a lock panic.
func TestWithLockPanic(t *testing.T) {
	twoReplicas(t, func(t *testing.T, a, b *DB) {
		func() {
			defer func() { _ = recover() }()
			_ = a.WithLock(t.Context(), "work", func(context.Context) error { panic("ouch") })
		}()
		if err := b.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

// TestWithLockWaitingLeavesRoom has more wait than there are connections.
func TestWithLockWaitingLeavesRoom(t *testing.T) {
	open := opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now})
	a, b := open(), open()
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := a.WithLock(ctx, "work", func(ctx context.Context) error {
		for range 2 * postgresWriters {
			all.Go(func() {
				if err := b.WithLock(ctx, "work", func(context.Context) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		for until := time.Now().Add(200 * time.Millisecond); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if n := b.Read.Stats().InUse; n > 0 {
				t.Fatalf("those who wait hold %d connections", n)
			}
		}
		return b.Write.PingContext(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWithLockLost has the server end the connection that has the lock.
func TestWithLockLost(t *testing.T) {
	open := opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now})
	a, b := open(), open()
	err := a.WithLock(t.Context(), "work", func(ctx context.Context) error {
		if _, err := b.Write.Exec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Error("nobody said so")
		}
		return ctx.Err()
	})
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ran := false
	if err := a.WithLock(t.Context(), "work", func(context.Context) error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("afterwards: %v", err)
	}
	// A connection that ended while nobody used it is no trouble.
	if _, err := b.Write.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	if err := a.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
		t.Errorf("after a pause: %v", err)
	}
}

// TestWithLockStandsStill shows that a machine that vanished, or stands still, does
// not keep the lock for good: the server ends its session, and does not while it
// is looked after.
func TestWithLockStandsStill(t *testing.T) {
	s := opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now})()
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var milliseconds int64
	// The lock is free now, so its connection is idle.
	err := s.locks.get("work").conn.QueryRow(t.Context(), "SELECT setting::bigint FROM pg_settings WHERE name = 'idle_session_timeout'").Scan(&milliseconds)
	if err != nil {
		t.Fatal(err)
	}
	if ends := time.Duration(milliseconds) * time.Millisecond; ends < 2*heartbeat || ends > time.Minute {
		t.Errorf("the session ends after %v, and is looked after every %v", ends, heartbeat)
	}
	// Those of the store itself wait as long as they like.
	if err := s.Write.QueryRow("SELECT setting::bigint FROM pg_settings WHERE name = 'idle_session_timeout'").Scan(&milliseconds); err != nil || milliseconds != 0 {
		t.Errorf("the other connections end after %d ms, %v", milliseconds, err)
	}
}

// TestWithLockOutage has the server killed, and started again.
func TestWithLockOutage(t *testing.T) {
	server := postgres.Start(t)
	s := opener(t, Options{Client: Postgres, URL: server.Database(t), Now: time.Now})()
	err := s.WithLock(t.Context(), "work", func(ctx context.Context) error {
		server.Kill()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("while it is gone: %v", err)
	}
	server.Restart(t)
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("when it is closed: %v", err)
	}
}

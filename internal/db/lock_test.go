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

// twoReplicas returns two stores that exclude each other: one twice with SQLite,
// two replicas with PostgreSQL.
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
						t.Error("two functions ran at the same time")
					}
					runs.Add(1)
					time.Sleep(time.Millisecond)
					inside.Add(-1)
					return failed
				})
				if !errors.Is(err, failed) {
					t.Errorf("WithLock returned %v, want the error of the function", err)
				}
			})
		}
		all.Wait()
		if n := runs.Load(); n != 20 {
			t.Errorf("%d functions ran, want 20", n)
		}
	})
}

func TestWithLockByName(t *testing.T) {
	twoReplicas(t, func(t *testing.T, a, b *DB) {
		err := a.WithLock(t.Context(), "one", func(ctx context.Context) error {
			if err := b.WithLock(ctx, "two", func(context.Context) error { return nil }); err != nil {
				t.Errorf("WithLock with another name returned %v", err)
			}
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			err := b.WithLock(ctx, "one", func(context.Context) error {
				t.Error("function ran without the lock")
				return nil
			})
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
				t.Errorf("WithLock with the same name returned %v, want context.DeadlineExceeded", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.WithLock(t.Context(), "one", func(context.Context) error { return nil }); err != nil {
			t.Errorf("WithLock after the release returned %v", err)
		}
	})
}

// TestWithLockPanic checks that a lock is released after a panic.
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

// TestWithLockWaitingLeavesRoom has more waiters than connections.
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
				t.Fatalf("waiters hold %d connections, want none", n)
			}
		}
		return b.Write.PingContext(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWithLockLost has the server close the connection of a lock.
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
			t.Error("context was not cancelled")
		}
		return ctx.Err()
	})
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("WithLock returned %v, want ErrUnavailable", err)
	}
	ran := false
	if err := a.WithLock(t.Context(), "work", func(context.Context) error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("WithLock afterwards returned %v", err)
	}
	// An idle connection that was closed causes no error.
	if _, err := b.Write.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	if err := a.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
		t.Errorf("WithLock after a pause returned %v", err)
	}
}

// TestWithLockStandsStill checks that a client that disappeared or hangs does
// not hold the lock forever: the server closes its session if there is no
// heartbeat.
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
		t.Errorf("session ends after %v, with a heartbeat every %v", ends, heartbeat)
	}
	// Other connections of the store have no idle timeout.
	if err := s.Write.QueryRow("SELECT setting::bigint FROM pg_settings WHERE name = 'idle_session_timeout'").Scan(&milliseconds); err != nil || milliseconds != 0 {
		t.Errorf("other connections end after %d ms, %v", milliseconds, err)
	}
}

// TestWithLockOutage kills the server and starts it again.
func TestWithLockOutage(t *testing.T) {
	server := postgres.Start(t)
	s := opener(t, Options{Client: Postgres, URL: server.Database(t), Now: time.Now})()
	err := s.WithLock(t.Context(), "work", func(ctx context.Context) error {
		server.Kill()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("WithLock returned %v, want ErrUnavailable", err)
	}
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("WithLock during the outage returned %v, want ErrUnavailable", err)
	}
	server.Restart(t)
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); err != nil {
		t.Errorf("WithLock after the outage returned %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.WithLock(t.Context(), "work", func(context.Context) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("WithLock of a closed store returned %v, want ErrUnavailable", err)
	}
}

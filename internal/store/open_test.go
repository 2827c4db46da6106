package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestOpenRefusesNewer(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		if _, err := s.write.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)"); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), s.opts)
		want := strings.TrimSpace("cannot open the database "+s.opts.Path) + ": it has version 999, and this program knows "
		if err == nil || !strings.HasPrefix(err.Error(), want) || errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// TestOpenAtOnce has several replicas open the same empty database.
func TestOpenAtOnce(t *testing.T) {
	const replicas = 5
	cases := map[string]func(t *testing.T) Options{
		"SQLite": func(t *testing.T) Options {
			return Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "below", "portal.db"), Now: time.Now}
		},
		"PostgreSQL": func(t *testing.T) Options { return Options{Client: Postgres, URL: shared.Database(t), Now: time.Now} },
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			o := opts(t)
			errs := make(chan error)
			for range replicas {
				go func() {
					s, err := Open(context.Background(), o)
					if err == nil {
						_, err = s.Secret(context.Background(), "x")
						err = errors.Join(err, s.Close())
					}
					errs <- err
				}()
			}
			for range replicas {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	const password = "s3cr3t-w0rd"
	notDatabase := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(notDatabase, []byte(strings.Repeat("These are notes. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason      string
		opts        Options
		unavailable bool
	}{
		"Client":      {reason: "There are two engines.", opts: Options{Client: "mysql"}},
		"NotDatabase": {reason: "A file of something else is left alone.", opts: Options{Client: SQLite, Path: notDatabase}},
		"Folder":      {reason: "A folder is no file.", opts: Options{Client: SQLite, Path: t.TempDir()}},
		"BelowFile":   {reason: "There is nothing below a file.", opts: Options{Client: SQLite, Path: filepath.Join(notDatabase, "x.db")}},
		"BadURL":      {reason: "An address that cannot be read is not shown.", opts: Options{Client: Postgres, URL: "postgres://u:" + password + "@h:port/d"}},
		"BadSettings": {reason: "Nor are settings.", opts: Options{Client: Postgres, URL: "password=" + password + " port=x"}},
		"Refused": {
			reason: "Nobody listens there now.", unavailable: true,
			opts: Options{Client: Postgres, URL: "postgres://u:" + password + "@" + closed + "/d"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), tc.opts)
			if err == nil {
				_ = s.Close()
				t.Fatalf("it was opened: %s", tc.reason)
			}
			if !strings.HasPrefix(err.Error(), strings.TrimSpace("cannot open the database "+tc.opts.Path)+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if got := errors.Is(err, ErrUnavailable); got != tc.unavailable {
				t.Errorf("%s: unavailable is %v: %v", tc.reason, got, err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), password) {
				t.Errorf("the password is in %v", err)
			}
		})
	}
	if data, err := os.ReadFile(notDatabase); err != nil || !strings.HasPrefix(string(data), "These are notes.") {
		t.Errorf("the file was changed (%v)", err)
	}
}

// afterwards checks that a failed change changed nothing, and that the next one
// succeeds once the trouble is over.
func afterwards(t *testing.T, s *Store, c Change, trouble, over func()) {
	t.Helper()
	push(t, s, Change{Provider: "before", Put: []Document{component(t, "before")}})
	trouble()
	_, err := s.Sync(t.Context(), c)
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want %v", err, ErrUnavailable)
	}
	page, err := s.Query(t.Context(), Query{Limit: NoLimit})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d entities can be read (%v)", len(page.Items), err)
	}
	over()
	if r := push(t, s, c); r.Added != len(c.Put) {
		t.Errorf("afterwards: %+v", r)
	}
	page, err = s.Query(t.Context(), Query{Limit: NoLimit})
	if err != nil || len(page.Items) != 1+len(c.Put) {
		t.Errorf("afterwards %d entities can be read (%v)", len(page.Items), err)
	}
}

func run(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		on, off := "PRAGMA query_only = 1", "PRAGMA query_only = 0"
		if s.opts.Client == Postgres {
			s.write.SetMaxOpenConns(1)
			on, off = "SET default_transaction_read_only = on", "SET default_transaction_read_only = off"
		}
		c := Change{Provider: "p", Put: []Document{component(t, "a")}}
		afterwards(t, s, c, func() { run(t, s.write, on) }, func() { run(t, s.write, off) })
	})
}

func TestLocked(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, other := open(), open()
		if s.opts.Client == SQLite {
			run(t, s.write, "PRAGMA busy_timeout = 50")
		}
		s.patience = 50 * time.Millisecond
		var tx *sql.Tx
		c := Change{Provider: "p", Put: []Document{component(t, "a")}}
		afterwards(t, s, c, func() {
			var err error
			if tx, err = other.write.Begin(); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec("UPDATE revision SET n = n + 1"); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			s.patience = lockTimeout
			if s.opts.Client == SQLite {
				run(t, s.write, "PRAGMA busy_timeout = 10000")
			}
		})
	})
}

func TestFull(t *testing.T) {
	s := opener(t, Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now})()
	c := Change{Provider: "p", Full: true}
	for i := range 500 {
		c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"owner":"g","text":%q`, strings.Repeat("x", 500))))
	}
	var pages int
	afterwards(t, s, c, func() {
		if err := s.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		run(t, s.write, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20))
	}, func() { run(t, s.write, "PRAGMA max_page_count = 1000000") })
}

// TestGone moves the file away for a while.
func TestGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	s := opener(t, Options{Client: SQLite, Path: path, Now: time.Now})()
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Sync(t.Context(), Change{Provider: "p", Put: []Document{component(t, "lost")}}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a change: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("with another file: %v", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	push(t, s, Change{Provider: "p", Put: []Document{component(t, "a")}})
}

func TestClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

// TestCancelled has the caller give up, which is no fault of the database.
func TestCancelled(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Sync(ctx, Change{Provider: "p", Put: []Document{component(t, "a")}})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		push(t, s, Change{Provider: "p", Put: []Document{component(t, "a")}})
	})
}

// TestWaitingLeavesRoom has another replica that does not end its change. Those
// here who wait for it leave connections to whoever reads.
func TestWaitingLeavesRoom(t *testing.T) {
	open := opener(t, Options{Client: Postgres, URL: shared.Database(t), Now: time.Now})
	s, other := open(), open()
	put(t, s, component(t, "a"))
	tx, err := other.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "UPDATE revision SET n = n + 1"); err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range 2 * postgresWriters {
		c := Change{Provider: fmt.Sprint("p", i), Put: []Document{component(t, fmt.Sprint("c", i))}}
		all.Go(func() {
			if _, err := s.Sync(waiting, c); !errors.Is(err, context.Canceled) {
				t.Errorf("a change that waits: %v", err)
			}
		})
	}
	// If they took all connections, they would have by then.
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		if s.write.Stats().InUse == postgresWriters {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if _, err := s.Get(ctx, "component:default/a"); err != nil {
		t.Error(err)
	}
}

// TestFieldsOfBefore takes a database back to the version before fields were
// packed: what the step makes of its rows is what writing them makes.
func TestFieldsOfBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		put(t, s, append(randomDocuments(t, 40), component(t, "tied", `"owner":"pay-1"`, `"dependsOn":["component:a","component:b"]`))...)
		packed := func(s *Store) (all []string) {
			t.Helper()
			if err := scanEach(t.Context(), s.read, "SELECT ref, packed FROM fields ORDER BY ref", nil, scanInto(&all)); err != nil {
				t.Fatal(err)
			}
			return all
		}
		want := packed(s)
		sees(t, s, "one", "unit", "seen before there were findings")
		for _, step := range []string{
			"DROP TABLE changes", "DROP TABLE findings", "DROP TABLE unchecked", "ALTER TABLE runs DROP COLUMN changes", "ALTER TABLE object_bodies DROP COLUMN status",
			"DROP TABLE revoked_sessions", "ALTER TABLE tasks DROP COLUMN caller", "ALTER TABLE tasks DROP COLUMN subject",
			"DROP TABLE fences", "DROP TABLE departed",
			"DROP TABLE fields", "CREATE INDEX search_ref ON search (ref, kid)", "CREATE INDEX relations_declarer ON relations (declarer)",
			"INSERT INTO search (kid, value, ref) VALUES (1, 'a\x1eb', 'c')", "DELETE FROM goose_db_version WHERE version_id >= 4",
		} {
			if _, err := s.write.ExecContext(t.Context(), step); err != nil {
				t.Fatal(step, err)
			}
		}
		again, err := Open(t.Context(), s.opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Close() })
		if diff := gocmp.Diff(want, packed(again)); diff != "" || len(want) != 41 {
			t.Errorf("%d entities (-want +got):\n%s", len(want), diff)
		}
		page, err := again.Query(t.Context(), Query{Filter: Has("metadata.tags.go"), Limit: NoLimit})
		if err != nil || len(page.Items) == 0 {
			t.Errorf("%d with an item of a list: %v", len(page.Items), err)
		}
		if units := unchecked(t, again); len(units) != 1 || units[0].Name != "unit" {
			t.Errorf("to be looked at are %v", units)
		}
	})
}

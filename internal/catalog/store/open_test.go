package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/test/database"
)

// afterwards checks that a failed change changed nothing, and that the next one
// succeeds after the failure.
func afterwards(t *testing.T, s *Store, c write.Change, trouble, over func()) {
	t.Helper()
	push(t, s, write.Change{Provider: "before", Put: []write.Document{component(t, "before")}})
	trouble()
	_, err := s.Sync(t.Context(), c)
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("change returned %v, want %v", err, db.ErrUnavailable)
	}
	page, err := s.Query(t.Context(), Query{Limit: NoLimit})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d entities can be read, want 1 (%v)", len(page.Items), err)
	}
	over()
	if r := push(t, s, c); r.Added != len(c.Put) {
		t.Errorf("change after the failure returned %+v", r)
	}
	page, err = s.Query(t.Context(), Query{Limit: NoLimit})
	if err != nil || len(page.Items) != 1+len(c.Put) {
		t.Errorf("%d entities can be read after the failure (%v)", len(page.Items), err)
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
		if s.Client == db.Postgres {
			s.Write.SetMaxOpenConns(1)
			on, off = "SET default_transaction_read_only = on", "SET default_transaction_read_only = off"
		}
		c := write.Change{Provider: "p", Put: []write.Document{component(t, "a")}}
		afterwards(t, s, c, func() { run(t, s.Write, on) }, func() { run(t, s.Write, off) })
	})
}

func TestLocked(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, other := open(), open()
		usual := s.Patience
		var tx *sql.Tx
		c := write.Change{Provider: "p", Put: []write.Document{component(t, "a")}}
		afterwards(t, s, c, func() {
			if s.Client == db.SQLite {
				run(t, s.Write, "PRAGMA busy_timeout = 50")
			}
			s.Patience = 50 * time.Millisecond
			var err error
			if tx, err = other.Write.Begin(); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec("UPDATE revision SET n = n + 1"); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			s.Patience = usual
			if s.Client == db.SQLite {
				run(t, s.Write, "PRAGMA busy_timeout = 10000")
			}
		})
	})
}

func TestFull(t *testing.T) {
	s := opener(t, db.Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "portal.db"), Now: time.Now})()
	c := write.Change{Provider: "p", Full: true}
	for i := range 500 {
		c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"owner":"g","text":%q`, strings.Repeat("x", 500))))
	}
	var pages int
	afterwards(t, s, c, func() {
		if err := s.Write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		run(t, s.Write, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20))
	}, func() { run(t, s.Write, "PRAGMA max_page_count = 1000000") })
}

// TestGone moves the database file away temporarily.
func TestGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.db")
	s := opener(t, db.Options{Client: db.SQLite, Path: path, Now: time.Now})()
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("Ping returned %v, want db.ErrUnavailable", err)
	}
	if _, err := s.Sync(t.Context(), write.Change{Provider: "p", Put: []write.Document{component(t, "lost")}}); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("change returned %v, want db.ErrUnavailable", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("Ping with another file returned %v, want db.ErrUnavailable", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
}

func TestClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("Ping returned %v, want db.ErrUnavailable", err)
		}
	})
}

// TestCancelled checks that a cancelled call is not reported as a database
// failure.
func TestCancelled(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Sync(ctx, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
		if !errors.Is(err, context.Canceled) || errors.Is(err, db.ErrUnavailable) {
			t.Errorf("call returned %v, want context.Canceled only", err)
		}
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
	})
}

// TestWaitingLeavesRoom has another replica keep a transaction open. Writers
// that wait for it leave connections to readers.
func TestWaitingLeavesRoom(t *testing.T) {
	open := opener(t, db.Options{Client: db.Postgres, URL: database.Postgres(t).URL, Now: time.Now})
	s, other := open(), open()
	put(t, s, component(t, "a"))
	tx, err := other.Write.BeginTx(t.Context(), nil)
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
	for i := range 2 * s.Write.Stats().MaxOpenConnections {
		c := write.Change{Provider: fmt.Sprint("p", i), Put: []write.Document{component(t, fmt.Sprint("c", i))}}
		all.Go(func() {
			if _, err := s.Sync(waiting, c); !errors.Is(err, context.Canceled) {
				t.Errorf("waiting change returned %v, want context.Canceled", err)
			}
		})
	}
	// If waiting changes took all connections, they would have by then.
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		if s.Write.Stats().InUse == s.Write.Stats().MaxOpenConnections {
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
// packed, and checks that the migration converts the rows as writing does.
func TestFieldsOfBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		docs := append(randomDocuments(t, 40), component(t, "tied", `"owner":"pay-1"`, `"dependsOn":["component:a","component:b"]`))
		for i := range idset.MaxList {
			docs = append(docs, small(t, "API", fmt.Sprint("many-", i), "spec: {type: Many}"))
		}
		put(t, s, docs...)
		packed := func(s *Store) (all []string) {
			t.Helper()
			if err := database.Each(t.Context(), s.Read, "SELECT ref, packed FROM fields ORDER BY ref", nil, database.Into(&all)); err != nil {
				t.Fatal(err)
			}
			return all
		}
		want, wantPostings := packed(s), postingsOfRefs(t, s)
		_, err := mirror.New(s.DB).Observe(t.Context(), mirror.Observation{Source: "one", List: "definitions", Put: []mirror.Object{
			{Source: "one", List: "definitions", Key: "unit", Unit: "unit", Body: []byte("seen before there were findings")},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []string{
			"CREATE TABLE search (kid INTEGER NOT NULL, value TEXT NOT NULL, ref TEXT NOT NULL, original TEXT, PRIMARY KEY (kid, value, ref))",
			"CREATE TABLE terms (word TEXT NOT NULL, ref TEXT NOT NULL, PRIMARY KEY (word, ref))",
		} {
			if s.Client == db.Postgres {
				step = strings.ReplaceAll(step, "TEXT", `TEXT COLLATE "C"`)
			}
			if _, err := s.Write.ExecContext(t.Context(), step); err != nil {
				t.Fatal(step, err)
			}
		}
		for _, row := range wantPostings {
			f := strings.Split(row, "|")
			var err error
			switch {
			case f[0] == "0" && f[1] != "":
				_, err = s.Write.ExecContext(t.Context(), "INSERT INTO terms (word, ref) VALUES ($1, $2)", f[1], f[3])
			case f[0] > "0":
				_, err = s.Write.ExecContext(t.Context(), "INSERT INTO search (kid, value, ref, original) VALUES ($1, $2, $3, $4)", f[0], f[1], f[3], sql.NullString{String: f[2], Valid: f[2] != ""})
			}
			if err != nil {
				t.Fatal(row, err)
			}
		}
		for _, step := range []string{
			"DROP TABLE postings", "DROP TABLE last_id", "DROP INDEX entities_id", "ALTER TABLE entities DROP COLUMN id",
			"DROP INDEX tasks_template", "DROP INDEX entities_changed", "ALTER TABLE entities DROP COLUMN created_at", "ALTER TABLE entities DROP COLUMN changed_at",
			"DROP TABLE user_settings", "DROP TABLE task_objects", "DROP TABLE parts", "DROP TABLE changes", "DROP TABLE findings", "DROP TABLE unchecked", "ALTER TABLE runs DROP COLUMN changes", "ALTER TABLE object_bodies DROP COLUMN status",
			"DROP TABLE revoked_sessions", "ALTER TABLE tasks DROP COLUMN caller", "ALTER TABLE tasks DROP COLUMN subject",
			"DROP TABLE fences", "DROP TABLE departed",
			"DROP TABLE fields", "CREATE INDEX search_ref ON search (ref, kid)", "CREATE INDEX relations_declarer ON relations (declarer)",
			"INSERT INTO search (kid, value, ref) VALUES (1, 'a\x1eb', 'c')", "DELETE FROM goose_db_version WHERE version_id >= 4",
		} {
			if _, err := s.Write.ExecContext(t.Context(), step); err != nil {
				t.Fatal(step, err)
			}
		}
		again := opener(t, s.DB.Options)()
		if diff := gocmp.Diff(wantPostings, postingsOfRefs(t, again)); diff != "" {
			t.Errorf("postings (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(want, packed(again)); diff != "" || len(want) != len(docs) {
			t.Errorf("%d entities (-want +got):\n%s", len(want), diff)
		}
		page, err := again.Query(t.Context(), Query{Filter: filter.Has("metadata.tags.go"), Limit: NoLimit})
		if err != nil || len(page.Items) == 0 {
			t.Errorf("%d entities have the list item, want some: %v", len(page.Items), err)
		}
		if units, err := mirror.New(again.DB).Unchecked(t.Context(), 100); err != nil || len(units) != 1 || units[0].Name != "unit" {
			t.Errorf("unchecked units are %v, want one", units)
		}
	})
}

// postingsOfRefs returns all postings, each with the number of its key, the value, its
// spelling and the reference of an entity.
func postingsOfRefs(t *testing.T, s *Store) (all []string) {
	t.Helper()
	refs := map[uint32]string{}
	var id uint32
	var ref string
	err := database.Each(t.Context(), s.Read, "SELECT id, ref FROM entities", nil, func(rows *sql.Rows) error {
		err := rows.Scan(&id, &ref)
		refs[id] = ref
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = database.Each(t.Context(), s.Read, "SELECT kid, value, original, block, ids FROM postings", nil, func(rows *sql.Rows) error {
		var kid, value, original string
		var block int64
		var ids []byte
		if err := rows.Scan(&kid, &value, &original, &block, &ids); err != nil {
			return err
		}
		set := roaring.New()
		if err := idset.Add(set, block, ids); err != nil {
			return err
		}
		for _, id := range set.ToArray() {
			all = append(all, strings.Join([]string{kid, value, original, refs[id]}, "|"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

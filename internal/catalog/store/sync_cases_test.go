package store

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// TestUIDRetentionOfEach removes two entities at different times and adds both again:
// the retention of each counts from its own removal.
func TestUIDRetentionOfEach(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		s := New(open(), Options{UIDRetention: time.Hour})
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s.Now = func() time.Time { return now }
		uids := func() [2]string {
			t.Helper()
			var uids [2]string
			for i, ref := range []string{"component:default/a", "component:default/b"} {
				e, err := s.Get(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				uids[i] = e.UID
			}
			return uids
		}
		both := []write.Document{component(t, "a"), component(t, "b")}
		push(t, s, write.Change{Provider: "p", Full: true, Put: both})
		before := uids()
		push(t, s, write.Change{Provider: "p", Full: true, Put: both[1:]})
		now = now.Add(50 * time.Minute)
		push(t, s, write.Change{Provider: "p", Full: true})
		now = now.Add(20 * time.Minute)
		push(t, s, write.Change{Provider: "p", Full: true, Put: both})
		after := uids()
		if after[0] == before[0] {
			t.Error("entity that was removed 70 minutes ago has its old uid")
		}
		if after[1] != before[1] {
			t.Error("entity that was removed 20 minutes ago has a new uid")
		}
	})
}

// TestUpdateLocationForgets changes a location that this process has read:
// result and time of the old target are cleared.
func TestUpdateLocationForgets(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		l, err := s.AddLocation(t.Context(), "url", "https://example.dev/old")
		if err != nil {
			t.Fatal(err)
		}
		for _, minute := range []int64{1, 2} {
			if err := s.NoteLocation(t.Context(), l.ID, "not found", time.UnixMilli(60_000*minute)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := s.UpdateLocation(t.Context(), l.ID, "url", "https://example.dev/new")
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Location(t.Context(), l.ID)
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("(-want +got):\n%s%v", diff, err)
		}
		if got.Target != "https://example.dev/new" || got.Error != "" || !got.ReadAt.IsZero() {
			t.Errorf("location is %+v, want the new target without result", got)
		}
	})
}

// TestFailedCommit makes the commit of a change fail. Its new keys have no ids
// then: another replica can give these ids to other keys.
func TestFailedCommit(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"type":"x"`)}})
		exec := func(statements ...string) {
			t.Helper()
			for _, text := range statements {
				if _, err := s.Write.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
		}
		// The constraints are checked when a transaction commits.
		if s.Client == db.SQLite {
			exec("PRAGMA foreign_keys = ON",
				"CREATE TABLE probe (n INTEGER PRIMARY KEY, above INTEGER REFERENCES probe (n) DEFERRABLE INITIALLY DEFERRED)",
				"CREATE TRIGGER fails AFTER INSERT ON changes BEGIN INSERT INTO probe (above) VALUES (-1); END")
		} else {
			exec("CREATE FUNCTION fail() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no commit'; END $$ LANGUAGE plpgsql",
				"CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON changes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()")
		}
		before, err := s.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ours := write.Change{Provider: "p", Put: []write.Document{component(t, "b", `"ours":"y"`)}}
		if r, err := s.Sync(t.Context(), ours); err == nil {
			t.Fatalf("commit did not fail: %+v", r)
		}
		if after, err := s.Revision(t.Context()); after != before || err != nil {
			t.Errorf("revision is %d, want %d (%v)", after, before, err)
		}
		if s.Client == db.SQLite {
			exec("DROP TRIGGER fails")
		} else {
			exec("DROP TRIGGER fails ON changes")
		}
		push(t, replica, write.Change{Provider: "q", Put: []write.Document{component(t, "c", `"theirs":"z"`)}})
		if r := push(t, s, ours); r.Added != 1 {
			t.Errorf("second attempt returned %+v", r)
		}
		for key, want := range map[string]string{"spec.ours": "component:default/b", "spec.theirs": "component:default/c", "spec.type": "component:default/a"} {
			for name, by := range map[string]*Store{"the writer": s, "the replica": replica} {
				page, err := by.Query(t.Context(), Query{Filter: filter.Has(key), Limit: NoLimit})
				if diff := gocmp.Diff([]string{want}, refsOf(page.Items)); diff != "" || err != nil {
					t.Errorf("entities that %s finds by %s (-want +got):\n%s%v", name, key, diff, err)
				}
			}
		}
	})
}

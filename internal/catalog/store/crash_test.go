package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// crashPath is the environment variable by which TestCrash tells a child process
// which database to write until it is killed.
const crashPath = "STORE_CRASH_PATH"

// generation returns all documents of one generation. Every field of each has
// its number.
func generation(tb testing.TB, n, size int) []write.Document {
	tb.Helper()
	docs := []write.Document{group(tb, "even"), group(tb, "odd")}
	for i := range size {
		docs = append(docs, component(tb, fmt.Sprint("c", i),
			fmt.Sprintf(`"generation":"g%d","type":"t%[1]d","owner":%[2]q`, n, []string{"even", "odd"}[n%2])))
	}
	return docs
}

const crashSize = 150

// TestCrash kills a process that writes one generation after the other, at any
// moment, and checks that the database has exactly one complete generation.
func TestCrash(t *testing.T) {
	if path := os.Getenv(crashPath); path != "" {
		s := opener(t, db.Options{Client: db.SQLite, Path: path, Now: time.Now})()
		fmt.Println("ready")
		for n := range 10_000 {
			push(t, s, write.Change{Provider: "p", Full: true, Put: generation(t, n, crashSize)})
		}
		return
	}
	path := filepath.Join(t.TempDir(), "portal.db")
	opts := db.Options{Client: db.SQLite, Path: path, Now: time.Now}
	torn := 0
	for range 8 {
		database.Crash(t, "TestCrash", crashPath, path)
		if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
			torn++
		}
		s := opener(t, opts)()
		var broken []string
		if err := database.Each(t.Context(), s.Read, "PRAGMA integrity_check", nil, database.Into(&broken)); err != nil || broken[0] != "ok" {
			t.Fatalf("integrity check returned %v (%v)", broken, err)
		}
		whole(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if torn == 0 {
		t.Error("no kill left anything to recover")
	}
}

// whole checks that all rows are of one generation.
func whole(t *testing.T, s *Store) {
	t.Helper()
	page, err := s.Query(t.Context(), Query{Filter: filter.In("kind", "component"), Limit: NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) == 0 {
		return
	}
	if len(page.Items) != crashSize {
		t.Fatalf("database has %d entities", len(page.Items))
	}
	spec := decodeBody(t, page.Items[0].JSON).Get("spec")
	for _, e := range page.Items {
		if !decodeBody(t, e.JSON).Get("spec").Equal(spec) {
			t.Fatalf("%s is of another generation: %s", e.Ref, e.JSON)
		}
	}
	for _, q := range []Query{
		{Filter: filter.In("spec.generation", spec.Get("generation").Str())},
		{Filter: filter.In("relations.ownedBy", "group:default/"+spec.Get("owner").Str())},
		{Text: Text{Term: spec.Get("type").Str()}},
	} {
		q.Limit = NoLimit
		found, err := s.Query(t.Context(), q)
		if err != nil || len(found.Items) != crashSize {
			t.Errorf("query %+v found %d entities (%v)", q, len(found.Items), err)
		}
	}
	if got := len(linksOf(t, s, "group:default/"+spec.Get("owner").Str())); got != crashSize {
		t.Errorf("group owns %d entities", got)
	}
}

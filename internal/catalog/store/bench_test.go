package store

import (
	"fmt"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/test/database"
)

// benchDocs returns n documents of about 2.5 KB, all owned by one of a few
// groups.
func benchDocs(tb testing.TB, n int) []write.Document {
	tb.Helper()
	docs := make([]write.Document, n)
	filler := ""
	for len(filler) < 1200 {
		filler += "A database for everybody, with backups and a button to press. "
	}
	for i := range docs {
		text := fmt.Sprintf(`{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"service-%05d",
			"title":"Service Number %d","description":"Does what %d does.",
			"tags":["go","team-%d","tier-%d"],"labels":{"example.dev/version":"v%d","example.dev/tier":"gold"},
			"annotations":{"backstage.io/managed-by-location":"url:https://git.example.dev/repo-%d/catalog-info.yaml",
			"backstage.io/managed-by-origin-location":"url:https://git.example.dev/repo-%d/catalog-info.yaml",
			"example.dev/notes":%q},"links":[{"url":"https://dash.example.dev/%d","title":"Dashboard","icon":"dashboard"}]},
			"spec":{"type":"service","lifecycle":"production","owner":"group:default/team-%d","system":"system-%d",
			"providesApis":["api-%d"],"dependsOn":["resource:default/db-%d"]}}`,
			i, i, i, i%20, i%4, i%7, i, i, filler, i, i%20, i%100, i, i%500)
		nodes, errs := parser.DecodeBytes([]byte(text))
		if len(errs) > 0 {
			tb.Fatal(errs[0])
		}
		docs[i] = write.Document{Node: nodes[0]}
	}
	return docs
}

func openBench(tb testing.TB) *Store {
	tb.Helper()
	return opener(tb, database.SQLite(tb))()
}

func BenchmarkSyncEmpty(b *testing.B) {
	docs := benchDocs(b, 10_000)
	for b.Loop() {
		s := openBench(b)
		r, err := s.Sync(b.Context(), write.Change{Provider: "bench", Full: true, Put: docs})
		if err != nil || r.Added != len(docs) {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkSyncUnchanged(b *testing.B) {
	docs := benchDocs(b, 10_000)
	s := openBench(b)
	c := write.Change{Provider: "bench", Full: true, Put: docs}
	if _, err := s.Sync(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := s.Sync(b.Context(), c)
		if err != nil || r.Unchanged != len(docs) {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkSyncOne changes one entity, and with it a group that owns all others.
func BenchmarkSyncOne(b *testing.B) {
	docs := []write.Document{group(b, "team")}
	for i := range 10_000 {
		docs = append(docs, component(b, fmt.Sprint("c", i), `"owner":"team"`))
	}
	s := openBench(b)
	push(b, s, write.Change{Provider: "bench", Full: true, Put: docs})
	owners := []string{`"owner":"none"`, `"owner":"team"`}
	n := 0
	for b.Loop() {
		r := push(b, s, write.Change{Provider: "bench", Put: []write.Document{component(b, "c7", owners[n%2])}})
		if n++; r.Updated != 1 {
			b.Fatal(r)
		}
	}
}

package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

// mixedDocs returns documents of about 2.5 KB of several kinds and types, one
// batch at a time.
func mixedDocs(tb testing.TB, n int, add func([]write.Document)) {
	tb.Helper()
	const part = 10_000
	for from := 0; from < n; from += part {
		docs := benchDocs(tb, min(part, n-from))
		for i := range docs {
			at := from + i
			node := docs[i].Node
			kind := []string{"Component", "Component", "Component", "API", "Resource"}[at%5]
			node.Set("kind", tree.Str(kind))
			node.Get("metadata").Set("name", tree.Str(fmt.Sprintf("%s-%06d", []string{"pay", "bill", "ship"}[at%3], at)))
			node.Get("spec").Set("type", tree.Str([]string{"service", "website", "library"}[at/5%3]))
		}
		add(docs)
	}
}

// onSizes runs a benchmark on catalogs of two sizes.
func onSizes(b *testing.B, bench func(b *testing.B, s *Store)) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%dk", n/1000), func(b *testing.B) {
			bench(b, benchStore(b, n))
		})
	}
}

var benchPostgres = flag.Bool("pg", false, "benchmark reading from PostgreSQL instead of SQLite")

// benchStores are the catalogs of benchmarks. Each is filled once, and is closed
// and removed by endBenchmarks.
var benchStores = map[int]*Store{}

var benchDirs []string

func benchStore(b *testing.B, n int) *Store {
	b.Helper()
	if s := benchStores[n]; s != nil {
		return s
	}
	opts := db.Options{Client: db.Postgres, Now: time.Now}
	if *benchPostgres {
		opts.URL = database.Postgres(b).URL
	} else {
		dir, err := os.MkdirTemp("", "ingestor-store-bench-")
		if err != nil {
			b.Fatal(err)
		}
		benchDirs = append(benchDirs, dir)
		opts.Client, opts.Path = db.SQLite, filepath.Join(dir, "portal.db")
	}
	d, err := db.Open(context.Background(), opts)
	if err != nil {
		b.Fatal(err)
	}
	s := New(d, Options{})
	benchStores[n] = s
	mixedDocs(b, n, func(docs []write.Document) {
		if _, err := s.Sync(context.Background(), write.Change{Provider: "bench", Put: docs}); err != nil {
			b.Fatal(err)
		}
	})
	return s
}

func endBenchmarks() {
	for _, s := range benchStores {
		_ = s.Close()
	}
	for _, dir := range benchDirs {
		_ = os.RemoveAll(dir)
	}
}

// loop runs f, and also reports its CPU time, which other processes do not
// affect.
func loop(b *testing.B, f func(i int) error) {
	b.Helper()
	b.ReportAllocs()
	start := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		if err := f(i); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/float64(b.N), "cpu-µs/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkGet(b *testing.B) {
	onSizes(b, func(b *testing.B, s *Store) {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		page, err := s.Query(ctx, Query{Limit: 1000})
		if err != nil {
			b.Fatal(err)
		}
		loop(b, func(i int) error {
			_, err := s.Get(ctx, page.Items[i%len(page.Items)].Ref)
			return err
		})
	})
}

func BenchmarkQuery(b *testing.B) {
	kind := filter.In("kind", "component")
	typed := filter.All(kind, filter.In("spec.type", "website"))
	byName := []Order{{Field: "metadata.name"}}
	for name, q := range map[string]Query{
		"List100":        {Limit: 100},
		"Page20":         {Limit: 20, Total: true},
		"KindList100":    {Filter: kind, Limit: 100},
		"Kind":           {Filter: kind, Limit: 20, Total: true},
		"KindByName":     {Filter: kind, Limit: 20, Total: true, Order: byName},
		"Type":           {Filter: typed, Limit: 20, Total: true},
		"TypeByName":     {Filter: typed, Limit: 20, Total: true, Order: byName},
		"TypeByTitle":    {Filter: typed, Limit: 20, Total: true, Order: []Order{{Field: "metadata.title", Desc: true}}},
		"ByTypeAndName":  {Filter: kind, Limit: 20, Total: true, Order: []Order{{Field: "spec.type"}, {Field: "metadata.name"}}},
		"Owner":          {Filter: filter.In("relations.ownedBy", "group:default/team-3"), Limit: 20, Total: true},
		"KindsOrOwner":   {Filter: filter.Any(filter.In("kind", "api", "resource"), filter.In("spec.owner", "group:default/team-3")), Limit: 20, Total: true},
		"Offset5000":     {Filter: kind, Limit: 20, Offset: 5000, Total: true},
		"Word":           {Text: Text{Term: "numb pay"}, Limit: 20, Total: true},
		"RareWord":       {Text: Text{Term: "pay-000300"}, Limit: 20, Total: true},
		"InsideTitle":    {Text: Text{Term: "ber 77", Fields: []string{"metadata.title"}}, Limit: 20, Total: true},
		"NotTagByName":   {Filter: filter.Not(filter.In("metadata.tags", "tier-1")), Limit: 20, Total: true, Order: byName},
		"TagsByTagsDesc": {Filter: filter.Has("metadata.tags"), Limit: 20, Total: true, Order: []Order{{Field: "metadata.tags", Desc: true}}},
	} {
		b.Run(name, func(b *testing.B) {
			onSizes(b, func(b *testing.B, s *Store) {
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				start := time.Now()
				if _, err := s.Query(ctx, q); err != nil {
					b.Fatal(err)
				}
				first := time.Since(start)
				loop(b, func(int) error {
					_, err := s.Query(ctx, q)
					return err
				})
				b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
			})
		})
	}
}

func BenchmarkEach(b *testing.B) {
	onSizes(b, func(b *testing.B, s *Store) {
		loop(b, func(int) error {
			return s.Each(b.Context(), Query{Limit: NoLimit}, func(*Entity) error { return nil })
		})
	})
}

// BenchmarkCold measures what is cached otherwise.
func BenchmarkCold(b *testing.B) {
	kind := filter.In("kind", "component")
	for name, ask := range map[string]func(s *Store) error{
		"Facets": func(s *Store) error {
			_, err := s.Facets(b.Context(), []string{"spec.type", "metadata.tags"}, kind, Text{})
			return err
		},
		"FacetsOfText": func(s *Store) error {
			_, err := s.Facets(b.Context(), []string{"spec.type", "metadata.tags"}, filter.Filter{}, Text{Term: "service"})
			return err
		},
		"Digest": func(s *Store) error {
			_, err := s.Digest(b.Context(), Query{Filter: kind, Limit: NoLimit})
			return err
		},
		"Total": func(s *Store) error {
			_, err := s.Query(b.Context(), Query{Filter: filter.All(kind, filter.In("spec.type", "website")), Total: true})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			onSizes(b, func(b *testing.B, s *Store) {
				loop(b, func(int) error {
					s.cache = cache.New(s.Now)
					return ask(s)
				})
			})
		})
	}
}

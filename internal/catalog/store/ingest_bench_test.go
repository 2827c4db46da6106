package store

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/test/database"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

// sampleEntities returns, as JSON, the entities of a definition whose number is
// 0: Template, API and Resource.
func sampleEntities(tb testing.TB) []string {
	tb.Helper()
	var set xrd.Set
	if err := set.Read(bytes.NewReader(sample.Definition(0)), xrd.Origin{File: "sample.yaml"}); err != nil {
		tb.Fatal(err)
	}
	out, err := engine.New(engine.ComposerIngestor, engine.Options{}, engine.Hooks{}).Transform(engine.Input{Definition: set.Definitions[0]})
	if err != nil || len(out.Entities) != 3 {
		tb.Fatalf("engine returned %d entities, want 3 (%v)", len(out.Entities), err)
	}
	var all []string
	for _, e := range out.Entities {
		all = append(all, string(entity.AppendJSON(nil, e)))
	}
	return all
}

// sampleChanges returns the changes of the providers from..to, as ingestion
// writes them.
func sampleChanges(tb testing.TB, entities []string, from, to int) []write.Change {
	tb.Helper()
	var changes []write.Change
	for i := from; i < to; i++ {
		c := write.Change{Provider: fmt.Sprint("definition:", i), Full: true}
		for _, text := range entities {
			text = strings.NewReplacer("xsamples0", fmt.Sprint("xsamples", i), "Sample0", fmt.Sprint("Sample", i),
				"Sample 0", fmt.Sprint("Sample ", i), "samples0", fmt.Sprint("samples", i)).Replace(text)
			n, err := wire.Decoder{}.Decode([]byte(text))
			if err != nil {
				tb.Fatal(err)
			}
			c.Put = append(c.Put, write.Document{Node: n})
		}
		changes = append(changes, c)
	}
	return changes
}

// cpuSeconds returns the CPU time of this process, as wall time says little on a
// shared machine.
func cpuSeconds(tb testing.TB) float64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// megabytesWritten returns how much this process has written to files, which
// does not depend on other processes; 0 where it is not counted.
func megabytesWritten(tb testing.TB) float64 {
	tb.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "wchar: ")
	text, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n / 1e6
}

// BenchmarkSyncAllFirst fills an empty catalog with the entities of 5,000
// definitions, in batches of several sizes. It reports wall and CPU seconds,
// without preparing the documents.
func BenchmarkSyncAllFirst(b *testing.B) {
	const definitions = 5000
	entities := sampleEntities(b)
	for _, size := range []int{170, 500} {
		b.Run(fmt.Sprint(3*size), func(b *testing.B) {
			var wall, cpu float64
			for b.Loop() {
				s := openIngest(b)
				for from := 0; from < definitions; from += size {
					changes := sampleChanges(b, entities, from, min(from+size, definitions))
					start, used := time.Now(), cpuSeconds(b)
					results, err := s.SyncAll(b.Context(), changes)
					if err != nil || results[0].Added != 3 {
						b.Fatal(results, err)
					}
					wall += time.Since(start).Seconds()
					cpu += cpuSeconds(b) - used
				}
			}
			b.ReportMetric(wall/float64(b.N), "s/15k")
			b.ReportMetric(cpu/float64(b.N), "cpu-s/15k")
		})
	}
}

func openIngest(b *testing.B) *Store {
	if *benchPostgres {
		return opener(b, database.Postgres(b))()
	}
	return openBench(b)
}

// BenchmarkSyncAllUnchanged writes the same catalog again, 500 providers per
// call.
func BenchmarkSyncAllUnchanged(b *testing.B) {
	s := openIngest(b)
	changes := sampleChanges(b, sampleEntities(b), 0, 500)
	if _, err := s.SyncAll(b.Context(), changes); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		results, err := s.SyncAll(b.Context(), changes)
		if err != nil || results[0].Unchanged != 3 {
			b.Fatal(results, err)
		}
	}
}

// BenchmarkSyncAllAtOnce is BenchmarkSyncAllFirst as ingestion does it: several
// concurrent calls, each with documents that it has prepared. Preparing the
// documents counts too.
func BenchmarkSyncAllAtOnce(b *testing.B) {
	const definitions, size, workers = 5000, 150, 3
	entities := sampleEntities(b)
	var wall, cpu, written float64
	for b.Loop() {
		s := openIngest(b)
		start, used, wrote := time.Now(), cpuSeconds(b), megabytesWritten(b)
		starts := make(chan int)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for from := range starts {
					changes := sampleChanges(b, entities, from, min(from+size, definitions))
					for i := range changes {
						for j, d := range changes[i].Put {
							changes[i].Put[j] = write.Document{Prepared: write.Prepare(d.Node)}
						}
					}
					if _, err := s.SyncAll(b.Context(), changes); err != nil {
						b.Error(err)
					}
				}
			})
		}
		for from := 0; from < definitions; from += size {
			starts <- from
		}
		close(starts)
		wg.Wait()
		wall += time.Since(start).Seconds()
		cpu += cpuSeconds(b) - used
		written += megabytesWritten(b) - wrote
	}
	b.ReportMetric(written/float64(b.N), "MB/15k")
	b.ReportMetric(wall/float64(b.N), "s/15k")
	b.ReportMetric(cpu/float64(b.N), "cpu-s/15k")
}

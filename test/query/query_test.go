package query

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/test/postgres"
	"example.dev/ingestor/test/size"
)

var (
	seed = flag.Uint64("seed", 1, "seed of the random requests")
	only = flag.Int("request", -1, "number of the only request")
)

// The numbers of requests.
const (
	usual = 1200
	full  = 20_000
)

// leastHits is the share of requests that must find some entities and not all.
const leastHits = 0.33

var servers postgres.Shared

func TestMain(m *testing.M) {
	os.Exit(servers.End(m.Run()))
}

// TestQueries compares the answers to random requests.
func TestQueries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "portal.sqlite")
	w := start(t, map[string]any{"client": "sqlite", "connection": map[string]any{"filename": path}}, &servers)
	n := size.Of(usual, full)
	s := &summary{used: map[string]int{}}
	s.run(t, w, n)
	s.report(t, n)
}

// TestQueriesOnPostgres does the same with fewer requests, to a portal on PostgreSQL.
func TestQueriesOnPostgres(t *testing.T) {
	if *only >= 0 {
		t.Skip("the request is for TestQueries")
	}
	w := start(t, map[string]any{"client": "pg", "connection": servers.Database(t)}, &servers)
	n := size.Of(usual, full) / 10
	s := &summary{used: map[string]int{}}
	s.run(t, w, n)
	s.report(t, n)
}

// summary counts what a run found.
type summary struct {
	mu       sync.Mutex
	used     map[string]int
	hits     int
	failures int
}

// run compares the answers to n requests.
func (s *summary) run(t *testing.T, w *world, n int) {
	var next atomic.Int64
	if *only >= 0 {
		next.Store(int64(*only))
		n = *only + 1
	}
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				s.compare(t, w, i)
			}
		})
	}
	running.Wait()
}

// mostFailures is the number of differences after which no more are printed.
const mostFailures = 20

// compare compares the answers to the request with a number.
func (s *summary) compare(t *testing.T, w *world, number int64) {
	r := w.index.request(*seed, uint64(number))
	c := &comparison{w: w, ctx: t.Context(), request: r}
	err := c.run()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.hit() {
		s.hits++
	}
	for name := range c.used {
		s.used[name]++
	}
	if err != nil {
		if s.failures++; s.failures <= mostFailures {
			t.Errorf("request %d: %s\n%v", number, r, err)
		}
	}
	if *only >= 0 {
		t.Logf("request %d: %s\nours: %+v\nreal: %+v\nmemory: %+v\nexplanations: %v", number, r, c.ours, c.real, c.memory, slices.Sorted(maps.Keys(c.used)))
	}
}

// report prints the summary and checks it.
func (s *summary) report(t *testing.T, n int) {
	var b strings.Builder
	reasons := map[string]string{}
	for name, e := range explanations {
		reasons[name] = e.reason
	}
	for name, e := range memoryExplanations {
		reasons[name] = e.reason
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&b, "\n%6d %s: %s", s.used[name], name, reasons[name])
		if s.used[name] == 0 && n == full && *only < 0 && *seed == 1 {
			t.Errorf("explanation %q was not used: remove it", name)
		}
	}
	t.Logf("%d requests, %d of them with some entities and not all, %d unexplained; uses of explanations:%s", n, s.hits, s.failures, b.String())
	if *only < 0 && float64(s.hits) < leastHits*float64(n) {
		t.Errorf("%d of %d requests found some entities and not all, want at least %.0f%%", s.hits, n, 100*leastHits)
	}
	if s.failures > 0 {
		t.Errorf("%d requests have an answer without an explanation", s.failures)
	}
}

// comparison is a request with the answers of all catalogs.
type comparison struct {
	w       *world
	ctx     context.Context
	request *request

	ours, real, memory *answer
	// found are the references that the request selects.
	found []string
	// used are the explanations of the differences.
	used map[string]bool
}

// run asks all catalogs and explains the differences.
func (c *comparison) run() (err error) {
	c.used = map[string]bool{}
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	c.ctx = ctx
	for _, of := range []struct {
		ask catalog
		to  **answer
	}{{c.w.ours, &c.ours}, {c.w.real, &c.real}, {c.w.memory, &c.memory}} {
		if *of.to, err = of.ask(ctx, c.request); err != nil {
			return err
		}
	}
	if err := c.find(); err != nil {
		return err
	}
	if err := c.explainReal(); err != nil {
		return err
	}
	return c.explainMemory()
}

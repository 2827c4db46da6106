package ingest

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/health"
)

// counting counts the batches of units that are loaded, and holds each until as many
// as are wanted are loaded concurrently.
type counting struct {
	want int

	mu     sync.Mutex
	sizes  []int
	now    int
	most   int
	enough chan struct{}
}

// reached is a hook of Options.
func (c *counting) reached(step, detail string) {
	switch step {
	case "load":
		c.load(detail)
	case "loaded":
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}
}

func (c *counting) load(size string) {
	n, _ := strconv.Atoi(size)
	c.mu.Lock()
	c.sizes = append(c.sizes, n)
	c.now++
	if c.most = max(c.most, c.now); c.most == c.want && c.enough != nil {
		close(c.enough)
		c.enough = nil
	}
	enough := c.enough
	c.mu.Unlock()
	if enough != nil {
		select {
		case <-enough:
		case <-time.After(10 * time.Second):
		}
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason      string
		definitions int
		processing  batch.Processing
		sizes       []int
	}{
		"Usual":    {"Size and number of concurrent batches follow the configuration.", 25, batch.Processing{BatchSize: 10, Parallelism: 3}, []int{10, 10, 5}},
		"Ones":     {"A batch can be one unit.", 6, batch.Processing{BatchSize: 1, Parallelism: 2}, []int{1, 1, 1, 1, 1, 1}},
		"OneByOne": {"Batches can be processed one at a time.", 9, batch.Processing{BatchSize: 3, Parallelism: 1}, []int{3, 3, 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := &counting{want: tc.processing.Parallelism, enough: make(chan struct{})}
			b := newHarness(t, []string{"files"}, func(o *Options) {
				o.reached, o.Processing = count.reached, tc.processing
			})
			for i := range tc.definitions {
				b.sources["files"].set(fmt.Sprint(i), definition(fmt.Sprintf("d%d", i), "one"))
			}
			run, err := b.read(t, "files")
			if err != nil || run.Units != tc.definitions || run.Added != 3*tc.definitions {
				t.Fatalf("%s\nrun is %+v, %v", tc.reason, run, err)
			}
			slices.SortFunc(count.sizes, func(a, b int) int { return b - a })
			if diff := cmp.Diff(tc.sizes, count.sizes); diff != "" {
				t.Errorf("%s\nsizes of batches differ: %s", tc.reason, diff)
			}
			if count.most != tc.processing.Parallelism {
				t.Errorf("%s\n%d batches ran concurrently, want %d", tc.reason, count.most, tc.processing.Parallelism)
			}
		})
	}
}

// crowded counts concurrent transforms, and blocks each until the limit is
// reached.
type crowded struct {
	engine.Transformer
	*crowd
}

type crowd struct {
	want      int64
	now, most atomic.Int64
	full      chan struct{}
}

// Transform implements engine.Transformer.
func (c crowded) Transform(in engine.Input) (engine.Result, error) {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); now > most; most = c.most.Load() {
		if c.most.CompareAndSwap(most, now) && now == c.want {
			close(c.full)
		}
	}
	select {
	case <-c.full:
	case <-time.After(10 * time.Second):
	}
	// This is long enough for a transform above the limit to start.
	time.Sleep(5 * time.Millisecond)
	return c.Transformer.Transform(in)
}

// TestProcessors checks that writers do not wait for transforms, however many
// batches are processed concurrently.
func TestProcessors(t *testing.T) {
	t.Parallel()
	have := runtime.GOMAXPROCS(0)
	all := &crowd{want: int64(max(1, have-1)), full: make(chan struct{})}
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Now, o.Processing = time.Now, batch.Processing{BatchSize: 1, Parallelism: have + 3}
		o.Variants[0].Extension.Transformer = func(e engine.Transformer) engine.Transformer { return crowded{e, all} }
	})
	definitions := 5 * (have + 3)
	for i := range definitions {
		b.sources["files"].set(fmt.Sprint(i), definition(fmt.Sprintf("d%d", i), "one"))
	}
	begun := time.Now()
	run, err := b.read(t, "files")
	if err != nil || run.Added != 3*definitions {
		t.Fatalf("run returned %+v, %v; want three entities per definition", run, err)
	}
	// Waiting for a CPU slot does not count as transform time: otherwise the sum
	// would exceed the CPU time.
	if spent := time.Duration(run.Phases["transform"]) * time.Millisecond; spent == 0 || spent > time.Duration(have)*time.Since(begun) {
		t.Errorf("run took %v, with a transform time of %v on %d processors", time.Since(begun), spent, have)
	}
	if most := all.most.Load(); most != all.want {
		t.Errorf("%d definitions were transformed concurrently on %d processors, want %d", most, have, all.want)
	}
}

// breaking panics on a definition while it is broken.
type breaking struct {
	engine.Transformer
	mu    *sync.Mutex
	seen  *int
	whole *bool
}

func (b breaking) Transform(in engine.Input) (engine.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if in.Definition.Name == "bad.example.org" {
		if *b.seen++; !*b.whole {
			panic("it breaks")
		}
	}
	return b.Transformer.Transform(in)
}

// broken returns a harness with a definition that breaks the engine beside a
// valid one.
func broken(t *testing.T, change func(*Options)) (b *harness, seen func() int, mend func()) {
	t.Helper()
	var mu sync.Mutex
	count, whole := 0, false
	b = newHarness(t, []string{"files"}, func(o *Options) {
		o.Variants[0].Extension.Transformer = func(e engine.Transformer) engine.Transformer { return breaking{e, &mu, &count, &whole} }
		change(o)
	})
	b.sources["files"].set("bad", definition("bad", "one"))
	b.sources["files"].set("good", definition("good", "one"))
	return b, func() int {
			mu.Lock()
			defer mu.Unlock()
			return count
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			whole = true
		}
}

func TestPanicked(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		stacks bool
	}{
		"Stacks":   {"The stack is logged if stacks are enabled.", true},
		"NoStacks": {"The stack is not logged by default.", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, _ := broken(t, func(o *Options) { o.Variants[0].Stacks = tc.stacks })
			if _, err := b.read(t, "files"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.log.String(), "goroutine"); got != tc.stacks {
				t.Errorf("%s\n%s", tc.reason, b.log)
			}
			if !strings.Contains(b.log.String(), "it breaks") {
				t.Errorf("panic was not logged: %s", b.log)
			}
			if n := len(b.catalog.entries()); n != 3 {
				t.Errorf("catalog has %d entities, want the 3 of the valid definition", n)
			}
			h, err := b.Health(t.Context(), 3)
			if err != nil || h.Status != health.Degraded || !strings.Contains(h.Failures["bad.example.org"], "it breaks") {
				t.Errorf("health is %+v, %v; want it degraded with the failure", h, err)
			}
		})
	}
}

// TestRetried checks that a failed unit is retried automatically, and later only
// by a scan.
func TestRetried(t *testing.T) {
	t.Parallel()
	b, seen, mend := broken(t, func(o *Options) {
		o.Processing.RetryAttempts, o.Processing.RetryDelay = 2, time.Millisecond
		queued(t, o)
	})
	// The schedule begins with a scan.
	b.start(t)
	deadline := time.Now().Add(30 * time.Second)
	for seen() < 3 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	if n := seen(); n != 3 {
		t.Errorf("unit was tried %d times, want 3", n)
	}
	mend()
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	if n := len(b.catalog.entries()); n != 6 {
		t.Errorf("catalog has %d entities after the fix, want 6", n)
	}
	if h, err := b.Health(t.Context(), 6); err != nil || h.Status != health.Healthy {
		t.Errorf("health is %+v, %v; want healthy", h, err)
	}
}

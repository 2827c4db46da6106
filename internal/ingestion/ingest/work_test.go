package ingest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
)

// counting is a Memory that counts the batches it is asked for, and holds each
// until as many as are wanted are asked for at once.
type counting struct {
	Memory
	want int

	mu     sync.Mutex
	sizes  []int
	now    int
	most   int
	enough chan struct{}
}

func (c *counting) UnitObjects(ctx context.Context, units []string) ([]mirror.Object, error) {
	c.mu.Lock()
	c.sizes = append(c.sizes, len(units))
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
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	return c.Memory.UnitObjects(ctx, units)
}

func TestBatches(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason      string
		definitions int
		processing  Processing
		sizes       []int
	}{
		"Usual":    {"Batches are as large as the configuration says, as many at once as it says.", 25, Processing{BatchSize: 10, Parallelism: 3}, []int{10, 10, 5}},
		"Ones":     {"A batch may be one unit.", 6, Processing{BatchSize: 1, Parallelism: 2}, []int{1, 1, 1, 1, 1, 1}},
		"OneByOne": {"Nothing need go on at once.", 9, Processing{BatchSize: 3, Parallelism: 1}, []int{3, 3, 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := &counting{want: tc.processing.Parallelism, enough: make(chan struct{})}
			b := newHarness(t, []string{"files"}, func(o *Options) {
				count.Memory, o.Memory, o.Processing = o.Memory, count, tc.processing
			})
			for i := range tc.definitions {
				b.sources["files"].set(fmt.Sprint(i), definition(fmt.Sprintf("d%d", i), "one"))
			}
			run, err := b.read(t, "files")
			if err != nil || run.Units != tc.definitions || run.Added != 3*tc.definitions {
				t.Fatalf("%s\nrun %+v, %v", tc.reason, run, err)
			}
			slices.SortFunc(count.sizes, func(a, b int) int { return b - a })
			if diff := cmp.Diff(tc.sizes, count.sizes); diff != "" {
				t.Errorf("%s\nsizes of batches: %s", tc.reason, diff)
			}
			if count.most != tc.processing.Parallelism {
				t.Errorf("%s\n%d batches at once, want %d", tc.reason, count.most, tc.processing.Parallelism)
			}
		})
	}
}

// crowded counts how many transform at once, and has those who come wait until
// there are as many as may.
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
	// Long enough for one more than may to come in.
	time.Sleep(5 * time.Millisecond)
	return c.Transformer.Transform(in)
}

// TestProcessors holds that whoever writes need not wait for those who transform,
// however many batches are worked on at once.
func TestProcessors(t *testing.T) {
	t.Parallel()
	have := runtime.GOMAXPROCS(0)
	all := &crowd{want: int64(max(1, have-1)), full: make(chan struct{})}
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Now, o.Processing = time.Now, Processing{BatchSize: 1, Parallelism: have + 3}
		o.Variants[0].Extension.Transformer = func(e engine.Transformer) engine.Transformer { return crowded{e, all} }
	})
	definitions := 5 * (have + 3)
	for i := range definitions {
		b.sources["files"].set(fmt.Sprint(i), definition(fmt.Sprintf("d%d", i), "one"))
	}
	begun := time.Now()
	run, err := b.read(t, "files")
	if err != nil || run.Added != 3*definitions {
		t.Fatalf("run %+v, %v", run, err)
	}
	// Whoever waits for a processor does not transform: all of them together
	// would have transformed longer than the processors had time.
	if spent := time.Duration(run.Phases["transform"]) * time.Millisecond; spent == 0 || spent > time.Duration(have)*time.Since(begun) {
		t.Errorf("the run took %v, and transformed for %v of it on %d processors", time.Since(begun), spent, have)
	}
	if most := all.most.Load(); most != all.want {
		t.Errorf("%d definitions are transformed at once on %d processors, want %d", most, have, all.want)
	}
}

// breaking panics on a definition, as long as it is broken.
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

// broken is a kitchen with a definition that breaks the engine beside one that
// does not.
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
		"Stacks":   {"Where it broke is logged if that is wanted.", true},
		"NoStacks": {"Nobody wants to see a stack unasked.", false},
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
				t.Errorf("that it broke is not logged: %s", b.log)
			}
			if n := len(b.catalog.entries()); n != 3 {
				t.Errorf("the catalog has %d entities of the one that is well", n)
			}
			h, err := b.Health(t.Context(), 3)
			if err != nil || h.Status != Degraded || !strings.Contains(h.Failures["bad.example.org"], "it breaks") {
				t.Errorf("health is %+v, %v", h, err)
			}
		})
	}
}

// TestRetried has a unit fail that is tried again by itself, and then only by a
// scan.
func TestRetried(t *testing.T) {
	t.Parallel()
	b, seen, mend := broken(t, func(o *Options) {
		o.Processing.RetryAttempts, o.Processing.RetryDelay = 2, time.Millisecond
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Run(ctx)
	}()
	defer func() {
		stop()
		<-ended
	}()
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for seen() < 3 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	if n := seen(); n != 3 {
		t.Errorf("it was tried %d times, want 3", n)
	}
	mend()
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	if n := len(b.catalog.entries()); n != 6 {
		t.Errorf("mended, there are %d entities, want 6", n)
	}
	if h, err := b.Health(t.Context(), 6); err != nil || h.Status != Healthy {
		t.Errorf("health is %+v, %v", h, err)
	}
}

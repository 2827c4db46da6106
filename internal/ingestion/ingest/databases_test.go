package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/batch"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/source"
	"example.dev/ingestor/test/database"
)

// TestDatabases runs the tests that depend on the database with each database.
// open opens it as another replica would.
func TestDatabases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, open func() *mirror.Mirror){"LongKinds": longKinds, "Workers": twoWorkers, "HeldUp": heldUp} {
		t.Run(name, func(t *testing.T) {
			database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
				open := func() *mirror.Mirror { return mirror.New(openDB()) }
				if first := open(); first.Client == db.SQLite {
					// SQLite has no other process.
					open = func() *mirror.Mirror { return first }
				}
				test(t, open)
			})
		})
	}
}

// longKinds uses names longer than the index limits of databases.
func longKinds(t *testing.T, open func() *mirror.Mirror) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	var long strings.Builder
	for long.Len() < 6<<10 {
		// Repetitive text would be compressed.
		fmt.Fprintf(&long, "%x", random.Uint64())
	}
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, strings.Replace(definition("bs", "one"), "kind: Xbs", "kind: X"+long.String(), 1), 51)
	a.put(t, aComposition("small", "as"), 52)
	a.put(t, aComposition("large", long.String()), 53)
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Variants[0].Clusters = []source.Cluster{a.settings()}
		o.Mirror = open()
	})
	b.visits(t)
	files := b.sources["files"]
	files.set("c", definition("cs", "one"))
	files.set("long", definition(long.String(), "one"))
	files.set("large", aComposition("larger", long.String()))
	b.reads(t, "files")
	for _, ref := range append(three("as", "cs"), "Resource small-composition", "Resource large-composition") {
		if b.catalog.entries()[ref] == "" {
			t.Errorf("catalog has no entity %s", ref)
		}
	}
	if h, _ := b.healthOf(t); h.Status != health.Healthy {
		t.Errorf("health is %+v, want healthy", h)
	}
}

// turns is the catalog of a replica that runs a function during a write.
type turns struct {
	Catalog
	inside  atomic.Int32
	meeting func()
	once    sync.Once
}

// Put implements Catalog.
func (c *turns) Put(ctx context.Context, outcomes []unit.Build) ([]batch.Written, error) {
	c.inside.Add(1)
	defer c.inside.Add(-1)
	c.once.Do(c.meeting)
	return c.Catalog.Put(ctx, outcomes)
}

// intruder is the catalog of another replica. It detects writes during those of
// the first.
type intruder struct {
	*turns
	together chan struct{}
}

// Put implements Catalog.
func (c intruder) Put(ctx context.Context, outcomes []unit.Build) ([]batch.Written, error) {
	if c.inside.Load() > 0 {
		c.together <- struct{}{}
	}
	return c.Catalog.Put(ctx, outcomes)
}

// twoWorkers starts a replica while another one processes the same units.
func twoWorkers(t *testing.T, open func() *mirror.Mirror) {
	t.Helper()
	const definitions = 30
	first := open()
	catalog := &turns{}
	late := intruder{catalog, make(chan struct{}, 100)}
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Mirror, catalog.Catalog, o.Catalog = first, o.Catalog, catalog
	})
	waits := make(chan struct{}, 100)
	other := b.joining(t, []string{"files"}, func(o *Options) {
		o.Mirror, o.Catalog = open(), late
		o.reached = func(step, _ string) {
			if step == "lock" {
				waits <- struct{}{}
			}
		}
	})
	for i := range definitions {
		b.sources["files"].set(fmt.Sprint(i), definition(fmt.Sprintf("d%d", i), "one"))
	}
	if _, err := b.targets[0].Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	var second sync.WaitGroup
	var total [2]batch.Tally
	catalog.meeting = func() {
		second.Go(func() {
			var err error
			if total[1], err = other.processor.Process(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		wait := time.After(20 * time.Second)
		for {
			select {
			case <-waits:
				// Without the lock, the other replica would write now.
				wait = time.After(200 * time.Millisecond)
				continue
			case <-late.together:
				t.Error("two replicas wrote at the same time")
			case <-wait:
			}
			return
		}
	}
	var err error
	if total[0], err = b.processor.Process(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.Wait()
	if total[0].Units != definitions || total[1].Units != 0 {
		t.Errorf("of %d units the first replica processed %d and the second %d, want all and 0", definitions, total[0].Units, total[1].Units)
	}
	if n := len(b.catalog.entries()); n != 3*definitions {
		t.Errorf("catalog has %d entities, want three per definition", n)
	}
	if units, err := first.Units(t.Context(), 10); len(units) != 0 || err != nil {
		t.Errorf("units %v are still dirty (%v), want none", units, err)
	}
}

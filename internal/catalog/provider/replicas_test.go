package provider

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/jobs"
)

// replicas creates two providers on one PostgreSQL, whose jobs do not run yet.
func replicas(t *testing.T, opts Options) (first, second *harness) {
	t.Helper()
	url := shared.Database(t)
	return openHarness(t, url, opts), openHarness(t, url, opts)
}

// refresh requests a refresh of component a.
func (f *harness) refresh() {
	f.t.Helper()
	if res := f.do(http.MethodPost, "/refresh", `{"entityRef":"component:default/a"}`); res.status != http.StatusOK {
		f.t.Fatalf("refresh returned %d %s, want 200", res.status, res.body)
	}
}

// TestOneReadingPerInterval counts the readings of two replicas.
func TestOneReadingPerInterval(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval = time.Second
	first, second := replicas(t, opts)
	first.run()
	second.run()
	second.register("url", s.URL+"/a.yaml")
	first.untilRefs("the entity", "component:default/a")
	before, began := s.times("/a.yaml"), time.Now()
	time.Sleep(6 * opts.Config.Interval)
	got, intervals := s.times("/a.yaml")-before, int(time.Since(began)/opts.Config.Interval)
	if got < intervals/2 || got > intervals+2 {
		t.Errorf("two replicas read a location %d times in %d intervals", got, intervals)
	}
}

// TestRefreshByAnyReplica requests refreshes at two replicas. Only a complete
// read sees a change, because the ETag stays the same.
func TestRefreshByAnyReplica(t *testing.T) {
	s := newSite(t)
	s.tag = `"same"`
	s.set("/a.yaml", component("a", "x"))
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval = time.Hour
	first, second := replicas(t, opts)
	first.run()
	second.run()
	first.register("url", s.URL+"/a.yaml")
	second.untilRefs("the entity", "component:default/a")
	text, want := component("a", "x"), []string{"component:default/a"}
	for i := range 6 {
		name := fmt.Sprintf("b%d", i)
		text, want = text+component(name, "x"), append(want, "component:default/"+name)
		s.set("/a.yaml", text)
		[]*harness{first, second}[i%2].refresh()
		first.untilRefs("the new entity", want...)
	}
}

// TestStoppedReader stops a replica while it reads: the other one reads the
// location.
func TestStoppedReader(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	hold := make(chan struct{})
	s.hold = hold
	var log safeBuffer
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval, opts.Log = time.Hour, slog.New(slog.NewTextHandler(&log, nil))
	first, second := replicas(t, opts)
	first.run()
	first.register("url", s.URL+"/a.yaml")
	first.until("the reading to begin", func() bool { return s.times("/a.yaml") == 1 })
	second.run()
	first.stop()
	second.until("the other replica to begin", func() bool { return s.times("/a.yaml") > 1 })
	close(hold)
	second.untilRefs("the entity", "component:default/a")
	if text := log.String(); strings.Contains(text, "level=ERROR") {
		t.Errorf("stop was logged as an error:\n%s", text)
	}
}

// TestMemoOfAnotherReplica changes a page and reverts it, and has two replicas
// read it in turn.
func TestMemoOfAnotherReplica(t *testing.T) {
	s := newSite(t)
	first, second := replicas(t, readingOf(s.URL, t.TempDir()))
	id := first.register("url", s.URL+"/a.yaml")
	for i, by := range []*harness{first, second, first, second, second, first, first} {
		name := string(rune('a' + i%2))
		s.set("/a.yaml", component(name, "x"))
		if err := by.intake.read(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
		if got, want := first.refs(), []string{"component:default/" + name}; !slices.Equal(got, want) {
			t.Errorf("read %d returned the entities %v, want %v", i, got, want)
		}
	}
}

// TestMemo reads an unchanged page: once completely, and then with the memo,
// unless another replica has read it.
func TestMemo(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	first, second := replicas(t, readingOf(s.URL, t.TempDir()))
	id := first.register("url", s.URL+"/a.yaml")
	unchanged := func(f *harness) float64 { return labelled(t, f, "catalog_sync_total", syncUnchanged) }
	for i, step := range []struct {
		by       *harness
		complete bool
		want     float64
	}{{first, false, 0}, {first, false, 1}, {first, true, 0}, {first, false, 1}, {second, false, 0}, {first, false, 0}, {first, false, 1}} {
		before := unchanged(step.by)
		if err := step.by.intake.read(t.Context(), id, step.complete); err != nil {
			t.Fatal(err)
		}
		if got := unchanged(step.by) - before; got != step.want {
			t.Errorf("read %d found %v unchanged according to the memo, want %v", i, got, step.want)
		}
	}
}

// labelled returns the sum of a metric over all labels with a value.
func labelled(t *testing.T, f *harness, name, value string) float64 {
	t.Helper()
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == name && l.GetValue() == value {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

// TestProblemsOfOtherReplicas checks that the problem of a location that another
// replica read is counted.
func TestProblemsOfOtherReplicas(t *testing.T) {
	s := newSite(t)
	first, second := replicas(t, readingOf(s.URL, t.TempDir()))
	id := first.register("url", s.URL+"/none.yaml")
	for _, want := range []float64{1, 0} {
		if err := first.intake.read(t.Context(), id, true); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*harness{first, second} {
			if got := gathered(t, f, "catalog_location_errors"); got != want {
				t.Errorf("%v locations have problems, want %v", got, want)
			}
		}
		s.set("/none.yaml", component("a", "x"))
	}
}

// TestFileLosesEntities removes an entity from a file, and checks that it is
// removed from the catalog only when a second read agrees.
func TestFileLosesEntities(t *testing.T) {
	a, b, c := component("a", "x"), component("b", "x"), component("c", "x")
	cases := map[string]struct {
		reason       string
		first, later string
		want         string
		again        bool
	}{
		"Same":     {"An entity missing in two reads is removed.", a, a, "a", false},
		"Restored": {"An entity missing only during a write is kept.", a, a + b + c, "a b c", false},
		"Other":    {"Two reads that differ remove nothing.", a + b, a + c, "a b c", true},
		"Added":    {"Without a missing entity there is no second read.", a + b + c + component("d", "x"), "", "a b c d", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			opts := readingOf("http://127.0.0.1", dir)
			opts.Config.Interval = time.Second
			f := openHarness(t, "", opts)
			id := f.register("file", path)
			write(a + b + c)
			if err := f.intake.read(t.Context(), id, false); err != nil {
				t.Fatal(err)
			}
			write(tc.first)
			syncs := gathered(t, f, "catalog_sync_total")
			var changing sync.WaitGroup
			if tc.later != "" {
				changing.Go(func() {
					for gathered(t, f, "catalog_sync_total") == syncs {
						time.Sleep(time.Millisecond)
					}
					write(tc.later)
				})
			}
			err := f.intake.read(t.Context(), id, false)
			changing.Wait()
			if (err != nil) != tc.again {
				t.Errorf("%s: job ended with %v", tc.reason, err)
			}
			var got []string
			for _, ref := range f.refs() {
				got = append(got, strings.TrimPrefix(ref, "component:default/"))
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("%s: entities are %v, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCheck registers a location whose read was not requested because the
// process was killed, and adds an entity of a removed location.
func TestCheck(t *testing.T) {
	s := newSite(t)
	s.set("/a.yaml", component("a", "x"))
	opts := readingOf(s.URL, t.TempDir())
	opts.Config.Interval = time.Hour
	f := newHarness(t, "", opts)
	f.until("the schedules to run once", func() bool { return labelled(t, f, "jobs_runs_total", taskLocations) == 2 })
	if _, err := f.store.AddLocation(t.Context(), "url", s.URL+"/a.yaml"); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if err := f.intake.sweep(t.Context(), jobs.Job{Key: keyCheck}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := wire.Decoder{}.Decode([]byte(line("orphan", "x")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Sync(t.Context(), write.Change{Provider: store.LocationProvider("gone"), Put: []write.Document{{Node: n}}}); err != nil {
		t.Fatal(err)
	}
	check()
	f.untilRefs("the entity", "component:default/a")
	f.until("rest", func() bool { return gathered(t, f, "jobs_queued") == 0 })
	asked := s.times("/a.yaml")
	check()
	f.register("url", s.URL+"/none.yaml")
	f.until("the new location", func() bool { return s.times("/none.yaml") == 1 })
	if got := s.times("/a.yaml"); got != asked {
		t.Errorf("location with entities was read %d times more, want none", got-asked)
	}
}

// safeBuffer is a buffer that is safe for concurrent use.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

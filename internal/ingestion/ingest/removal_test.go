package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// doubting is what the service doubts by default.
func doubting(o *Options) {
	for i := range o.Variants {
		o.Variants[i].MassRemoval = MassRemoval{Percent: 50, Minimum: 5}
	}
}

// plurals are n names.
func plurals(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%02ds", i)
	}
	return out
}

// TestMassRemoval has a cluster answer with a complete and empty list.
func TestMassRemoval(t *testing.T) {
	t.Parallel()
	const period = time.Hour
	all := plurals(12)
	cases := map[string]struct {
		reason string
		// left is how many of the definitions the cluster still has.
		left int
		// then is what happens between the first scan that finds the rest missing and
		// the last one.
		then func(t *testing.T, a *standIn, b *harness)
		// held says that the first scan does not believe it, goes that the last does.
		held, goes bool
	}{
		"Few":     {"As much as half of them may go.", 6, nil, false, true},
		"Many":    {"More than half may not.", 5, nil, true, false},
		"Empty":   {"Nor may all.", 0, nil, true, false},
		"Soon":    {"A second scan that comes soon says nothing.", 0, func(_ *testing.T, _ *standIn, b *harness) { b.later(period / 2) }, true, false},
		"Lasting": {"One that comes a period later does.", 0, func(_ *testing.T, _ *standIn, b *harness) { b.later(period) }, true, true},
		"Back": {"What was there in between begins anew.", 0, func(t *testing.T, a *standIn, b *harness) {
			b.later(period / 2)
			for i, plural := range all {
				a.put(t, definition(plural, "one"), int64(200+i))
			}
			b.visits(t)
			if h, s := b.fares(t); h.Status != Healthy || s.PendingRemoval != nil {
				t.Errorf("all are back, and health is %+v", h)
			}
			a.clear()
			b.later(period / 2)
		}, true, false},
		"Away": {"A cluster that does not answer says nothing.", 0, func(t *testing.T, a *standIn, b *harness) {
			a.forbid(true)
			if _, err := b.visit(t); err == nil {
				t.Error("a cluster that forbids everything can be read")
			}
			a.forbid(false)
			if _, s := b.fares(t); s.PendingRemoval == nil {
				t.Error("the removal is not pending any more")
			}
		}, true, false},
		"Confirmed": {"Somebody may say that it is so.", 0, func(t *testing.T, _ *standIn, b *harness) {
			_, s := b.fares(t)
			if _, err := b.Confirm(t.Context(), theCluster, "user:default/ada", s.PendingRemoval.Since.Add(time.Second)); !errors.Is(err, ErrNothingPending) {
				t.Errorf("another removal is confirmed: %v", err)
			}
			p, err := b.Confirm(t.Context(), theCluster, "user:default/ada", s.PendingRemoval.Since)
			if err != nil || p.Objects != 12 {
				t.Errorf("confirmed %+v, %v", p, err)
			}
		}, true, true},
		"More": {"What is confirmed is not more than it was then.", 5, func(t *testing.T, a *standIn, b *harness) {
			_, s := b.fares(t)
			if _, err := b.Confirm(t.Context(), theCluster, "user:default/ada", s.PendingRemoval.Since); err != nil {
				t.Error(err)
			}
			a.clear()
		}, true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := stand(t)
			b := abroad(t, a, doubting)
			for i, plural := range all {
				a.put(t, definition(plural, "one"), int64(50+i))
			}
			b.visits(t)
			a.clear()
			for i, plural := range all[:tc.left] {
				a.put(t, definition(plural, "one"), int64(50+i))
			}
			a.to(150)
			b.visits(t)
			want := three(all...)
			slices.Sort(want)
			left := three(all[:tc.left]...)
			slices.Sort(left)
			if !tc.held {
				b.has(t, tc.reason, left)
				return
			}
			b.has(t, tc.reason, want)
			h, s := b.fares(t)
			if p := s.PendingRemoval; h.Status != Degraded || s.State != Pending || p == nil || p.Objects != 12-tc.left || p.Of != 12 || s.StaleObjects != 12-tc.left || h.Clusters["prod"] != Pending {
				t.Errorf("%s\nhealth is %+v", tc.reason, h)
			}
			if n := b.logged("many objects of a source are not found any more; their entities stay until that is confirmed"); n != 1 || !strings.Contains(b.log.String(), fmt.Sprintf(`"objects":%d`, 12-tc.left)) {
				t.Errorf("%s\nthe log has %d lines about it", tc.reason, n)
			}
			if tc.then == nil {
				return
			}
			tc.then(t, a, b)
			b.visits(t)
			if tc.goes {
				want = left
			}
			b.has(t, tc.reason, want)
			if _, s := b.fares(t); (s.PendingRemoval == nil) != tc.goes {
				t.Errorf("%s\npending is %+v", tc.reason, s.PendingRemoval)
			}
		})
	}
}

// TestSmallLists has lists of composites that are each too small to be doubted be
// empty with all others: a source is doubted as a whole.
func TestSmallLists(t *testing.T) {
	t.Parallel()
	mass := MassRemoval{Percent: 50, Minimum: 5}
	for _, tc := range []struct {
		gone, of int
		want     bool
	}{{4, 4, false}, {5, 5, true}, {5, 10, false}, {6, 11, true}, {0, 0, false}} {
		if got := mass.Is(tc.gone, tc.of); got != tc.want {
			t.Errorf("%d of %d is a mass removal: %v", tc.gone, tc.of, got)
		}
	}
	a := stand(t)
	b := abroad(t, a, doubting)
	for i, plural := range plurals(3) {
		a.put(t, definition(plural, "one"), int64(50+i))
		a.put(t, aComposition("of-"+plural, plural), int64(60+i))
	}
	b.visits(t)
	had := len(b.catalog.entries())
	a.clear()
	a.to(150)
	b.visits(t)
	if got := len(b.catalog.entries()); got != had {
		t.Errorf("of %d entities %d are left", had, got)
	}
}

// TestSlowFile has files be written slowly: they are truncated, filled a moment
// later, document by document, or replaced.
func TestSlowFile(t *testing.T) {
	t.Parallel()
	const settle, untouched = 2 * time.Second, "-"
	whole := definition("as", "one") + "---\n" + definition("bs", "one") + "---\n" + definition("cs", "one")
	b := newHarness(t, []string{"files"}, func(o *Options) { o.Variants[0].Folders[0].Settle = settle })
	files := b.sources["files"]
	files.set("other", definition("os", "one"))
	files.set("a", whole)
	b.reads(t, "files")
	steps := []struct {
		reason string
		after  time.Duration
		a      string
		want   []string
		again  time.Duration
	}{
		{"It is truncated.", 0, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"It has the first document.", 300 * time.Millisecond, definition("as", "two"), three("as", "bs", "cs", "os"), settle},
		{"It has the next.", 1900 * time.Millisecond, definition("as", "two") + "---\n" + definition("bs", "two"), three("as", "bs", "cs", "os"), settle},
		{"It is whole.", 1900 * time.Millisecond, whole, three("as", "bs", "cs", "os"), 0},
		{"It is not there, since it is replaced.", time.Minute, "", three("as", "bs", "cs", "os"), settle},
		{"It is there again.", time.Second, whole, three("as", "bs", "cs", "os"), 0},
		{"It is truncated.", time.Minute, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"It was written, and is truncated once more.", time.Minute, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"It is whole again.", time.Second, whole, three("as", "bs", "cs", "os"), 0},
		{"It lost a document.", time.Minute, definition("as", "one") + "---\n" + definition("bs", "one"), three("as", "bs", "cs", "os"), settle},
		{"It has been so for long enough.", settle, untouched, three("as", "bs", "os"), 0},
		{"It is gone.", time.Minute, "", three("as", "bs", "os"), settle},
		{"And stays so.", settle, untouched, three("os"), 0},
	}
	for _, step := range steps {
		b.later(step.after - time.Second)
		if step.a != untouched {
			files.set("a", step.a)
		}
		run, err := b.read(t, "files")
		if err != nil || run.Again != step.again {
			t.Errorf("%s\nscan again after %v, %v", step.reason, run.Again, err)
		}
		slices.Sort(step.want)
		b.has(t, step.reason, step.want)
		if h, _ := b.fares(t); h.Status != Healthy {
			t.Errorf("%s\nhealth is %+v", step.reason, h)
		}
	}
}

// held is a source that is held up after it has been read.
type held struct {
	source.Source
	once sync.Once
	// read is closed when it has been read, and goOn when it may be returned.
	read, goOn chan struct{}
}

// Read implements source.Source.
func (h *held) Read(ctx context.Context) (*xrd.Set, error) {
	set, err := h.Source.Read(ctx)
	h.once.Do(func() {
		close(h.read)
		<-h.goOn
	})
	return set, err
}

// heldUp has a replica read a folder, and be held up, while another one reads a
// later state of it.
func heldUp(t *testing.T, open func() *mirror.Mirror) {
	t.Helper()
	slow := &held{read: make(chan struct{}), goOn: make(chan struct{})}
	memory := open()
	late := newHarness(t, []string{"files"}, func(o *Options) {
		slow.Source = o.Variants[0].Folders[0].Source
		o.Variants[0].Folders[0].Source = slow
		o.Memory, o.Catalog = memory, stored{store.New(memory.DB, store.Options{})}
	})
	other := open()
	quick := newHarness(t, []string{"files"}, func(o *Options) { o.Memory, o.Catalog = other, stored{store.New(other.DB, store.Options{})} })
	late.sources["files"].set("a", definition("as", "earlier"))
	done := make(chan error)
	go func() {
		_, err := late.Scan(t.Context(), "composerIngestor/sources/files", TriggerWatch)
		done <- err
	}()
	<-slow.read
	quick.sources["files"].set("a", definition("as", "later"))
	quick.sources["files"].set("b", definition("bs", "later"))
	quick.reads(t, "files")
	close(slow.goOn)
	if err := <-done; err != nil {
		t.Errorf("the replica that was held up: %v", err)
	}
	late.works(t)
	for _, ref := range []string{"template:default/as.example.org", "template:default/bs.example.org"} {
		e, err := store.New(other.DB, store.Options{}).Get(t.Context(), ref)
		if err != nil || !strings.Contains(string(e.JSON), "later") || strings.Contains(string(e.JSON), "earlier") {
			t.Errorf("%s went back to what it was: %v", ref, err)
		}
	}
}

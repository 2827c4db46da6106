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
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// doubting is the default mass removal setting.
func doubting(o *Options) {
	for i := range o.Variants {
		o.Variants[i].MassRemoval = variant.MassRemoval{Percent: 50, Minimum: 5}
	}
}

// plurals returns n names.
func plurals(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%02ds", i)
	}
	return out
}

// TestMassRemoval has a cluster return a complete but empty list.
func TestMassRemoval(t *testing.T) {
	t.Parallel()
	const period = time.Hour
	all := plurals(12)
	cases := map[string]struct {
		reason string
		// left is how many of the definitions the cluster still has.
		left int
		// then runs between the first scan that finds objects missing and the last one.
		then func(t *testing.T, a *standIn, b *harness)
		// held reports whether the first scan holds the removal, goes whether the last
		// one applies it.
		held, goes bool
	}{
		"Few":     {"Up to half of the objects can be removed at once.", 6, nil, false, true},
		"Many":    {"A removal of more than half of the objects is held.", 5, nil, true, false},
		"Empty":   {"A removal of all objects is held.", 0, nil, true, false},
		"Soon":    {"A second scan that is too early does not confirm the removal.", 0, func(_ *testing.T, _ *standIn, b *harness) { b.later(period / 2) }, true, false},
		"Lasting": {"A scan one period later confirms the removal.", 0, func(_ *testing.T, _ *standIn, b *harness) { b.later(period) }, true, true},
		"Back": {"If the objects return in between, the period starts again.", 0, func(t *testing.T, a *standIn, b *harness) {
			b.later(period / 2)
			for i, plural := range all {
				a.put(t, definition(plural, "one"), int64(200+i))
			}
			b.visits(t)
			if h, s := b.healthOf(t); h.Status != health.Healthy || s.PendingRemoval != nil {
				t.Errorf("health is %+v after all objects returned, want healthy", h)
			}
			a.clear()
			b.later(period / 2)
		}, true, false},
		"Away": {"A scan that fails does not confirm the removal.", 0, func(t *testing.T, a *standIn, b *harness) {
			a.forbid(true)
			if _, err := b.visit(t); err == nil {
				t.Error("scan of a forbidden cluster returned no error")
			}
			a.forbid(false)
			if _, s := b.healthOf(t); s.PendingRemoval == nil {
				t.Error("removal is not pending any more")
			}
		}, true, false},
		"Confirmed": {"A user can confirm the removal.", 0, func(t *testing.T, _ *standIn, b *harness) {
			_, s := b.healthOf(t)
			if _, err := b.Confirm(t.Context(), theCluster, "user:default/ada", s.PendingRemoval.Since.Add(time.Second)); !errors.Is(err, status.ErrNothingPending) {
				t.Errorf("another removal was confirmed: %v", err)
			}
			p, err := b.Confirm(t.Context(), theCluster, "user:default/ada", s.PendingRemoval.Since)
			if err != nil || p.Objects != 12 {
				t.Errorf("confirmation returned %+v, %v; want 12 objects", p, err)
			}
		}, true, true},
		"More": {"A confirmation does not cover objects that go missing later.", 5, func(t *testing.T, a *standIn, b *harness) {
			_, s := b.healthOf(t)
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
			h, s := b.healthOf(t)
			if p := s.PendingRemoval; h.Status != health.Degraded || s.State != health.Pending || p == nil || p.Objects != 12-tc.left || p.Of != 12 || s.StaleObjects != 12-tc.left || h.Clusters["prod"] != health.Pending {
				t.Errorf("%s\nhealth is %+v", tc.reason, h)
			}
			if n := b.logged("mass removal pending; entities stay until it is confirmed"); n != 1 || !strings.Contains(b.log.String(), fmt.Sprintf(`"objects":%d`, 12-tc.left)) {
				t.Errorf("%s\npending removal was logged %d times, want once", tc.reason, n)
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
			if _, s := b.healthOf(t); (s.PendingRemoval == nil) != tc.goes {
				t.Errorf("%s\npending removal is %+v", tc.reason, s.PendingRemoval)
			}
		})
	}
}

// TestSmallLists empties many lists of composites at once, each too small to be
// held: the limit applies to the whole source.
func TestSmallLists(t *testing.T) {
	t.Parallel()
	mass := variant.MassRemoval{Percent: 50, Minimum: 5}
	for _, tc := range []struct {
		gone, of int
		want     bool
	}{{4, 4, false}, {5, 5, true}, {5, 10, false}, {6, 11, true}, {0, 0, false}} {
		if got := mass.Is(tc.gone, tc.of); got != tc.want {
			t.Errorf("removal of %d of %d objects is a mass removal: %v", tc.gone, tc.of, got)
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
		t.Errorf("of %d entities %d are left, want all", had, got)
	}
}

// TestSlowFile checks files that are written slowly: truncated and filled a
// moment later, document by document, or replaced.
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
		{"A truncated file is not treated as empty.", 0, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"A file with only the first document is still being written.", 300 * time.Millisecond, definition("as", "two"), three("as", "bs", "cs", "os"), settle},
		{"A file with the next document is still being written.", 1900 * time.Millisecond, definition("as", "two") + "---\n" + definition("bs", "two"), three("as", "bs", "cs", "os"), settle},
		{"A complete file is read at once.", 1900 * time.Millisecond, whole, three("as", "bs", "cs", "os"), 0},
		{"A file that is being replaced is not treated as deleted.", time.Minute, "", three("as", "bs", "cs", "os"), settle},
		{"A replaced file is read.", time.Second, whole, three("as", "bs", "cs", "os"), 0},
		{"A file truncated later is not treated as empty.", time.Minute, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"A file truncated a second time is not treated as empty.", time.Minute, "# nothing\n", three("as", "bs", "cs", "os"), settle},
		{"A file that is complete again is read.", time.Second, whole, three("as", "bs", "cs", "os"), 0},
		{"A document that is missing is not removed at once.", time.Minute, definition("as", "one") + "---\n" + definition("bs", "one"), three("as", "bs", "cs", "os"), settle},
		{"A document that stays missing is removed after the settle time.", settle, untouched, three("as", "bs", "os"), 0},
		{"A missing file is not removed at once.", time.Minute, "", three("as", "bs", "os"), settle},
		{"A file that stays missing is removed after the settle time.", settle, untouched, three("os"), 0},
	}
	for _, step := range steps {
		b.later(step.after - time.Second)
		if step.a != untouched {
			files.set("a", step.a)
		}
		run, err := b.read(t, "files")
		if err != nil || run.Again != step.again {
			t.Errorf("%s\nnext scan is after %v, %v", step.reason, run.Again, err)
		}
		slices.Sort(step.want)
		b.has(t, step.reason, step.want)
		if h, _ := b.healthOf(t); h.Status != health.Healthy {
			t.Errorf("%s\nhealth is %+v", step.reason, h)
		}
	}
}

// held is a source that blocks after reading.
type held struct {
	source.Source
	once sync.Once
	// read is closed after reading; Read returns when goOn is closed.
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

// heldUp has a replica read a folder and block, while another one reads a later
// state of it.
func heldUp(t *testing.T, open func() *mirror.Mirror) {
	t.Helper()
	slow := &held{read: make(chan struct{}), goOn: make(chan struct{})}
	memory := open()
	late := newHarness(t, []string{"files"}, func(o *Options) {
		slow.Source = o.Variants[0].Folders[0].Source
		o.Variants[0].Folders[0].Source = slow
		o.Mirror, o.Catalog = memory, stored{store.New(memory.DB, store.Options{})}
	})
	other := open()
	quick := newHarness(t, []string{"files"}, func(o *Options) { o.Mirror, o.Catalog = other, stored{store.New(other.DB, store.Options{})} })
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
		t.Errorf("blocked replica returned the error %v", err)
	}
	late.works(t)
	for _, ref := range []string{"template:default/as.example.org", "template:default/bs.example.org"} {
		e, err := store.New(other.DB, store.Options{}).Get(t.Context(), ref)
		if err != nil || !strings.Contains(string(e.JSON), "later") || strings.Contains(string(e.JSON), "earlier") {
			t.Errorf("%s was overwritten with an older state: %v", ref, err)
		}
	}
}

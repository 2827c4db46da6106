package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
)

// Events are collected until none has arrived for quiet, but for at most patience, so
// that a thousand changes in a second cause only a few reads.
const (
	quiet    = 30 * time.Millisecond
	patience = 250 * time.Millisecond
)

// The bounds of the backoff between attempts to start watching.
const (
	shortPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// watcher watches the lists of a cluster.
type watcher struct {
	*definitions
	// moved signals that there are events, or that a list can be watched again.
	moved chan struct{}

	mu      sync.Mutex
	pending map[string]*pendingEvents
	// failing contains the lists that cannot be watched at the moment; anyRecovered says that
	// some of them recovered.
	failing      map[string]bool
	anyRecovered atomic.Bool

	// begun contains the lists of definitions and Compositions that are watched.
	begun map[string]bool
	// kinds are the kinds defined when a definition last changed, nil if unknown; watched
	// are the watched kinds, by list. Only the goroutine of run accesses them.
	kinds   map[string]cluster.Kind
	watched map[string]context.CancelFunc
	// crowded says that there are more kinds than can be watched.
	crowded bool
	// unserved fires when kinds that are not served are to be checked again; nil for
	// never.
	unserved <-chan time.Time
	pauses   *backoff.ExponentialBackOff
	// waits counts these checks since a definition last changed.
	waits int
	wg    sync.WaitGroup
}

// pendingEvents are the events of a list that were not processed yet.
type pendingEvents struct {
	list listing.List
	// listed says that items is the complete list, as of version.
	listed  bool
	version int64
	// partial says that some objects of the list could not be read.
	partial bool
	items   map[string]cluster.Item
	gone    map[string]int64
}

// watch watches the cluster until ctx ends. It retries with a backoff until the
// cluster can be reached.
func (d *definitions) watch(ctx context.Context) {
	pauses := growing()
	for ctx.Err() == nil {
		apis, err := d.cluster.APIs(ctx)
		if err == nil {
			d.Once.Changed("watch "+d.Name, "")
			w := &watcher{
				definitions: d, moved: make(chan struct{}, 1), pending: map[string]*pendingEvents{}, failing: map[string]bool{},
				begun: map[string]bool{}, watched: map[string]context.CancelFunc{}, pauses: growing(),
			}
			w.run(ctx, d.fixed(apis))
			return
		}
		if ctx.Err() == nil {
			d.Once.Warn(d.Variant.Log, "watch "+d.Name, "watch failed; changes wait for the next scheduled scan", "source", d.Name, "error", err)
		}
		scan.Pause(ctx, pauses.NextBackOff())
	}
}

func growing() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = shortPause, longPause
	return b
}

// run watches the lists until ctx ends.
func (w *watcher) run(ctx context.Context, lists []listing.List) {
	defer w.wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.beginAll(ctx, lists)
	w.composites(ctx)
	for {
		again, ok := w.wait(ctx)
		if !ok {
			return
		}
		batch := w.gather()
		definitions := false
		for _, n := range batch {
			definitions = definitions || strings.HasPrefix(n.list.Name, object.ListDefinitions)
		}
		w.read(ctx, batch)
		if w.anyRecovered.Swap(false) {
			w.scanIfFailed(ctx)
		}
		if definitions {
			w.pauses.Reset()
			w.kinds, w.waits = nil, 0
		}
		if again {
			w.waits++
		}
		if definitions || again {
			w.composites(ctx)
		}
	}
}

// wait waits until events have arrived and settled, or until kinds that are not served
// are to be checked again. It reports whether the latter is the case, and false as ok
// once ctx has ended.
func (w *watcher) wait(ctx context.Context) (again, ok bool) {
	select {
	case <-ctx.Done():
		return false, false
	case <-w.unserved:
		return true, true
	case lists := <-w.served:
		w.beginAll(ctx, lists)
		if w.crowded {
			// Composites of kinds that are not watched may exist by now.
			w.composites(ctx)
		}
		return false, true
	case <-w.moved:
	}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		settled := time.NewTimer(quiet)
		select {
		case <-ctx.Done():
			settled.Stop()
			return false, false
		case <-deadline.C:
			settled.Stop()
			return false, true
		case <-settled.C:
			return false, true
		case <-w.moved:
			settled.Stop()
		}
	}
}

func (w *watcher) gather() []*pendingEvents {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Collect(maps.Values(w.pending))
	clear(w.pending)
	// Definitions come first: the objects that belong to them are read after them.
	slices.SortFunc(out, func(a, b *pendingEvents) int { return -strings.Compare(a.list.Name, b.list.Name) })
	return out
}

// beginAll watches the lists that are not watched yet.
func (w *watcher) beginAll(ctx context.Context, lists []listing.List) {
	for _, l := range lists {
		if !w.begun[l.Name] {
			w.begun[l.Name] = true
			w.begin(ctx, l)
		}
	}
}

// begin watches one list in a new goroutine.
func (w *watcher) begin(ctx context.Context, l listing.List) {
	w.wg.Go(func() {
		defer w.Caught()
		opts := cluster.WatchOptions{
			OnError:     func(e *cluster.Error) { w.failed(ctx, l, e) },
			OnRecovered: func() { w.recovered(l) },
		}
		_ = w.cluster.Watch(ctx, l.Resource, l.Survey, opts, func(n cluster.Event) error {
			w.handleEvent(n, l)
			return nil
		})
	})
}

// handleEvent records the objects to read.
func (w *watcher) handleEvent(n cluster.Event, l listing.List) {
	w.mu.Lock()
	p := w.pending[l.Name]
	if p == nil || n.Type == cluster.Listed {
		p = &pendingEvents{list: l, items: map[string]cluster.Item{}, gone: map[string]int64{}}
		w.pending[l.Name] = p
	}
	if n.Type == cluster.Listed {
		w.Heard()
		p.listed, p.version, p.partial = true, n.Version, len(n.Unreadable) > 0
	}
	for _, item := range n.Items {
		key := object.Key(item.Namespace, item.Name)
		if n.Type == cluster.Deleted {
			delete(p.items, key)
			p.gone[key] = max(item.Version, n.Version)
			continue
		}
		delete(p.gone, key)
		p.items[key] = item
	}
	w.mu.Unlock()
	w.Metrics.Event(w.At)
	w.move()
}

// move wakes up the goroutine of run.
func (w *watcher) move() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// read processes a batch of events. It requests a scan if that fails.
func (w *watcher) read(ctx context.Context, batch []*pendingEvents) {
	if len(batch) == 0 {
		return
	}
	err := w.takeAll(ctx, batch)
	w.BuildSoon()
	if err != nil && ctx.Err() == nil {
		w.Once.Warn(w.Variant.Log, "read "+w.Name, "read of changed objects failed; source is scanned", "source", w.Name, "error", err)
		w.ScanSoon(w.Target)
		return
	}
	w.Once.Changed("read "+w.Name, "")
}

// takeAll processes all events that it can, and returns one of the errors. A panic is one:
// it must not end the process, which ingests from other clusters, too.
func (w *watcher) takeAll(ctx context.Context, batch []*pendingEvents) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cannot process changed objects: panic: %v", v)
		}
	}()
	if slices.ContainsFunc(batch, func(n *pendingEvents) bool { return n.listed }) {
		// Single changes do not wait for the lists of other clusters.
		leave, err := w.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	return w.Update(ctx, func(sc *scan.Scan) (err error) {
		s := &listing.Reader{Scan: sc, Cluster: w.cluster}
		for _, n := range batch {
			switch e := w.take(ctx, s, n); {
			case e != nil:
				err = e
			case n.listed && s.Before.Error != "", !s.Before.Lists[n.list.Name].Stale.IsZero():
				// The last scan could not read the list; another scan is needed.
				w.ScanSoon(w.Target)
			}
		}
		return err
	})
}

func (w *watcher) take(ctx context.Context, s *listing.Reader, n *pendingEvents) error {
	items := slices.Collect(maps.Values(n.items))
	if len(items) > 0 || n.listed {
		reached := listing.Some
		if n.listed && !n.partial {
			reached = listing.Told
		}
		if err := s.Take(ctx, n.list, items, n.version, reached); err != nil {
			return err
		}
		if reached == listing.Told && n.version < s.Before.Lists[n.list.Name].Version {
			// The event was late or the cluster was restored; a scan can tell which.
			w.ScanSoon(w.Target)
		}
	}
	if len(n.gone) == 0 {
		return nil
	}
	if err := s.Ending(ctx, n.list); err != nil {
		return err
	}
	o := mirror.Observation{Source: w.Name, List: n.list.Name}
	for key, version := range n.gone {
		o.Gone = append(o.Gone, mirror.Gone{Key: key, Version: version})
	}
	s.Remember(n.list.Name, nil, slices.Collect(maps.Keys(n.gone)))
	_, err := w.Mirror.Observe(ctx, o)
	return err
}

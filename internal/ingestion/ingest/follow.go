package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
)

// Events are collected until none has arrived for quiet, but for at most patience, so
// that a thousand changes in a second cause only a few reads.
const (
	quiet    = 30 * time.Millisecond
	patience = 250 * time.Millisecond
)

// mostFollowed is how many kinds of composites are watched per cluster: the API has no
// watch for a whole group. The others are read on the schedule.
const mostFollowed = 500

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
	// troubled contains the lists that cannot be watched at the moment; mended says that
	// some of them recovered.
	troubled map[string]bool
	mended   atomic.Bool

	// begun contains the lists of definitions and Compositions that are watched.
	begun map[string]bool
	// kinds are the kinds defined when a definition last changed, nil if unknown; followed
	// are the watched kinds, by list. Only the goroutine of run accesses them.
	kinds    map[string]cluster.Kind
	followed map[string]context.CancelFunc
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
	list list
	// listed says that items is the complete list, as of version.
	listed  bool
	version int64
	spoilt  bool
	items   map[string]cluster.Item
	gone    map[string]int64
}

// follow watches the cluster until ctx ends. It retries with a backoff until the
// cluster can be reached.
func (d *definitions) follow(ctx context.Context) {
	pauses := growing()
	for ctx.Err() == nil {
		apis, err := d.cluster.APIs(ctx)
		if err == nil {
			d.variant.in.news("watch "+d.name, "")
			w := &watcher{
				definitions: d, moved: make(chan struct{}, 1), pending: map[string]*pendingEvents{}, troubled: map[string]bool{},
				begun: map[string]bool{}, followed: map[string]context.CancelFunc{}, pauses: growing(),
			}
			w.run(ctx, d.fixed(apis))
			return
		}
		if ctx.Err() == nil {
			d.variant.in.warn(d.variant.Log, "watch "+d.name, "watch failed; changes wait for the next scheduled scan", "source", d.name, "error", err)
		}
		pause(ctx, pauses.NextBackOff())
	}
}

func growing() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = shortPause, longPause
	return b
}

// pause sleeps for wait, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// run watches the lists until ctx ends.
func (w *watcher) run(ctx context.Context, lists []list) {
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
			definitions = definitions || strings.HasPrefix(n.list.name, listDefinitions)
		}
		w.read(ctx, batch)
		if w.mended.Swap(false) {
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
	slices.SortFunc(out, func(a, b *pendingEvents) int { return -strings.Compare(a.list.name, b.list.name) })
	return out
}

// beginAll watches the lists that are not watched yet.
func (w *watcher) beginAll(ctx context.Context, lists []list) {
	for _, l := range lists {
		if !w.begun[l.name] {
			w.begun[l.name] = true
			w.begin(ctx, l)
		}
	}
}

// begin watches one list in a new goroutine.
func (w *watcher) begin(ctx context.Context, l list) {
	w.wg.Go(func() {
		defer w.variant.in.caught(w.target)
		opts := cluster.WatchOptions{
			Trouble: func(e *cluster.Error) { w.failed(ctx, l, e) },
			Well:    func() { w.recovered(l) },
		}
		_ = w.cluster.Watch(ctx, l.res, l.survey, opts, func(n cluster.Event) error {
			w.handleEvent(n, l)
			return nil
		})
	})
}

// handleEvent records the objects to read.
func (w *watcher) handleEvent(n cluster.Event, l list) {
	w.mu.Lock()
	p := w.pending[l.name]
	if p == nil || n.Type == cluster.Listed {
		p = &pendingEvents{list: l, items: map[string]cluster.Item{}, gone: map[string]int64{}}
		w.pending[l.name] = p
	}
	if n.Type == cluster.Listed {
		w.heard.Add(1)
		p.listed, p.version, p.spoilt = true, n.Version, len(n.Spoilt) > 0
	}
	for _, item := range n.Items {
		key := keyOf(item.Namespace, item.Name)
		if n.Type == cluster.Deleted {
			delete(p.items, key)
			p.gone[key] = max(item.Version, n.Version)
			continue
		}
		delete(p.gone, key)
		p.items[key] = item
	}
	w.mu.Unlock()
	w.variant.in.meters.noticed(w.at)
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
	w.variant.in.buildSoon()
	if err != nil && ctx.Err() == nil {
		w.variant.in.warn(w.variant.Log, "read "+w.name, "read of changed objects failed; source is scanned", "source", w.name, "error", err)
		w.variant.in.scanSoon(w.target)
		return
	}
	w.variant.in.news("read "+w.name, "")
}

// takeAll processes all events that it can, and returns one of the errors.
func (w *watcher) takeAll(ctx context.Context, batch []*pendingEvents) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	s, err := w.newScan(ctx)
	if err != nil {
		return err
	}
	for _, n := range batch {
		switch e := w.take(ctx, s, n); {
		case e != nil:
			err = e
		case n.listed && s.before.Error != "", !s.before.Lists[n.list.name].Stale.IsZero():
			// The last scan could not read the list; another scan is needed.
			w.variant.in.scanSoon(w.target)
		}
	}
	s.save(ctx)
	return err
}

func (w *watcher) take(ctx context.Context, s *scan, n *pendingEvents) error {
	items := slices.Collect(maps.Values(n.items))
	if len(items) > 0 || n.listed {
		reached := some
		if n.listed && !n.spoilt {
			reached = told
		}
		if err := s.take(ctx, w.cluster, n.list, items, n.version, reached); err != nil {
			return err
		}
		if reached == told && n.version < s.before.Lists[n.list.name].Version {
			// The event was late or the cluster was restored; a scan can tell which.
			w.variant.in.scanSoon(w.target)
		}
	}
	if len(n.gone) == 0 {
		return nil
	}
	if err := s.ending(ctx, w.cluster, n.list); err != nil {
		return err
	}
	o := mirror.Observation{Source: w.name, List: n.list.name}
	for key, version := range n.gone {
		o.Gone = append(o.Gone, mirror.Gone{Key: key, Version: version})
	}
	s.remember(n.list.name, nil, slices.Collect(maps.Keys(n.gone)))
	_, err := w.variant.in.Mirror.Observe(ctx, o)
	return err
}

// composites watches the kinds that definitions define now, and no others. Kinds that
// are not served yet are checked again with a backoff.
func (w *watcher) composites(ctx context.Context) {
	w.unserved = nil
	if w.kinds == nil {
		kinds, err := w.definitions.kinds(ctx)
		if err != nil {
			w.later()
			return
		}
		w.kinds = kinds
	}
	for name, stop := range w.followed {
		_, anew := w.dropped.LoadAndDelete(name)
		if _, ok := w.kinds[name]; !ok || anew {
			stop()
			delete(w.followed, name)
		}
	}
	var missing []string
	for name := range w.kinds {
		if w.followed[name] == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	served, err := w.cluster.Served(ctx)
	if err != nil {
		w.later()
		return
	}
	w.tellServed(ctx, missing, served)
	var able []string
	for name, k := range w.kinds {
		if w.followed[name] == nil && !served.Has(k.Resource) {
			w.later()
			continue
		}
		able = append(able, name)
	}
	chosen, err := w.choose(ctx, able)
	if err != nil {
		w.later()
		return
	}
	for name, stop := range w.followed {
		if _, ok := slices.BinarySearch(chosen, name); !ok {
			stop()
			delete(w.followed, name)
		}
	}
	for _, name := range chosen {
		if w.followed[name] == nil {
			own, stop := context.WithCancel(ctx)
			w.followed[name] = stop
			w.begin(own, w.compositeList(w.kinds[name]))
		}
	}
}

// choose returns the kinds to watch, sorted: all of them, or the first mostFollowed.
func (w *watcher) choose(ctx context.Context, names []string) ([]string, error) {
	if w.crowded = len(names) > mostFollowed; w.crowded {
		lists, err := w.variant.in.Mirror.Lists(ctx, w.name)
		if err != nil {
			return nil, err
		}
		names = firstOf(names, mostFollowed, lists, w.followed)
		w.variant.in.warn(w.variant.Log, "kinds "+w.name, "too many composite kinds to watch; the others are read on the schedule",
			"source", w.name, "watched", mostFollowed)
	}
	slices.Sort(names)
	return names, nil
}

// firstOf returns up to most of the kinds: first those that have composites, then those
// that are watched already, then by name.
func firstOf[T any](names []string, most int, inhabited []string, followed map[string]T) []string {
	rank := make(map[string]int, len(names))
	for _, name := range inhabited {
		rank[name] -= 2
	}
	for name := range followed {
		rank[name]--
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank[a]-rank[b], strings.Compare(a, b)) })
	return names[:min(most, len(names))]
}

// later schedules another check for missing kinds.
func (w *watcher) later() {
	if w.unserved == nil {
		w.unserved = time.After(w.pauses.NextBackOff())
	}
}

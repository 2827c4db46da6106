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

// Notices are gathered until none has come for quiet, or for at most patience,
// so that a thousand changes in a second are a few readings.
const (
	quiet    = 30 * time.Millisecond
	patience = 250 * time.Millisecond
)

// mostFollowed is how many kinds of composites of a cluster are followed: the API has
// no watch for a whole group. The others are read on the schedule.
const mostFollowed = 500

// The pauses between attempts to begin.
const (
	shortPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// watcher follows the lists of a cluster.
type watcher struct {
	*definitions
	// moved says that there is news, or that a kind may be served by now.
	moved chan struct{}

	mu      sync.Mutex
	pending map[string]*pendingEvents
	// troubled are lists that cannot be followed at the moment; mended says that
	// some can be again.
	troubled map[string]bool
	mended   atomic.Bool

	// begun are the lists of definitions and Compositions that are followed.
	begun map[string]bool
	// kinds are those that the definitions gave when some last changed, nil if
	// that is not known, and followed those that are followed, by list. Both
	// belong to the goroutine that gathers.
	kinds    map[string]cluster.Kind
	followed map[string]context.CancelFunc
	// crowded says that there are more kinds than are followed.
	crowded bool
	// unserved says when to ask again for kinds that are not served; nil for
	// not at all.
	unserved <-chan time.Time
	pauses   *backoff.ExponentialBackOff
	// waits is how often they were asked for since a definition changed.
	waits int
	wg    sync.WaitGroup
}

// pendingEvents is what has been noticed of a list and not been read yet.
type pendingEvents struct {
	list list
	// listed says that items are all there are, as of version.
	listed  bool
	version int64
	spoilt  bool
	items   map[string]cluster.Item
	gone    map[string]int64
}

// follow reads on as the cluster changes.
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
			d.variant.in.warn(d.variant.Log, "watch "+d.name, "source cannot be followed yet; the schedule goes on", "source", d.name, "error", err)
		}
		pause(ctx, pauses.NextBackOff())
	}
}

func growing() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = shortPause, longPause
	return b
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// run follows the lists until ctx ends.
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

// wait waits for news, and until they have settled, or until it is time to ask
// again for kinds that are not served. It reports whether that is so, and
// whether ctx goes on.
func (w *watcher) wait(ctx context.Context) (again, ok bool) {
	select {
	case <-ctx.Done():
		return false, false
	case <-w.unserved:
		return true, true
	case lists := <-w.served:
		w.beginAll(ctx, lists)
		if w.crowded {
			// There may be composites of other kinds by now.
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
	// Definitions first: what belongs to them is read once they are there.
	slices.SortFunc(out, func(a, b *pendingEvents) int { return -strings.Compare(a.list.name, b.list.name) })
	return out
}

// beginAll follows those of the lists that are not followed yet.
func (w *watcher) beginAll(ctx context.Context, lists []list) {
	for _, l := range lists {
		if !w.begun[l.name] {
			w.begun[l.name] = true
			w.begin(ctx, l)
		}
	}
}

// begin follows one list in a goroutine of its own.
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

// handleEvent remembers what is to be read.
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

// move says that there is something to see to.
func (w *watcher) move() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// read takes what was noticed. What cannot be taken now is left to a scan.
func (w *watcher) read(ctx context.Context, batch []*pendingEvents) {
	if len(batch) == 0 {
		return
	}
	err := w.takeAll(ctx, batch)
	w.variant.in.rouse()
	if err != nil && ctx.Err() == nil {
		w.variant.in.warn(w.variant.Log, "read "+w.name, "what changed cannot be read, so the source is scanned", "source", w.name, "error", err)
		w.variant.in.again(ctx, w.target)
		return
	}
	w.variant.in.news("read "+w.name, "")
}

// takeAll takes all that can be, and returns one of the errors.
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
			// The scan that could not read it is to be made good.
			w.variant.in.again(ctx, w.target)
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
			// It came late, or the cluster was restored, which a scan can tell.
			w.variant.in.again(ctx, w.target)
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
	_, err := w.variant.in.Memory.Observe(ctx, o)
	return err
}

// composites follows the kinds that definitions give now, and no others. Those
// that are not served yet are asked for again, soon at first.
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

// choose returns which of the kinds are followed, in order: all, or the first of them
// if there are too many.
func (w *watcher) choose(ctx context.Context, names []string) ([]string, error) {
	if w.crowded = len(names) > mostFollowed; w.crowded {
		lists, err := w.variant.in.Memory.Lists(ctx, w.name)
		if err != nil {
			return nil, err
		}
		names = firstOf(names, mostFollowed, lists, w.followed)
		w.variant.in.warn(w.variant.Log, "kinds "+w.name, "more kinds of composites than are watched; the others are read on the schedule",
			"source", w.name, "watched", mostFollowed)
	}
	slices.Sort(names)
	return names, nil
}

// firstOf returns so many of the kinds: those of which there are composites first,
// then those that are followed already, then by name.
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

// later has kinds that are missing asked for again.
func (w *watcher) later() {
	if w.unserved == nil {
		w.unserved = time.After(w.pauses.NextBackOff())
	}
}

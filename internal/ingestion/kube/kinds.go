package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/source/cluster"
)

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
	for name, stop := range w.watched {
		_, anew := w.dropped.LoadAndDelete(name)
		if _, ok := w.kinds[name]; !ok || anew {
			stop()
			delete(w.watched, name)
		}
	}
	var missing []string
	for name := range w.kinds {
		if w.watched[name] == nil {
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
		if w.watched[name] == nil && !served.Has(k.Resource) {
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
	for name, stop := range w.watched {
		if _, ok := slices.BinarySearch(chosen, name); !ok {
			stop()
			delete(w.watched, name)
		}
	}
	for _, name := range chosen {
		if w.watched[name] == nil {
			own, stop := context.WithCancel(ctx)
			w.watched[name] = stop
			w.begin(own, w.compositeList(w.kinds[name]))
		}
	}
}

// choose returns the kinds to watch, sorted: all of them, or the first
// mostWatched.
func (w *watcher) choose(ctx context.Context, names []string) ([]string, error) {
	if w.crowded = len(names) > w.mostWatched; w.crowded {
		lists, err := w.Mirror.Lists(ctx, w.Name)
		if err != nil {
			return nil, err
		}
		names = firstOf(names, w.mostWatched, lists, w.watched)
		w.Once.Warn(w.Variant.Log, "kinds "+w.Name, "too many composite kinds to watch; the others are read on the schedule",
			"source", w.Name, "watched", w.mostWatched)
	}
	slices.Sort(names)
	return names, nil
}

// firstOf returns up to most of the kinds: first those that have composites, then those
// that are watched already, then by name.
func firstOf[T any](names []string, most int, inhabited []string, watched map[string]T) []string {
	rank := make(map[string]int, len(names))
	for _, name := range inhabited {
		rank[name] -= 2
	}
	for name := range watched {
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

// tellServed requests a scan of the cluster if the kinds it serves differ from the
// state that the last scan stored, so that forms are locked or unlocked before the next
// scheduled scan.
func (w *watcher) tellServed(ctx context.Context, kinds []string, served cluster.Served) {
	all, err := status.Load(ctx, w.Mirror, w.Name)
	if err != nil {
		// The next scheduled scan compares them anyway.
		return
	}
	lists := all[w.Name].Lists
	for _, name := range kinds {
		noted, now := lists[name].Unserved, !served.Has(w.kinds[name].Resource)
		if noted && !now || now && !noted && w.waits >= patientWaits {
			w.ScanSoon(w.Target)
			return
		}
	}
}

// patientWaits is how often the watcher checks for an unserved kind before it
// requests a scan: a new definition is established after a second or two.
const patientWaits = 3

package kube

import (
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/internal/ingestion/listing"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/source/cluster"
)

// recovered records that a list can be watched again.
func (w *watcher) recovered(l listing.List) {
	w.mu.Lock()
	delete(w.failing, l.Name)
	w.mu.Unlock()
	w.Heard()
	w.anyRecovered.Store(true)
	w.move()
}

// scanIfFailed requests a scan of the target if the last one failed: one of its lists
// can be read now, so all of them may be, which only a scan can tell. A scan in
// progress handles this itself.
func (w *watcher) scanIfFailed(ctx context.Context) {
	all, err := status.Load(ctx, w.Mirror, w.Name)
	if err == nil && all[w.Name].Error != "" {
		w.ScanSoon(w.Target)
	}
}

// failed requests a scan of the target when watching it fails, so that health is right
// before the next scheduled scan.
func (w *watcher) failed(ctx context.Context, l listing.List, e *cluster.Error) {
	w.mu.Lock()
	first := !w.failing[l.Name]
	w.failing[l.Name] = true
	w.mu.Unlock()
	if !first || w.ungranted(ctx, l, e) {
		return
	}
	w.Metrics.Failed(w.At, string(e.Reason))
	w.ScanSoon(w.Target)
}

// ungranted reports whether watching a list fails because of a permission that the
// account never had: then the list is read on the schedule, or not at all.
func (w *watcher) ungranted(ctx context.Context, l listing.List, e *cluster.Error) bool {
	if e.Reason != cluster.Forbidden {
		return false
	}
	all, err := status.Load(ctx, w.Mirror, w.Name)
	if err != nil {
		return false
	}
	if slices.Contains(e.Missing.Verbs, "watch") {
		if w.Once.Changed("unwatched "+w.Name+" "+l.Name, "unwatched") {
			w.Variant.Log.Info("list not watched: account may not watch it; changes wait for the next scheduled scan",
				"source", w.Name, "list", l.Name, "hint", e.Hint)
		}
		return true
	}
	return !strings.HasPrefix(l.Name, object.ListDefinitions) && all[w.Name].Lists[l.Name].Good.IsZero()
}

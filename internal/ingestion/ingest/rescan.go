package ingest

import (
	"context"

	"example.dev/ingestor/source/cluster"
)

// recovered records that a list can be watched again.
func (w *watcher) recovered(l list) {
	w.mu.Lock()
	delete(w.troubled, l.name)
	w.mu.Unlock()
	w.heard.Add(1)
	w.mended.Store(true)
	w.move()
}

// scanIfFailed requests a scan of the target if the last one failed: one of its lists
// can be read now, so all of them may be, which only a scan can tell. A scan in
// progress handles this itself.
func (p *target) scanIfFailed(ctx context.Context) {
	all, err := p.variant.in.conditions(ctx, p.name)
	if err == nil && all[p.name].Error != "" {
		p.variant.in.scanSoon(p)
	}
}

// failed requests a scan of the target when watching it fails, so that health is right
// before the next scheduled scan.
func (w *watcher) failed(ctx context.Context, l list, e *cluster.Error) {
	w.mu.Lock()
	first := !w.troubled[l.name]
	w.troubled[l.name] = true
	w.mu.Unlock()
	if !first || w.ungranted(ctx, l, e) {
		return
	}
	w.variant.in.meters.failed(w.at, string(e.Reason))
	w.variant.in.scanSoon(w.target)
}

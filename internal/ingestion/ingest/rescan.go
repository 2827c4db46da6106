package ingest

import (
	"context"
	"time"

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
		p.variant.in.again(ctx, p)
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
	w.variant.in.again(ctx, w.target)
}

// again requests a scan.
func (in *Ingest) again(ctx context.Context, p *target) {
	if in.Again == nil || ctx.Err() != nil {
		return
	}
	err := in.Again(ctx, p.name)
	if err == nil || ctx.Err() != nil || p.asking.Swap(true) {
		return
	}
	in.warn(p.variant.Log, "again "+p.name, "cannot ask for a scan; it is tried again", "source", p.name, "error", err)
	// Without a retry, changes seen while the queue was down would wait for the schedule.
	in.asking.Go(func() {
		defer p.asking.Store(false)
		for pauses := growing(); ctx.Err() == nil; {
			pause(ctx, min(pauses.NextBackOff(), mostAsking))
			if in.Again(ctx, p.name) == nil {
				in.news("again "+p.name, "")
				return
			}
		}
	})
}

// mostAsking is the longest pause between requests for a scan.
const mostAsking = 5 * time.Second

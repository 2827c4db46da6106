package ingest

import (
	"context"
	"time"

	"example.dev/ingestor/source/cluster"
)

// recovered notes that a list can be followed again.
func (w *watcher) recovered(l list) {
	w.mu.Lock()
	delete(w.troubled, l.name)
	w.mu.Unlock()
	w.heard.Add(1)
	w.mended.Store(true)
	w.move()
}

// scanIfFailed has the place scanned if it could not be read last time: a list of it
// can be now, so all may be well, which only a scan can say. One that goes on
// at the moment sees to it itself.
func (p *target) scanIfFailed(ctx context.Context) {
	all, err := p.variant.in.conditions(ctx, p.name)
	if err == nil && all[p.name].Error != "" {
		p.variant.in.again(ctx, p)
	}
}

// failed has the place scanned when following it goes wrong, so that health
// tells the truth before the schedule would.
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

// again asks for a scan.
func (in *Ingest) again(ctx context.Context, p *target) {
	if in.Again == nil || ctx.Err() != nil {
		return
	}
	err := in.Again(ctx, p.name)
	if err == nil || ctx.Err() != nil || p.asking.Swap(true) {
		return
	}
	in.warn(p.variant.Log, "again "+p.name, "cannot ask for a scan; it is tried again", "source", p.name, "error", err)
	// Without the scan, what was noticed while the queue was away would wait
	// for the schedule.
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

// mostAsking is the longest pause between attempts to ask for a scan.
const mostAsking = 5 * time.Second

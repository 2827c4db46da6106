package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// every is the minimum interval between updates; shorter ones only flicker.
const every = 100 * time.Millisecond

// wipe returns to the start of the line and clears it.
const wipe = "\r\x1b[K"

// Progress shows the progress of long-running work in one line that is removed
// when the work is done: "reading 120/548 files". A nil Progress shows nothing. It
// may be used concurrently.
type Progress struct {
	w          io.Writer
	now        func() time.Time
	verb, noun string

	mu    sync.Mutex
	last  time.Time
	shown bool
	done  bool
}

// NewProgress returns a Progress that writes to w, a terminal, with the clock now.
// It returns nil if enabled is false.
func NewProgress(w io.Writer, enabled bool, now func() time.Time, verb, noun string) *Progress {
	if !enabled {
		return nil
	}
	// The first update is delayed too: quick work shows no progress.
	return &Progress{w: w, now: now, verb: verb, noun: noun, last: now()}
}

// Update shows that done of total are done, unless the last update was too recent.
// A total of zero means unknown, as for a stream.
func (p *Progress) Update(done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.done || now.Sub(p.last) < every {
		return
	}
	p.last, p.shown = now, true
	if total <= 0 {
		fmt.Fprintf(p.w, "%s%s %d %s", wipe, p.verb, done, p.noun)
		return
	}
	fmt.Fprintf(p.w, "%s%s %d/%d %s", wipe, p.verb, done, total, p.noun)
}

// Clear removes the line, so that something else can be printed. It comes back
// with the next Update.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && !p.done {
		fmt.Fprint(p.w, wipe)
	}
	p.shown = false
}

// Done removes the line. Later updates show nothing.
func (p *Progress) Done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && !p.done {
		fmt.Fprint(p.w, wipe)
	}
	p.done = true
}

package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// every is how often the line changes; more often only flickers.
const every = 100 * time.Millisecond

// wipe goes back to the start of the line and empties it.
const wipe = "\r\x1b[K"

// Progress shows how far a long piece of work has come, in one line that is
// gone when the work is done: "reading 120/548 files". A nil Progress shows
// nothing. It may be used by several goroutines at once.
type Progress struct {
	w          io.Writer
	now        func() time.Time
	verb, noun string

	mu    sync.Mutex
	last  time.Time
	shown bool
	done  bool
}

// NewProgress returns a Progress that writes to w, a terminal, by the clock
// now. It returns nil if nobody is looking.
func NewProgress(w io.Writer, enabled bool, now func() time.Time, verb, noun string) *Progress {
	if !enabled {
		return nil
	}
	// The first line waits as well: quick work needs none.
	return &Progress{w: w, now: now, verb: verb, noun: noun, last: now()}
}

// Update shows that done of total are done, unless it was updated just now. A
// total of zero is one that nobody knows, as that of a stream.
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

// Clear removes the line, so that something else can be said. It comes back with
// the next Update.
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

// Done removes the line. Nothing is shown after it.
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

package task

import (
	"context"
	"sync"
	"time"

	"example.dev/ingestor/internal/scaffolder/taskstore"
)

const (
	// pageSize is how many events are read per query.
	pageSize = 500
	// pollEvery is how often the store is polled for events of tasks that run in other
	// processes.
	pollEvery = 25 * time.Millisecond
)

// Follow passes the events of a task after the given one to each, stored and future
// ones, in order, until the task is over, ctx ends, or each fails. Each follower has
// its own goroutine, so that a slow one does not delay others.
func (t *Tasks) Follow(ctx context.Context, id string, after int64, each func([]taskstore.TaskEvent) error) error {
	topic := t.hub.join(id)
	defer t.hub.leave(id)
	over, err := t.isOver(ctx, id, after)
	if err != nil {
		return err
	}
	for {
		news := topic.next()
		page, err := t.opts.Store.TaskEvents(ctx, id, after, pageSize)
		if err != nil {
			return err
		}
		if len(page) > 0 {
			if err := each(page); err != nil {
				return err
			}
			last := page[len(page)-1]
			after, over = last.N, ends(last)
			continue
		}
		if over {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ends reports whether a task whose last event is e is over. A retried task has a
// later event.
func ends(e taskstore.TaskEvent) bool {
	return e.Type == taskstore.EventCompletion || e.Type == taskstore.EventCancelled
}

// isOver reports whether a task is over for a follower that has seen its events up to
// after.
func (t *Tasks) isOver(ctx context.Context, id string, after int64) (bool, error) {
	if after <= 0 {
		return false, nil
	}
	seen, err := t.opts.Store.TaskEvents(ctx, id, after-1, 1)
	if err != nil || len(seen) > 0 {
		return len(seen) > 0 && ends(seen[0]), err
	}
	found, err := t.opts.Store.TaskBrief(ctx, id)
	if err != nil {
		return false, err
	}
	return found == nil || found.Status != taskstore.TaskOpen && found.Status != taskstore.TaskProcessing, nil
}

// hub keeps the followers of each task and wakes them. While a task that does not run
// in this process has followers, one goroutine polls for events of all such tasks.
type hub struct {
	store *taskstore.Store
	// here reports whether a task runs in this process, so that polling for its events
	// is not needed.
	here func(id string) bool

	mu     sync.Mutex
	topics map[string]*topic
	// stop stops the polling goroutine; nil if there is none.
	stop context.CancelFunc
}

// topic is a task that has followers.
type topic struct {
	mu   sync.Mutex
	news chan struct{}
	// followers, and mark, the last event that followers were woken for, are guarded by
	// hub.mu.
	followers int
	mark      int64
}

func newHub(s *taskstore.Store, here func(string) bool) *hub {
	return &hub{store: s, here: here, topics: map[string]*topic{}}
}

// next returns a channel that is closed when there are new events.
func (p *topic) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news
}

func (p *topic) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.news)
	p.news = make(chan struct{})
}

func (h *hub) join(id string) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.topics[id]
	if p == nil {
		p = &topic{news: make(chan struct{})}
		h.topics[id] = p
	}
	p.followers++
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		go h.look(ctx)
	}
	return p
}

func (h *hub) leave(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.topics[id]
	if p.followers--; p.followers > 0 {
		return
	}
	delete(h.topics, id)
	if len(h.topics) == 0 {
		h.stop()
		h.stop = nil
	}
}

// wake tells the followers of a task that there are new events.
func (h *hub) wake(id string) {
	h.mu.Lock()
	p := h.topics[id]
	h.mu.Unlock()
	if p != nil {
		p.tell()
	}
}

// look polls for events until ctx ends.
func (h *hub) look(ctx context.Context) {
	for tick := time.NewTicker(pollEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		h.lookOnce(ctx)
	}
}

func (h *hub) lookOnce(ctx context.Context) {
	var ids []string
	h.mu.Lock()
	for id := range h.topics {
		ids = append(ids, id)
	}
	h.mu.Unlock()
	elsewhere := ids[:0]
	for _, id := range ids {
		if !h.here(id) {
			elsewhere = append(elsewhere, id)
		}
	}
	if len(elsewhere) == 0 {
		return
	}
	marks, err := h.store.TaskMarks(ctx, elsewhere)
	if err != nil {
		// The database is unavailable; followers get the error when they read.
		return
	}
	for id, mark := range marks {
		h.mu.Lock()
		p := h.topics[id]
		isNew := p != nil && mark > p.mark
		if isNew {
			p.mark = mark
		}
		h.mu.Unlock()
		if isNew {
			p.tell()
		}
	}
}

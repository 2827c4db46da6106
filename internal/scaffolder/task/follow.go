package task

import (
	"context"
	"sync"
	"time"

	"example.dev/ingestor/internal/scaffolder/taskstore"
)

const (
	// pageSize is how many events are read at once.
	pageSize = 500
	// pollEvery is how often somebody looks for events of tasks that run
	// elsewhere.
	pollEvery = 25 * time.Millisecond
)

// Follow hands on the events of a task after one, those that are there and those
// to come, in order, until the task is over, ctx ends, or each fails. Whoever
// follows has a goroutine of their own: one that is slow is waited for by nobody.
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

// ends reports whether a task is over whose last event is e. One that is run
// again has another.
func ends(e taskstore.TaskEvent) bool {
	return e.Type == taskstore.EventCompletion || e.Type == taskstore.EventCancelled
}

// isOver reports whether a task is over of which somebody has seen the events
// up to one.
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

// hub knows who follows which task, and wakes them. While somebody follows a
// task that does not run here, one goroutine looks for its events for all.
type hub struct {
	store *taskstore.Store
	// here reports whether a task runs in this process, so that its events need
	// not be looked for.
	here func(id string) bool

	mu     sync.Mutex
	topics map[string]*topic
	// stop ends the one who looks; nil if there is none.
	stop context.CancelFunc
}

// topic is a task that is followed.
type topic struct {
	mu   sync.Mutex
	news chan struct{}
	// followers and mark, the last event that was told of, belong to the hub.
	followers int
	mark      int64
}

func newHub(s *taskstore.Store, here func(string) bool) *hub {
	return &hub{store: s, here: here, topics: map[string]*topic{}}
}

// next returns what is closed with the next news.
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

// wake tells those who follow a task that there is news.
func (h *hub) wake(id string) {
	h.mu.Lock()
	p := h.topics[id]
	h.mu.Unlock()
	if p != nil {
		p.tell()
	}
}

// look looks for events until ctx ends.
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
		// The database is away; who follows finds out when they read.
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

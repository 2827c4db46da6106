package scaffolder

import (
	"context"
	"net/http"
	"sync"
	"time"

	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// eventStream answers GET /v2/tasks/{id}/eventstream with past and future events,
// until the task is over. At most one page of events is buffered for a slow reader,
// and the server drops a reader that accepts nothing.
func (s *Scaffolder) eventStream(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	t, err := s.task(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	from, err := after(r)
	if err != nil {
		return err
	}
	done, err := s.followers.add(r)
	if err != nil {
		return err
	}
	defer done()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	// Buffering proxies would hold events back.
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	out := newStream(w, t.ID, s.ping, cancel)
	defer out.close()
	if err := out.begin(); err != nil {
		return err
	}
	if err := s.Tasks.Follow(ctx, t.ID, from, out.write); err != nil {
		return err
	}
	// If no event was sent, the client asked for events after the end.
	var rest []taskstore.TaskEvent
	if out.silent() {
		if rest, err = s.ending(ctx, t.ID); err != nil {
			return err
		}
	}
	return out.end(rest)
}

// stream sends events to a client.
type stream struct {
	mu     sync.Mutex
	events *writer
	flush  func() error
	every  time.Duration
	// timer sends a ping when nothing was sent for a while. A waiting timer needs no
	// goroutine, which allows many followers.
	timer  *time.Timer
	closed bool
}

// newStream returns a stream that calls lost when a ping fails because its client is
// gone.
func newStream(w http.ResponseWriter, task string, every time.Duration, lost func(error)) *stream {
	s := &stream{flush: http.NewResponseController(w).Flush, every: every}
	s.events = &writer{to: w, task: task, behind: "\n\n", before: func(e *taskstore.TaskEvent) string {
		return "event: " + e.Type + "\ndata: "
	}}
	s.timer = time.AfterFunc(every, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return
		}
		_, err := w.Write([]byte(": ping\n\n"))
		if err == nil {
			err = s.sent()
		}
		if err != nil {
			lost(err)
		}
	})
	return s
}

// sent flushes what was written, and restarts the ping timer.
func (s *stream) sent() error {
	s.timer.Reset(s.every)
	return s.flush()
}

// begin sends the response header.
func (s *stream) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent()
}

// write sends events.
func (s *stream) write(events []taskstore.TaskEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.events.write(events); err != nil {
		return err
	}
	return s.sent()
}

// end sends the last events, including those held back.
func (s *stream) end(events []taskstore.TaskEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.events.write(events); err != nil {
		return err
	}
	if err := s.events.end(); err != nil {
		return err
	}
	return s.sent()
}

// silent reports whether there was no event.
func (s *stream) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.count == 0 && len(s.events.kept) == 0
}

// close stops the pings: the response must not be written to any more.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.timer.Stop()
}

package rest

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// Events is a response of server-sent events. It sends a ping when nothing was sent for a
// while, so that proxies keep the connection and a client that is gone is noticed. It is
// safe for concurrent use.
type Events struct {
	w     io.Writer
	flush func() error
	every time.Duration

	mu sync.Mutex
	// timer sends the ping. A waiting timer needs no goroutine, which allows many streams.
	timer  *time.Timer
	closed bool
}

// WriteEventHeader sends the header of a response of server-sent events.
func WriteEventHeader(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	// Buffering proxies would hold events back.
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

// NewEvents returns the body of a response whose header has been written. lost is called
// when a ping fails because the client is gone. The caller must close it.
func NewEvents(w http.ResponseWriter, every time.Duration, lost func(error)) *Events {
	e := &Events{w: w, flush: http.NewResponseController(w).Flush, every: every}
	e.timer = time.AfterFunc(every, func() {
		if err := e.ping(); err != nil {
			lost(err)
		}
	})
	return e
}

func (e *Events) ping() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	return e.send(func(w io.Writer) error {
		_, err := w.Write([]byte(": ping\n\n"))
		return err
	})
}

// Send sends what write writes. A nil write sends what was written before, such as the
// header.
func (e *Events) Send(write func(io.Writer) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.send(write)
}

func (e *Events) send(write func(io.Writer) error) error {
	if write != nil {
		if err := write(e.w); err != nil {
			return err
		}
	}
	e.timer.Reset(e.every)
	return e.flush()
}

// Close stops the pings: the response must not be written to any more.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.timer.Stop()
}

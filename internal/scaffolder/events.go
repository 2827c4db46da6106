package scaffolder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// pageSize is how many events are read per query.
const pageSize = 1000

// happened is an event as clients see it.
type happened struct {
	ID          int64           `json:"id"`
	Recoverable bool            `json:"isTaskRecoverable"`
	TaskID      string          `json:"taskId"`
	Body        json.RawMessage `json:"body"`
	Type        string          `json:"type"`
	CreatedAt   string          `json:"createdAt"`
}

// writer writes the events of a task, each with a prefix and a suffix. A retried task
// has events after its end, and clients stop reading at an end event. So only the
// last end is sent: an end event is held back until it is known what follows.
type writer struct {
	to   io.Writer
	task string
	// before and behind are the prefix and the suffix of an event.
	before func(e *taskstore.TaskEvent) string
	behind string

	kept []taskstore.TaskEvent
	// count is how many events were written.
	count int
	buf   bytes.Buffer
}

// write writes the next events.
func (w *writer) write(events []taskstore.TaskEvent) error {
	for _, e := range events {
		switch e.Type {
		case taskstore.EventCompletion, taskstore.EventCancelled:
			w.kept = append(w.kept, e)
			continue
		case taskstore.EventRecovered:
			w.kept = nil
		}
		if err := w.end(); err != nil {
			return err
		}
		if err := w.one(&e); err != nil {
			return err
		}
	}
	return nil
}

// end writes the events that were held back.
func (w *writer) end() error {
	for i := range w.kept {
		if err := w.one(&w.kept[i]); err != nil {
			return err
		}
	}
	w.kept = nil
	return nil
}

func (w *writer) one(e *taskstore.TaskEvent) error {
	w.buf.Reset()
	w.buf.WriteString(w.before(e))
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(happened{ID: e.N, TaskID: w.task, Body: e.Body, Type: e.Type, CreatedAt: asTime(e.Created)}); err != nil {
		return err
	}
	// Encode ends with a newline.
	w.buf.Truncate(w.buf.Len() - 1)
	w.buf.WriteString(w.behind)
	w.count++
	_, err := w.to.Write(w.buf.Bytes())
	return err
}

// after returns the number of the event after which the caller wants to read.
// Browsers that reconnect send it in a header.
func after(r *http.Request) (int64, error) {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return 0, err
	}
	n, err := rest.Count(params, "after", 0)
	if !params.Has("after") {
		if last, bad := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); bad == nil && last > 0 {
			return last, nil
		}
	}
	return int64(n), err
}

// ending returns the event that ended a task, for clients that ask for later events,
// so that they learn that there is nothing to wait for. It is nil if there is none.
func (s *Scaffolder) ending(ctx context.Context, id string) ([]taskstore.TaskEvent, error) {
	marks, err := s.TaskStore.TaskMarks(ctx, []string{id})
	if err != nil || marks[id] == 0 {
		return nil, err
	}
	events, err := s.TaskStore.TaskEvents(ctx, id, marks[id]-1, 1)
	if err != nil || len(events) == 0 || events[0].Type != taskstore.EventCompletion {
		return nil, err
	}
	return events, nil
}

// errEnough stops following a task.
var errEnough = errors.New("events found")

// events answers GET /v2/tasks/{id}/events with the stored events or, if there are
// none yet, with the next ones, if they arrive soon.
func (s *Scaffolder) events(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := s.task(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	from, err := after(r)
	if err != nil {
		return err
	}
	page, err := s.TaskStore.TaskEvents(ctx, t.ID, from, pageSize)
	if err == nil && len(page) == 0 && !over(t) {
		page, err = s.next(r, t.ID, from)
	}
	if err == nil && len(page) == 0 && over(t) {
		page, err = s.ending(ctx, t.ID)
	}
	if err != nil {
		return err
	}
	return rest.WriteStream(w, r, rest.Streamed{Write: func(to io.Writer) error {
		return s.list(ctx, bufio.NewWriterSize(to, 64<<10), t.ID, page)
	}})
}

// next waits for events until the poll timeout.
func (s *Scaffolder) next(r *http.Request, id string, from int64) (events []taskstore.TaskEvent, err error) {
	done, err := s.follow(r)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx := r.Context()
	wait, cancel := context.WithTimeout(ctx, s.poll)
	defer cancel()
	err = s.Tasks.Follow(wait, id, from, func(some []taskstore.TaskEvent) error {
		events = some
		return errEnough
	})
	if errors.Is(err, errEnough) || wait.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return events, err
}

// list writes events, beginning with page, as one list. All events of a task may be
// many times larger than memory.
func (s *Scaffolder) list(ctx context.Context, to *bufio.Writer, id string, page []taskstore.TaskEvent) error {
	// The writer keeps its first error, and Flush returns it.
	_ = to.WriteByte('[')
	out := &writer{to: to, task: id}
	out.before = func(*taskstore.TaskEvent) string {
		if out.count == 0 {
			return ""
		}
		return ","
	}
	var err error
	for len(page) > 0 && err == nil {
		if err = out.write(page); err == nil {
			page, err = s.TaskStore.TaskEvents(ctx, id, page[len(page)-1].N, pageSize)
		}
	}
	if err == nil {
		err = out.end()
	}
	if err != nil {
		return err
	}
	_ = to.WriteByte(']')
	return to.Flush()
}

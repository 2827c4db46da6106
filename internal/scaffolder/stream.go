package scaffolder

import (
	"context"
	"io"
	"net/http"
	"time"

	"example.dev/ingestor/internal/rest"
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
	done, err := s.follow(r)
	if err != nil {
		return err
	}
	defer done()
	rest.WriteEventHeader(w)
	if r.Method == http.MethodHead {
		return nil
	}
	out := newStream(w, t.ID, s.ping, cancel)
	defer out.Close()
	if err := out.Send(nil); err != nil {
		return err
	}
	if err := s.Tasks.Follow(ctx, t.ID, from, out.write); err != nil {
		return err
	}
	// If no event was sent, the client asked for events after the end.
	var ending []taskstore.TaskEvent
	if out.silent() {
		if ending, err = s.ending(ctx, t.ID); err != nil {
			return err
		}
	}
	return out.end(ending)
}

// stream sends the events of a task to a client.
type stream struct {
	*rest.Events
	events *writer
}

// newStream returns a stream that calls lost when a ping fails because its client is
// gone.
func newStream(w http.ResponseWriter, task string, every time.Duration, lost func(error)) *stream {
	return &stream{rest.NewEvents(w, every, lost), &writer{to: w, task: task, behind: "\n\n", before: func(e *taskstore.TaskEvent) string {
		return "event: " + e.Type + "\ndata: "
	}}}
}

// write sends events.
func (s *stream) write(events []taskstore.TaskEvent) error {
	return s.Send(func(io.Writer) error { return s.events.write(events) })
}

// end sends the last events, including those held back.
func (s *stream) end(events []taskstore.TaskEvent) error {
	return s.Send(func(io.Writer) error {
		if err := s.events.write(events); err != nil {
			return err
		}
		return s.events.end()
	})
}

// silent reports whether there was no event.
func (s *stream) silent() bool { return s.events.count == 0 && len(s.events.kept) == 0 }

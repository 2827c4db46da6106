package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

const (
	pingEvery = 15 * time.Second
	// streamFor is how long a stream lasts. The client then opens another, for which its
	// permissions are checked again.
	streamFor = 5 * time.Minute
	// streamAgain is when a client with too many streams may retry.
	streamAgain = 10 * time.Second
)

// errOver ends a stream that has lasted long enough.
var errOver = errors.New("stream is over")

// eventStream answers GET /by-name/{kind}/{namespace}/{name}/eventstream: the status now,
// and after each change.
func (s *Resources) eventStream(w http.ResponseWriter, r *http.Request) error {
	t, err := s.target(r)
	if err != nil {
		return err
	}
	done, ok := s.streams.Take(r)
	if !ok {
		return rest.OverLimit(streamAgain, "cannot follow another resource: %s follows %d already; close some pages", auth.From(r.Context()).Subject, s.streams.Most)
	}
	defer done()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, s.streamFor, errOver)
	defer stop()
	at, err := s.sessions.join(ctx, t.key(ctx), func(ctx context.Context, at *session) { s.follow(ctx, at, t) })
	if err != nil {
		return err
	}
	defer at.leave()
	rest.WriteEventHeader(w)
	if r.Method == http.MethodHead {
		return nil
	}
	out := rest.NewEvents(w, s.ping, cancel)
	defer out.Close()
	err = out.Send(nil)
	for number := 0; err == nil; {
		var u update
		if u, err = at.next(ctx, number); err == nil {
			number = u.number
			err = out.Send(u.write)
		}
	}
	if errors.Is(err, errOver) || r.Context().Err() != nil {
		return nil
	}
	return err
}

// write writes an update as an event.
func (u *update) write(w io.Writer) error {
	name, body := "status", any(u.status)
	if u.problem != nil {
		name, body = "problem", u.problem
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	return err
}

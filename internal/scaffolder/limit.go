package scaffolder

import (
	"net/http"
	"time"

	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

// streamAgain is when a client that follows too many tasks may retry.
const streamAgain = 10 * time.Second

// follow counts a request that waits for events of a task, or returns the fault for a
// caller who has too many. done must be called when the request ends.
func (s *Scaffolder) follow(r *http.Request) (done func(), err error) {
	done, ok := s.followers.Take(r)
	if !ok {
		return nil, rest.OverLimit(streamAgain, "cannot follow another task: %s follows %d already, and scaffolder.limits.eventStreams is %d; close some pages or clients that follow tasks",
			auth.From(r.Context()).Subject, s.followers.Most, s.followers.Most)
	}
	return done, nil
}

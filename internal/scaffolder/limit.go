package scaffolder

import (
	"net/http"
	"sync"
	"time"

	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

// streamAgain is when a client that follows too many tasks may retry.
const streamAgain = 10 * time.Second

// followers counts the requests that wait for events of tasks, by caller. Each of
// them holds a connection.
type followers struct {
	// most is how many such requests one caller may have at once; zero is no limit.
	most int

	mu  sync.Mutex
	all map[string]int
}

// add counts a request, or returns the fault for a caller who has too many. done must
// be called when the request ends.
func (f *followers) add(r *http.Request) (done func(), err error) {
	if f.most <= 0 {
		return func() {}, nil
	}
	who := auth.From(r.Context())
	key := who.Kind.String() + " " + who.Subject
	if who.Kind == auth.Guest {
		// All guests are the same user: one guest must not use up the limit of the others.
		key += " " + rest.ClientKey(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[key] >= f.most {
		return nil, rest.OverLimit(streamAgain, "cannot follow another task: %s follows %d already, and scaffolder.limits.eventStreams is %d; close some pages or clients that follow tasks",
			who.Subject, f.all[key], f.most)
	}
	if f.all == nil {
		f.all = map[string]int{}
	}
	f.all[key]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.all[key]--; f.all[key] == 0 {
			delete(f.all, key)
		}
	}, nil
}

package auth

import (
	"net/http"
	"sync"

	"example.dev/ingestor/internal/rest"
)

// Quota limits the requests that each caller has open at once, such as event streams.
type Quota struct {
	// Most is how many there may be; zero means no limit.
	Most int

	mu   sync.Mutex
	open map[string]int
}

// Take counts a request. If the caller has the maximum open already, ok is false;
// otherwise done must be called when the request ends.
func (q *Quota) Take(r *http.Request) (done func(), ok bool) {
	if q.Most <= 0 {
		return func() {}, true
	}
	who := From(r.Context())
	key := who.Kind.String() + " " + who.Subject
	if who.Kind == Guest {
		// All guests are the same user: one guest must not use up the limit of the others.
		key += " " + rest.ClientKey(r)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[key] >= q.Most {
		return nil, false
	}
	if q.open == nil {
		q.open = map[string]int{}
	}
	q.open[key]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open[key]--; q.open[key] == 0 {
			delete(q.open, key)
		}
	}, true
}

// Open returns the number of open requests.
func (q *Quota) Open() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, of := range q.open {
		n += of
	}
	return n
}

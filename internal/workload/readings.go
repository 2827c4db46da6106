package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/source/cluster"
)

const (
	// readFor is the timeout of reading a cluster.
	readFor = 20 * time.Second
	// keepFor is how long a reading is kept, so that pages that are open at the same time
	// share it.
	keepFor = time.Second
	// mostKept is the size limit of all readings that are kept.
	mostKept = 32 << 20
	// mostReadings is how many requests read from a cluster concurrently. Each cluster has
	// its own limit, so that one that does not answer delays no other.
	mostReadings = 8
)

// readings reads each cluster once for all who ask for the same at the same time.
type readings struct {
	now    func() time.Time
	flight singleflight.Group

	mu    sync.Mutex
	slots map[string]chan struct{}
	kept  map[readingKey]reading
	size  int
}

// reading is what was read of a cluster, and when.
type reading struct {
	Cluster
	at time.Time
}

// readingKey identifies a reading, and the callers who may see it.
type readingKey struct{ cluster, identity, selection, kinds string }

func newReadings(now func() time.Time) *readings {
	return &readings{now: now, kept: map[readingKey]reading{}, slots: map[string]chan struct{}{}}
}

// enter waits until another request may read from a cluster, and returns the function
// that ends it.
func (r *readings) enter(ctx context.Context, cluster string) (leave func(), err error) {
	r.mu.Lock()
	slots := r.slots[cluster]
	if slots == nil {
		slots = make(chan struct{}, mostReadings)
		r.slots[cluster] = slots
	}
	r.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// identityOf distinguishes callers who may see different objects.
func identityOf(ctx context.Context, on *cluster.Cluster) string {
	if !on.Impersonates() {
		return ""
	}
	c := identity.From(ctx)
	return fmt.Sprintf("%d %q %q %q", c.Kind, c.Subject, c.Login, c.Groups)
}

// get returns a reading of the last second, or makes one.
func (r *readings) get(ctx context.Context, key readingKey, read func(context.Context) (Cluster, error)) (Cluster, error) {
	if c, ok := r.recent(key); ok {
		return c, nil
	}
	answer := r.flight.DoChan(fmt.Sprintf("%q", key), func() (any, error) {
		// The first who asks may leave while others wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readFor)
		defer cancel()
		leave, err := r.enter(ctx, key.cluster)
		if err != nil {
			return Cluster{}, err
		}
		defer leave()
		c, err := read(ctx)
		if err == nil {
			r.keep(key, c)
		}
		return c, err
	})
	select {
	case a := <-answer:
		return a.Val.(Cluster), a.Err
	case <-ctx.Done():
		return Cluster{}, context.Cause(ctx)
	}
}

func (r *readings) recent(key readingKey) (Cluster, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	c, ok := r.kept[key]
	return c.Cluster, ok
}

// keep stores a reading, if there is room for it.
func (r *readings) keep(key readingKey, c Cluster) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	if old, ok := r.kept[key]; ok {
		r.size -= len(old.body)
		delete(r.kept, key)
	}
	if r.size+len(c.body) > mostKept {
		return
	}
	r.size += len(c.body)
	r.kept[key] = reading{c, r.now()}
}

// expire removes the readings that are too old.
func (r *readings) expire() {
	for key, old := range r.kept {
		if r.now().Sub(old.at) >= keepFor {
			r.size -= len(old.body)
			delete(r.kept, key)
		}
	}
}

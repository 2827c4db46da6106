// Package reading shares what is read from clusters between callers who may see the same
// and ask at the same time, and limits how many readings of a cluster are made at once.
package reading

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
	// Timeout is that of a reading.
	Timeout = 20 * time.Second
	// KeepFor is how long a reading is kept, so that pages that are open at the same time
	// share it.
	KeepFor = time.Second
	// AtOnce is how many requests read from a cluster concurrently. Each cluster has its
	// own limit, so that one that does not answer delays no other.
	AtOnce = 8
)

// Key identifies a reading, and the callers who may see it.
type Key struct {
	Cluster string
	// Identity is that of IdentityOf, and What distinguishes readings of a cluster.
	Identity, What string
}

// IdentityOf distinguishes callers who may see different objects of a cluster.
func IdentityOf(ctx context.Context, on *cluster.Cluster) string {
	if !on.Impersonates() {
		return ""
	}
	c := identity.From(ctx)
	return fmt.Sprintf("%d %q %q %q", c.Kind, c.Subject, c.Login, c.Groups)
}

// Readings are shared readings.
type Readings[T any] struct {
	now   func() time.Time
	weigh func(T) int
	most  int
	// keepFor is how long a reading is kept.
	keepFor time.Duration
	flight  singleflight.Group

	mu     sync.Mutex
	slots  map[string]chan struct{}
	kept   map[Key]kept[T]
	weight int
}

// kept is a reading, and when it was made.
type kept[T any] struct {
	value T
	at    time.Time
}

// New returns Readings of which at most the given weight is kept.
func New[T any](now func() time.Time, most int, weigh func(T) int) *Readings[T] {
	return &Readings[T]{now: now, weigh: weigh, most: most, keepFor: KeepFor, slots: map[string]chan struct{}{}, kept: map[Key]kept[T]{}}
}

// Keep returns the Readings, which keep each reading for a time instead of KeepFor. It
// must be called before they are used.
func (r *Readings[T]) Keep(d time.Duration) *Readings[T] {
	r.keepFor = d
	return r
}

// Enter waits until another request may read from a cluster, and returns the function
// that ends it.
func (r *Readings[T]) Enter(ctx context.Context, cluster string) (leave func(), err error) {
	r.mu.Lock()
	slots := r.slots[cluster]
	if slots == nil {
		slots = make(chan struct{}, AtOnce)
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

// Get returns a recent reading, or makes one, within the limit of the cluster.
func (r *Readings[T]) Get(ctx context.Context, key Key, read func(context.Context) (T, error)) (T, error) {
	if v, ok := r.recent(key); ok {
		return v, nil
	}
	answer := r.flight.DoChan(fmt.Sprintf("%q", key), func() (any, error) {
		// The first who asks may leave while others wait.
		return r.Read(context.WithoutCancel(ctx), key, read)
	})
	select {
	case a := <-answer:
		v, _ := a.Val.(T)
		return v, a.Err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Read makes a reading, within the limit of the cluster, and keeps it.
func (r *Readings[T]) Read(ctx context.Context, key Key, read func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	leave, err := r.Enter(ctx, key.Cluster)
	if err != nil {
		var none T
		return none, err
	}
	defer leave()
	v, err := read(ctx)
	if err == nil {
		r.keep(key, v)
	}
	return v, err
}

func (r *Readings[T]) recent(key Key) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	k, ok := r.kept[key]
	return k.value, ok
}

// keep stores a reading, if there is room for it.
func (r *Readings[T]) keep(key Key, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	r.remove(key)
	if w := r.weigh(v); r.weight+w <= r.most {
		r.weight += w
		r.kept[key] = kept[T]{v, r.now()}
	}
}

// expire removes the readings that are too old.
func (r *Readings[T]) expire() {
	for key, k := range r.kept {
		if r.now().Sub(k.at) >= r.keepFor {
			r.remove(key)
		}
	}
}

func (r *Readings[T]) remove(key Key) {
	if k, ok := r.kept[key]; ok {
		r.weight -= r.weigh(k.value)
		delete(r.kept, key)
	}
}

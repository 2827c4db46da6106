// Package cache caches what was counted in the catalog, and has concurrent callers share
// one computation.
package cache

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

// maxCached is the maximum weight of the cached answers: a number weighs 1, a list as
// much as it has items, a set 1 for each 100 bytes.
const maxCached = 100_000

// Cache caches answers for one revision. All methods may be called concurrently.
type Cache struct {
	clock    func() time.Time
	calls    calls
	mu       sync.Mutex
	revision int64
	// asked is when an answer at this revision was last wanted.
	asked   time.Time
	weight  int
	answers map[Key]any
}

// New returns an empty cache.
func New(clock func() time.Time) *Cache { return &Cache{clock: clock} }

// Key identifies an answer: it is a hash of what is counted.
type Key [sha256.Size]byte

// slowest is how long after a change of the catalog a reader may want answers of before it.
// Who wants them later sees a database that was restored.
const slowest = time.Second

// at reports whether answers at a revision are cached. It drops those of earlier revisions.
func (c *Cache) at(revision int64) bool {
	now := c.clock()
	if revision < c.revision && now.Sub(c.asked) < slowest {
		return false
	}
	if c.revision != revision || c.answers == nil {
		c.revision, c.weight, c.answers = revision, 0, map[Key]any{}
	}
	c.asked = now
	return true
}

// Get returns the cached answer at a revision.
func (c *Cache) Get(revision int64, key Key) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at(revision) {
		return nil, false
	}
	v, ok := c.answers[key]
	return v, ok
}

// Put caches an answer at a revision. Its weight is 1, or as much as it has items.
func (c *Cache) Put(revision int64, key Key, v any, weight int) {
	if weight > maxCached/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision < c.revision || !c.at(revision) {
		// Another goroutine has seen a later revision.
		return
	}
	if c.weight += weight; c.weight > maxCached {
		c.weight, c.answers = weight, map[Key]any{}
	}
	c.answers[key] = v
}

// Compute returns the cached answer at a revision, or what compute returns: the value,
// its weight and the revision at which it holds. Concurrent callers share one
// computation. The answer must not be changed.
func (c *Cache) Compute(
	ctx context.Context, revision int64, key Key, compute func(context.Context) (v any, weight int, at int64, err error),
) (any, error) {
	if v, ok := c.Get(revision, key); ok {
		return v, nil
	}
	return c.calls.do(ctx, callKey{revision, key}, func(ctx context.Context) (any, error) {
		// The previous call may have cached the answer in between.
		if v, ok := c.Get(revision, key); ok {
			return v, nil
		}
		v, weight, at, err := compute(ctx)
		if err == nil {
			c.Put(at, key, v, weight)
		}
		return v, err
	})
}

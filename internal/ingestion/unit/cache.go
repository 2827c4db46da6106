package unit

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/wire"

	"github.com/maypok86/otter/v2"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
)

// Shared is a key-value cache that all replicas share.
type Shared interface {
	Get(ctx context.Context, key string) (value []byte, found bool, err error)
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
}

// Caching configures the caches.
type Caching struct {
	Enabled bool
	// TTL and MaxSize are those of the cache of decoded objects.
	TTL     time.Duration
	MaxSize int
	// Shared, if not nil, shares builds of units with other replicas.
	Shared Shared
}

// Which values are cached, and for how long, is part of the contract. The sizes that
// are not configurable are small enough for any replica.
const (
	transformsFor = 10 * time.Minute
	templatesFor  = time.Hour
	mostMade      = 16 << 20
	mostTemplates = 256
)

// caches holds the three caches: decoded objects, builds of units, and compiled forms.
// With all of them nil, nothing is cached.
type caches struct {
	metrics *metrics.Metrics
	now     func() time.Time
	shared  Shared
	// away is when the shared cache last failed, in Unix milliseconds.
	away       atomic.Int64
	resources  *otter.Cache[string, *tree.Node]
	transforms *otter.Cache[string, Build]
	templates  *otter.Cache[string, *form.Form]
}

func newCaches(c Caching, m *metrics.Metrics, now func() time.Time) *caches {
	out := &caches{metrics: m, now: now}
	if !c.Enabled {
		return out
	}
	out.shared = c.Shared
	out.resources = otter.Must(&otter.Options[string, *tree.Node]{
		MaximumSize: c.MaxSize, ExpiryCalculator: otter.ExpiryWriting[string, *tree.Node](c.TTL),
	})
	out.transforms = otter.Must(&otter.Options[string, Build]{
		MaximumWeight: mostMade, Weigher: weigh, ExpiryCalculator: otter.ExpiryWriting[string, Build](transformsFor),
	})
	out.templates = otter.Must(&otter.Options[string, *form.Form]{
		MaximumSize: mostTemplates, ExpiryCalculator: otter.ExpiryWriting[string, *form.Form](templatesFor),
	})
	return out
}

func weigh(key string, o Build) uint32 {
	n := len(key) + len(o.Provider)
	for _, e := range o.Entities {
		n += len(e)
	}
	return uint32(n)
}

// node returns the decoded object. Callers must not modify it.
func (c *caches) node(o *mirror.Object) (*tree.Node, error) {
	if c.resources == nil {
		return wire.Decoder{}.Decode(o.Body)
	}
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%d\x00%s", o.Source, o.List, o.Key, o.Version, object.Hash(string(o.Body)))
	if n, ok := c.resources.GetIfPresent(key); ok {
		c.metrics.Cached(metrics.CacheResources, true)
		return n, nil
	}
	c.metrics.Cached(metrics.CacheResources, false)
	n, err := wire.Decoder{}.Decode(o.Body)
	if err == nil {
		c.resources.Set(key, n)
	}
	return n, err
}

// placed returns the decoded object at its position in its file, and its note. Callers
// must not modify the node.
func (c *caches) placed(o *mirror.Object) (*tree.Node, object.Note, error) {
	n, err := c.node(o)
	if err != nil {
		return nil, object.Note{}, fmt.Errorf("cannot read mirrored object %s %s: %w", o.Source, o.Key, err)
	}
	kept := object.NoteOf(o)
	if kept.At == (tree.Pos{}) {
		return n, kept, nil
	}
	// Copy the node: the cached one is shared and has no position.
	placed := *n
	placed.Pos = kept.At
	return &placed, kept, nil
}

// made returns the cached build of a unit, made by this or another replica. Builds must be
// cached.
func (c *caches) made(ctx context.Context, key string) (Build, bool) {
	if o, ok := c.transforms.GetIfPresent(key); ok {
		c.metrics.Cached(metrics.CacheTransforms, true)
		return o, true
	}
	o, ok := c.fromShared(ctx, key)
	if ok {
		c.transforms.Set(key, o)
	}
	c.metrics.Cached(metrics.CacheTransforms, ok)
	return o, ok
}

// fromShared looks up a build in the shared cache. A failing cache costs time but never
// correctness.
func (c *caches) fromShared(ctx context.Context, key string) (o Build, ok bool) {
	if c.shared == nil || c.resting() {
		return o, false
	}
	data, ok, err := c.shared.Get(ctx, key)
	c.asked(err)
	if err != nil || !ok || json.Unmarshal(data, &o) != nil {
		return Build{}, false
	}
	return o, true
}

// resting reports whether the shared cache is skipped because it failed a moment ago:
// otherwise a thousand units would each wait for a timeout.
func (c *caches) resting() bool {
	return c.now().Sub(time.UnixMilli(c.away.Load())).Abs() < scan.Rest
}

func (c *caches) asked(err error) {
	if err != nil {
		c.away.Store(c.now().UnixMilli())
	}
}

// none returns caches that keep nothing.
func (c *caches) none() *caches { return &caches{metrics: c.metrics, now: c.now} }

// keeps reports whether builds are cached.
func (c *caches) keeps() bool { return c.transforms != nil }

// keep caches the build of a unit. Builds must be cached.
func (c *caches) keep(ctx context.Context, key string, o Build) {
	c.transforms.Set(key, o)
	if c.shared == nil || c.resting() {
		return
	}
	if data, err := json.Marshal(o); err == nil {
		// A failure is harmless: the unit is built again on a cache miss.
		c.asked(c.shared.Set(ctx, key, data, transformsFor))
	}
}

// forms returns the cache of compiled forms, or nil if there is none.
func (c *caches) forms() engine.FormCache {
	if c.templates == nil {
		return nil
	}
	return c
}

// Form implements engine.FormCache.
func (c *caches) Form(key string, compile func() *form.Form) *form.Form {
	if f, ok := c.templates.GetIfPresent(key); ok {
		c.metrics.Cached(metrics.CacheTemplates, true)
		return f
	}
	c.metrics.Cached(metrics.CacheTemplates, false)
	f := compile()
	c.templates.Set(key, f)
	return f
}

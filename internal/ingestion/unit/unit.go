// Package unit builds the entities of a unit: it loads a definition, or the workloads of
// one ID, with the objects that belong to it from the mirror, and lets the engine of the
// first variant that selects it transform them.
package unit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/metrics"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
)

// Preparer does the part of writing a document to the catalog that can be done ahead. It
// may be called concurrently.
type Preparer interface {
	// Prepare returns the value for Build.Prepared. It does not retain the node.
	Prepare(n *tree.Node) any
}

// Build is the set of entities that the catalog is to have for a unit.
type Build struct {
	// Provider owns the entities.
	Provider string
	// Entities are JSON documents; nil for a document that is prepared and not cached.
	Entities [][]byte
	// Prepared are the prepared documents, if they were just built. They are not cached.
	Prepared []any `json:"-"`
	// Keep are references of further entities that the provider keeps, if it has them. All
	// entities that are in neither are removed.
	Keep []string
}

// Options are the options of New.
type Options struct {
	Mirror   *mirror.Mirror
	Variants []*variant.Variant
	// Targets give the lists of objects their display names.
	Targets []status.Target
	Catalog Preparer
	Metrics *metrics.Metrics
	Once    *once.Log
	Now     func() time.Time
	Caching Caching
	// Reached is called before certain steps. Tests intervene there.
	Reached func(step, detail string)
}

// Builder builds units. Its methods may be called concurrently.
type Builder struct {
	Options
	caches *caches
}

// New returns a builder with empty caches.
func New(o Options) *Builder {
	return &Builder{Options: o, caches: newCaches(o.Caching, o.Metrics, o.Now)}
}

// PassOptions are the options of Pass.
type PassOptions struct {
	// Uncached says that nothing is cached, because each entry would only evict another
	// one that is not read again either.
	Uncached bool
	// Lint says that findings about definitions are wanted.
	Lint bool
	// Failing are units that are known to fail, and why. They are not transformed again.
	Failing map[string]string
}

// Pass builds units as of one time. Its methods may be called concurrently.
type Pass struct {
	*Builder
	PassOptions
	At time.Time
	// caches are those of the builder, or empty ones.
	caches   *caches
	statuses map[string]status.Status
	// processors is a semaphore of CPU slots for transforming. One CPU is left to writing.
	processors chan struct{}
}

// Pass begins a pass with the present states of the targets.
func (b *Builder) Pass(ctx context.Context, o PassOptions) (*Pass, error) {
	statuses, err := status.Load(ctx, b.Mirror)
	if err != nil {
		return nil, err
	}
	p := &Pass{
		Builder: b, PassOptions: o, At: b.Now(), caches: b.caches, statuses: statuses,
		processors: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)),
	}
	if o.Uncached {
		p.caches = b.caches.none()
	}
	return p, nil
}

// Built is a unit with its build.
type Built struct {
	Unit  mirror.Unit
	Build Build
	// Failed is why the unit could not be built; its entities stay as they are.
	Failed string
	// Waited is how long it waited for a CPU slot.
	Waited time.Duration
}

// Loaded is what a unit is built from.
type Loaded struct {
	// Objects are the objects of the unit.
	Objects []mirror.Object
	// Parts are composites of other units that composites of the unit compose, and that
	// have entities. They are sorted.
	Parts []engine.CompositeKey
}

// Load loads units: all objects of each, and what they depend on.
func (b *Builder) Load(ctx context.Context, names []string) (map[string]Loaded, error) {
	objects, err := b.objects(ctx, names)
	if err != nil {
		return nil, err
	}
	parts, err := b.parts(ctx, objects)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Loaded, len(objects))
	for name, all := range objects {
		out[name] = Loaded{Objects: all, Parts: parts[name]}
	}
	return out, nil
}

// objects loads all objects of units.
func (b *Builder) objects(ctx context.Context, names []string) (map[string][]mirror.Object, error) {
	b.Reached("load", strconv.Itoa(len(names)))
	objects, err := b.Mirror.UnitObjects(ctx, names)
	b.Reached("loaded", strconv.Itoa(len(names)))
	if err != nil {
		return nil, err
	}
	out := make(map[string][]mirror.Object, len(names))
	owners := map[string][]string{}
	for _, o := range objects {
		out[o.Unit] = append(out[o.Unit], o)
		for _, kind := range []string{o.Kind, o.Claim} {
			if kind != "" && !slices.Contains(owners[kind], o.Unit) {
				owners[kind] = append(owners[kind], o.Unit)
			}
		}
	}
	if len(owners) == 0 {
		return out, nil
	}
	more, err := b.Mirror.KindObjects(ctx, slices.Sorted(maps.Keys(owners)))
	if err != nil {
		return nil, err
	}
	for _, o := range more {
		for _, unit := range owners[o.Of] {
			out[unit] = append(out[unit], o)
		}
	}
	return out, nil
}

// Build builds the entities of a unit.
func (p *Pass) Build(ctx context.Context, u mirror.Unit, from Loaded) (d Built) {
	d = Built{Unit: u, Build: Build{Provider: provider(u.Name)}}
	defer func() {
		if v := recover(); v != nil {
			// A panic in one unit must not affect the others.
			d.Failed = fmt.Sprintf("cannot build unit: %v", v)
		}
	}()
	stale, since := p.Stale(from.Objects)
	found := p.At
	if stale != "" {
		// Stale objects were last found earlier.
		found = since
	}
	var key string
	if p.caches.keeps() {
		key = p.fingerprint(u.Name, from, stale, since)
		if kept, ok := p.caches.made(ctx, key); ok {
			d.Build.Entities, d.Build.Keep = kept.Entities, kept.Keep
			return d
		}
	}
	var free func()
	d.Waited, free = p.processor()
	defer free()
	entities, made := p.Transform(ctx, u.Name, from, found)
	if made.Failed != "" {
		d.Failed = made.Failed
		return d
	}
	// Entities that the catalog would refuse now may have been valid before.
	d.Build.Keep = made.Withheld
	var buf []byte
	var prepared []any
	for _, e := range entities {
		if stale != "" {
			engine.MarkStale(e, stale, since)
		}
		n := e.Node()
		ready := p.Catalog.Prepare(n)
		var text []byte
		if ready == nil || p.caches.keeps() {
			buf = tree.AppendJSON(buf[:0], n, "")
			// Clone without spare capacity, because the cache retains the text.
			text = bytes.Clone(buf)
		}
		d.Build.Entities = append(d.Build.Entities, text)
		prepared = append(prepared, ready)
	}
	// Writing to a remote cache may take long and needs no CPU slot.
	free()
	if p.caches.keeps() {
		p.caches.keep(ctx, key, d.Build)
	}
	d.Build.Prepared = prepared
	return d
}

// processor waits for a CPU slot. It returns how long that took, and a function that
// releases the slot, which may be called more than once.
func (p *Pass) processor() (waited time.Duration, free func()) {
	begun := p.Now()
	p.processors <- struct{}{}
	return p.Now().Sub(begun), sync.OnceFunc(func() { <-p.processors })
}

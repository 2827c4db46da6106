package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// providerDefinition is the prefix of the provider of a definition's entities; the name
// of the definition follows. The provider of workloads has the name of their unit.
const providerDefinition = "definition:"

func provider(unit string) string {
	if strings.HasPrefix(unit, unitWorkload) {
		return unit
	}
	return providerDefinition + unit
}

// load loads all objects of units.
func (in *Ingest) load(ctx context.Context, names []string) (map[string][]mirror.Object, error) {
	in.reached("load", strconv.Itoa(len(names)))
	objects, err := in.Mirror.UnitObjects(ctx, names)
	in.reached("loaded", strconv.Itoa(len(names)))
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
	more, err := in.Mirror.KindObjects(ctx, slices.Sorted(maps.Keys(owners)))
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

// buildUnits builds a batch of units.
func (s *unitBatch) buildUnits(ctx context.Context, units []mirror.Unit) ([]builtUnit, error) {
	begun := s.Now()
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.Name
	}
	loaded, err := s.load(ctx, names)
	if err != nil {
		return nil, err
	}
	took := s.Now().Sub(begun)
	s.meters.phase("load", took)
	s.mu.Lock()
	s.tally.Load += took
	s.mu.Unlock()
	begun = s.Now()
	out := make([]builtUnit, len(units))
	var waited time.Duration
	for i, u := range units {
		out[i] = s.buildUnit(ctx, u, loaded[u.Name])
		waited += out[i].waited
	}
	took = s.Now().Sub(begun) - waited
	s.meters.phase("transform", took)
	s.mu.Lock()
	s.tally.Transform += took
	s.mu.Unlock()
	return out, ctx.Err()
}

// buildUnit builds the entities of a unit.
func (s *unitBatch) buildUnit(ctx context.Context, u mirror.Unit, objects []mirror.Object) (d builtUnit) {
	d = builtUnit{unit: u, outcome: Build{Provider: provider(u.Name)}}
	defer func() {
		if p := recover(); p != nil {
			// A panic in one unit must not affect the others.
			d.failed = fmt.Sprintf("cannot build unit: %v", p)
		}
	}()
	stale, since := s.stale(objects)
	found := s.now
	if stale != "" {
		// Stale objects were last found earlier.
		found = since
	}
	key := s.fingerprint(u.Name, objects, stale, since)
	if kept, ok := s.caches.made(ctx, key); ok {
		d.outcome.Entities, d.outcome.Keep = kept.Entities, kept.Keep
		return d
	}
	var free func()
	d.waited, free = s.processor()
	defer free()
	entities, made := s.transform(ctx, u.Name, objects, found)
	if made.failed != "" {
		d.failed = made.failed
		return d
	}
	// Entities that the catalog would refuse now may have been valid before.
	d.outcome.Keep = made.withheld
	var buf []byte
	var prepared []any
	for _, e := range entities {
		if stale != "" {
			engine.MarkStale(e, stale, since)
		}
		n := e.Node()
		ready := s.Catalog.Prepare(n)
		var text []byte
		if ready == nil || s.caches.keeps() {
			buf = tree.AppendJSON(buf[:0], n, "")
			// Clone without spare capacity, because the cache retains the text.
			text = bytes.Clone(buf)
		}
		d.outcome.Entities = append(d.outcome.Entities, text)
		prepared = append(prepared, ready)
	}
	// Writing to a remote cache may take long and needs no CPU slot.
	free()
	s.caches.keep(ctx, key, d.outcome)
	d.outcome.Prepared = prepared
	return d
}

// processor waits for a CPU slot. It returns how long that took, and a function that
// releases the slot, which may be called more than once.
func (s *unitBatch) processor() (waited time.Duration, free func()) {
	begun := s.Now()
	s.processors <- struct{}{}
	return s.Now().Sub(begun), sync.OnceFunc(func() { <-s.processors })
}

// making is the result of transforming a unit.
type making struct {
	// part is the variant that selected the unit, empty if none did.
	part     string
	withheld []string
	failed   string
	findings []finding.Finding
	sources  []engine.Source
	// left are variants that would have selected it too.
	left []string
}

// transform lets the first variant that selects a unit build its entities, as found at
// the given time.
func (s *unitBatch) transform(ctx context.Context, unit string, objects []mirror.Object, found time.Time) ([]*entity.Entity, making) {
	if strings.HasPrefix(unit, unitWorkload) {
		return s.component(strings.TrimPrefix(unit, unitWorkload), objects, found)
	}
	parts, err := s.variantsOf(unit, objects, found)
	if err != nil {
		return nil, making{failed: err.Error()}
	}
	report, err := pipeline.RunParts(ctx, parts, nil)
	if err != nil {
		return nil, making{failed: err.Error()}
	}
	if len(report.Definitions) == 0 {
		return nil, making{}
	}
	name := report.Definitions[0]
	m := making{
		part: report.TakenBy[name], left: report.LeftBy[name], withheld: report.Withheld, findings: report.Findings, sources: report.Sources[name],
	}
	for _, f := range report.Findings {
		if f.Rule == pipeline.RuleInternal {
			m.failed = f.Message
		}
	}
	return report.Entities, m
}

// variantsOf returns the variants that have seen a unit's definition, each with the
// objects it has seen.
func (s *unitBatch) variantsOf(unit string, objects []mirror.Object, found time.Time) ([]pipeline.Part, error) {
	var out []pipeline.Part
	for _, p := range s.parts {
		set, err := s.set(p, objects)
		if err != nil {
			return nil, err
		}
		if len(set.Definitions) == 0 || !p.Definitions {
			continue
		}
		maker, transformer := p.engine(found, s.caches.forms())
		if why, fails := s.spared[unit]; fails {
			transformer = engine.TransformerFunc(func(engine.Input) (engine.Result, error) { return engine.Result{}, errors.New(why) })
		}
		out = append(out, pipeline.Part{Name: p.Name, Options: pipeline.Options{
			Source: source.Func(func(context.Context) (*xrd.Set, error) { return set, nil }),
			Engine: maker, Transformer: transformer, Filter: p.Filter, Words: p.Engine.Words, Parallelism: 1, Panicked: p.panicked,
			SkipLint: !s.asked,
		}})
	}
	return out, nil
}

// panicked logs the stack of a panic of the engine, if that is configured.
func (p *variant) panicked(definition string, stack []byte) {
	if p.Stacks && p.in.news("panic "+definition, string(stack)) {
		p.Log.Error("engine panicked", "definition", definition, "stack", string(stack))
	}
}

// set returns the set of those objects that a variant has seen.
func (s *unitBatch) set(p *variant, objects []mirror.Object) (*xrd.Set, error) {
	set := &xrd.Set{}
	for i := range objects {
		o := &objects[i]
		if !p.owns(o.Source) || len(o.Body) == 0 {
			continue
		}
		n, err := s.caches.node(o)
		if err != nil {
			return nil, fmt.Errorf("cannot read mirrored object %s %s: %w", o.Source, o.Key, err)
		}
		kept := noteOf(o)
		if kept.At != (tree.Pos{}) {
			// Copy the node: the cached one is shared and has no position.
			placed := *n
			placed.Pos = kept.At
			n = &placed
		}
		before := len(set.Definitions)
		set.Add(n, kept.Origin)
		for _, d := range set.Definitions[before:] {
			for _, kind := range kept.unservedKinds(s.conditions[o.Source]) {
				d.NotServed(kind)
			}
		}
	}
	return set, nil
}

// owns reports whether a source belongs to the variant.
func (p *variant) owns(source string) bool { return strings.HasPrefix(source, p.Name+"/") }

// component builds the entity of workloads.
func (s *unitBatch) component(id string, objects []mirror.Object, at time.Time) ([]*entity.Entity, making) {
	for _, p := range s.parts {
		if !p.Workloads {
			continue
		}
		var found []*xrd.Object
		set, err := s.set(p, objects)
		if err != nil {
			return nil, making{failed: err.Error()}
		}
		found = append(found, set.Others...)
		if len(found) == 0 {
			continue
		}
		maker, _ := p.engine(at, nil)
		res, withheld := pipeline.Component(maker, id, found, p.panicked)
		m := making{part: p.Name, findings: res.Findings, withheld: withheld}
		for _, f := range res.Findings {
			if f.Rule == pipeline.RuleInternal {
				m.failed = f.Message
			}
		}
		return res.Entities, m
	}
	return nil, making{}
}

// stale returns the lists of a unit's objects that cannot be read, and since when;
// empty if all can.
func (s *unitBatch) stale(objects []mirror.Object) (what string, since time.Time) {
	var places []string
	for i := range objects {
		o := &objects[i]
		c := s.conditions[o.Source].Lists[o.List]
		at := c.stale(o.Key)
		if at.IsZero() {
			continue
		}
		where := s.called(o.Source, o.List)
		if !slices.Contains(places, where) {
			places = append(places, where)
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	slices.Sort(places)
	return strings.Join(places, ", "), since
}

// called returns the display name of a list of a target.
func (in *Ingest) called(source, list string) string {
	at := source
	if i := slices.IndexFunc(in.places, func(p *target) bool { return p.name == source }); i >= 0 {
		at = in.places[i].at
	}
	kind, _, _ := strings.Cut(list, " ")
	return at + "/" + kind
}

// fingerprint returns a hash of everything that a unit's entities depend on.
func (s *unitBatch) fingerprint(unit string, objects []mirror.Object, stale string, since time.Time) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00", unit, stale, since.UnixMilli())
	for _, p := range s.parts {
		fmt.Fprintf(h, "%s\x00", p.sealed)
	}
	for i := range objects {
		o := &objects[i]
		fmt.Fprintf(h, "%s\x00%s\x00%d %d\x00", o.Source, o.Key, len(o.Note), len(o.Body))
		if o.Unit == unit {
			kept := noteOf(o)
			fmt.Fprintf(h, "%q\x00", kept.unservedKinds(s.conditions[o.Source]))
		}
		h.Write(o.Note)
		h.Write(o.Body)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// decode decodes the body of an object.
func decode(o *mirror.Object) (*tree.Node, error) { return wire.Decoder{}.Decode(o.Body) }

// Restore restores the entities of a provider, if it belongs to the service.
func (in *Ingest) Restore(ctx context.Context, provider string) error {
	if !Provides(provider) {
		return nil
	}
	if err := in.Mirror.Touch(ctx, []string{strings.TrimPrefix(provider, providerDefinition)}); err != nil {
		return err
	}
	in.buildSoon()
	return nil
}

// ProviderPrefixes returns the name prefixes of the service's providers.
func ProviderPrefixes() []string { return []string{providerDefinition, unitWorkload} }

// Provides reports whether a provider belongs to the service.
func Provides(provider string) bool {
	return strings.HasPrefix(provider, providerDefinition) || strings.HasPrefix(provider, unitWorkload)
}

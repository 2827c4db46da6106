package unit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/variant"
)

// wanted is a composite that another one refers to as its part, if it exists.
type wanted struct {
	unit string
	part engine.Part
}

// parts returns, by unit, the composites of all units that the composites among its objects
// compose, and that have entities. It reads no bodies.
func (b *Builder) parts(ctx context.Context, objects map[string][]mirror.Object) (map[string][]engine.CompositeKey, error) {
	byKind := map[string][]wanted{}
	for unit, all := range objects {
		for i := range all {
			if err := b.wants(byKind, unit, &all[i]); err != nil {
				return nil, err
			}
		}
	}
	if len(byKind) == 0 {
		return nil, nil
	}
	taking, err := b.taking(ctx, slices.Sorted(maps.Keys(byKind)))
	if err != nil {
		return nil, err
	}
	out := map[string][]engine.CompositeKey{}
	for kind, variants := range taking {
		known, err := b.existing(ctx, kind, byKind[kind], variants)
		if err != nil {
			return nil, err
		}
		for _, w := range byKind[kind] {
			if key, ok := w.part.Find(func(k engine.CompositeKey) bool { return known[k] }); ok {
				out[w.unit] = append(out[w.unit], key)
			}
		}
	}
	for unit, keys := range out {
		slices.SortFunc(keys, engine.CompositeKey.Compare)
		out[unit] = slices.Compact(keys)
	}
	return out, nil
}

// wants adds the references of an object to byKind.
func (b *Builder) wants(byKind map[string][]wanted, unit string, o *mirror.Object) error {
	if o.Of == "" || !bytes.Contains(o.Body, []byte(`"resourceRefs"`)) {
		return nil
	}
	n, err := b.caches.node(o)
	if err != nil {
		return fmt.Errorf("cannot read mirrored object %s %s: %w", o.Source, o.Key, err)
	}
	for _, p := range engine.PartsOf(n, object.NoteOf(o).Origin.Cluster) {
		kind := object.PartKind(p)
		byKind[kind] = append(byKind[kind], wanted{unit, p})
	}
	return nil
}

// taking returns, for those of the kinds that are defined, the variants that build entities
// of their composites: for each definition the first that selects it.
func (b *Builder) taking(ctx context.Context, kinds []string) (map[string][]*variant.Variant, error) {
	definitions, err := b.Mirror.Defining(ctx, kinds)
	if err != nil {
		return nil, err
	}
	sources := map[string]map[string][]string{}
	for _, d := range definitions {
		for _, kind := range []string{d.Kind, d.Claim} {
			if _, asked := slices.BinarySearch(kinds, kind); !asked {
				continue
			}
			if sources[kind] == nil {
				sources[kind] = map[string][]string{}
			}
			sources[kind][d.Unit] = append(sources[kind][d.Unit], d.Source)
		}
	}
	out := map[string][]*variant.Variant{}
	for kind, units := range sources {
		for _, of := range units {
			i := slices.IndexFunc(b.Variants, func(v *variant.Variant) bool { return v.Definitions && slices.ContainsFunc(of, v.Owns) })
			if i >= 0 && !slices.Contains(out[kind], b.Variants[i]) {
				out[kind] = append(out[kind], b.Variants[i])
			}
		}
	}
	return out, nil
}

// existing returns those of the wanted composites of a kind that one of the variants has
// seen.
func (b *Builder) existing(ctx context.Context, kind string, all []wanted, variants []*variant.Variant) (map[engine.CompositeKey]bool, error) {
	// In a cluster and in a folder, an object has different keys.
	named := map[string]engine.CompositeKey{}
	for _, w := range all {
		for _, k := range []engine.CompositeKey{w.part.Key, w.part.Wide} {
			k.Cluster = ""
			named[object.Key(k.Namespace, k.Name)] = k
			named[object.Bounded(object.FolderKey(w.part.Group, k.Kind, k.Namespace, k.Name))] = k
		}
	}
	found, err := b.Mirror.Instances(ctx, kind, slices.Collect(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	out := map[engine.CompositeKey]bool{}
	for i := range found {
		o := &found[i]
		if !slices.ContainsFunc(variants, func(v *variant.Variant) bool { return v.Owns(o.Source) }) {
			continue
		}
		k := named[o.Key]
		k.Cluster = object.NoteOf(o).Origin.Cluster
		out[k] = true
	}
	return out, nil
}

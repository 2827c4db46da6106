package unit

import (
	"context"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Source returns the object that an entity of a unit is built from: the Composition of
// that name, or the definition if the name is empty. Of several copies it is the one
// that Transform uses. It reports false if there is none, or if no variant selects the
// definition.
func (b *Builder) Source(ctx context.Context, unit, composition string) (mirror.Object, bool, error) {
	objects, err := b.Mirror.UnitObjects(ctx, []string{unit})
	if err != nil {
		return mirror.Object{}, false, err
	}
	for _, v := range b.Variants {
		if !v.Definitions {
			continue
		}
		set, of, err := b.sources(v, objects)
		if err != nil {
			return mirror.Object{}, false, err
		}
		taken, _, _ := xrd.Select(set.Definitions, v.Refuse)
		if len(taken) == 0 {
			continue
		}
		d := taken[0]
		if composition == "" {
			return of[d.Node], true, nil
		}
		return b.composition(ctx, v, d, of[d.Node].Kind, composition)
	}
	return mirror.Object{}, false, nil
}

// composition returns the Composition of a name for a definition, which defines kind.
func (b *Builder) composition(ctx context.Context, v *variant.Variant, d *xrd.Definition, kind, name string) (mirror.Object, bool, error) {
	inFolder := object.FolderKey(words.GroupExtensions, xrd.KindComposition, "", "")
	objects, err := b.Mirror.KindObjectsIn(ctx, kind, object.ListCompositions, inFolder[:len(inFolder)-1])
	if err != nil {
		return mirror.Object{}, false, err
	}
	set, of, err := b.sources(v, objects)
	if err != nil {
		return mirror.Object{}, false, err
	}
	merged, _ := xrd.MergeCompositions(set.Compositions)
	i := slices.IndexFunc(merged, func(c *xrd.Composition) bool { return c.Name == name && c.For(d) })
	if i < 0 {
		return mirror.Object{}, false, nil
	}
	return of[merged[i].Node], true, nil
}

// sources returns the set of those objects that a variant has seen, and the object of
// each node.
func (b *Builder) sources(v *variant.Variant, objects []mirror.Object) (*xrd.Set, map[*tree.Node]mirror.Object, error) {
	set, of := &xrd.Set{}, map[*tree.Node]mirror.Object{}
	for i := range objects {
		o := &objects[i]
		if !v.Owns(o.Source) || len(o.Body) == 0 {
			continue
		}
		n, kept, err := b.caches.placed(o)
		if err != nil {
			return nil, nil, err
		}
		of[n] = *o
		set.Add(n, kept.Origin)
	}
	return set, of, nil
}

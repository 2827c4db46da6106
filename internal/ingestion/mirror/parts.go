package mirror

import (
	"context"
	"maps"
	"slices"

	"example.dev/ingestor/internal/db"
)

// mostParts is how many kinds of parts are stored for a list. A composite may refer to
// anything, so that without a limit the table would grow with every change of one.
const mostParts = 5000

// kindPart says that composites of a kind refer to objects of another kind as their parts.
type kindPart struct{ of, part string }

// addParts stores the kinds of the parts of written objects, if they are not stored yet.
func (w *writer) addParts(ctx context.Context, o *sighting, written []*Object) error {
	wanted := map[kindPart]bool{}
	for _, p := range written {
		if p == nil {
			continue
		}
		for _, part := range p.Parts {
			if part = db.Storable(part); part != "" && p.Of != "" {
				wanted[kindPart{p.Of, part}] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	stored := 0
	err := db.Each(ctx, w.Ask, "SELECT of_kind, part FROM parts WHERE source = $1 AND list = $2", []any{o.Source, o.List}, func(rows *db.Rows) error {
		var k kindPart
		if err := rows.Scan(&k.of, &k.part); err != nil {
			return err
		}
		stored++
		delete(wanted, k)
		return nil
	})
	if err != nil {
		return err
	}
	missing := slices.SortedFunc(maps.Keys(wanted), func(a, b kindPart) int { return slices.Compare([]string{a.of, a.part}, []string{b.of, b.part}) })
	missing = missing[:max(0, min(len(missing), mostParts-stored))]
	return w.Insert(ctx, "parts (source, list, of_kind, part)", " ON CONFLICT DO NOTHING", 4, len(missing),
		func(i int, args []any) []any { return append(args, o.Source, o.List, missing[i].of, missing[i].part) })
}

// composing adds the kinds to t whose composites refer to parts of the moved kinds.
func (w *writer) composing(ctx context.Context, t touched) error {
	if len(t.moved) == 0 {
		return nil
	}
	return w.s.SelectIn(ctx, w.Ask, "SELECT DISTINCT of_kind FROM parts WHERE part IN ", slices.Collect(maps.Keys(t.moved)), func(rows *db.Rows) error {
		var kind string
		err := rows.Scan(&kind)
		t.add("", kind)
		return err
	})
}

// Defining returns the objects that define one of the kinds, without their bodies.
func (s *Mirror) Defining(ctx context.Context, kinds []string) ([]Object, error) {
	var all []Object
	for _, column := range []string{"o.kind", "o.claim"} {
		query := "SELECT " + objectColumns + " FROM objects o WHERE o.gone = 0 AND " + column + " <> '' AND " + column + " IN "
		if err := s.SelectIn(ctx, s.Query, query, storable(kinds), appendTo(&all)); err != nil {
			return nil, db.Fail("read the definitions of kinds", err)
		}
	}
	return all, nil
}

// Instances returns the objects of a kind that have one of the keys, without their bodies.
func (s *Mirror) Instances(ctx context.Context, kind string, keys []string) ([]Object, error) {
	var all []Object
	const query = "SELECT " + objectColumns + " FROM objects o WHERE o.gone = 0 AND o.of_kind <> '' AND o.of_kind = $1 AND o.key IN "
	err := s.SelectIn(ctx, s.Query, query, storable(keys), appendTo(&all), db.Storable(kind))
	return all, db.Fail("read the objects of a kind", err)
}

// appendTo returns a function that appends rows of objectColumns.
func appendTo(all *[]Object) func(*db.Rows) error {
	return func(rows *db.Rows) error {
		o, err := scanObject(rows, false)
		*all = append(*all, o)
		return err
	}
}

// storable returns the texts as they are stored, sorted and without duplicates.
func storable(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		out = append(out, db.Storable(text))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

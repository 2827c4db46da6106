package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.dev/ingestor/internal/ingestion/state"
)

const (
	objectColumns = "o.source, o.list, o.key, o.unit, o.kind, o.claim, o.of_kind, o.version, o.note"
	// selectBodies is followed by a condition.
	selectBodies = "SELECT " + objectColumns + `, b.body FROM objects o
		LEFT JOIN object_bodies b ON b.source = o.source AND b.list = o.list AND b.key = o.key WHERE o.gone = 0 AND `
)

// scanObject reads a row of objectColumns, and the body behind it if there is
// one.
func scanObject(rows *rows, body bool) (state.Object, error) {
	var o state.Object
	dest := []any{&o.Source, &o.List, &o.Key, &o.Unit, &o.Kind, &o.Claim, &o.Of, &o.Version, &o.Note}
	if body {
		dest = append(dest, &o.Body)
	}
	return o, rows.Scan(dest...)
}

// Known returns the versions of the objects in a list by their keys.
func (s *Store) Known(ctx context.Context, source, list string) (map[string]int64, error) {
	known := map[string]int64{}
	err := eachRow(ctx, s.rows, "SELECT key, version FROM objects WHERE source = $1 AND list = $2 AND gone = 0",
		[]any{storable(source), storable(list)}, func(rows *rows) error {
			var key string
			var version int64
			if err := rows.Scan(&key, &version); err != nil {
				return err
			}
			known[key] = version
			return nil
		})
	return known, fail(fmt.Sprintf("read what is known of %q in %q", list, source), err)
}

// Lists returns the lists of a source of which something is known, in order.
func (s *Store) Lists(ctx context.Context, source string) ([]string, error) {
	lists, err := s.texts(ctx, "SELECT DISTINCT list FROM objects WHERE source = $1 ORDER BY list", storable(source))
	return lists, fail(fmt.Sprintf("read the lists of %q", source), err)
}

// UnitNames returns the names of units, with a prefix, that have objects, in
// order.
func (s *Store) UnitNames(ctx context.Context, prefix string) ([]string, error) {
	prefix = storable(prefix)
	names, err := s.texts(ctx,
		"SELECT DISTINCT unit FROM objects WHERE gone = 0 AND unit <> '' AND unit >= $1 AND unit < $2 ORDER BY unit", prefix, behind(prefix))
	return names, fail("read the names of units", err)
}

// CountObjects returns the numbers of objects by source and list.
func (s *Store) CountObjects(ctx context.Context) (map[[2]string]int, error) {
	counts := map[[2]string]int{}
	err := eachRow(ctx, s.rows, "SELECT source, list, count(*) FROM objects WHERE gone = 0 GROUP BY source, list", nil,
		func(rows *rows) error {
			var at [2]string
			var n int
			if err := rows.Scan(&at[0], &at[1], &n); err != nil {
				return err
			}
			counts[at] = n
			return nil
		})
	return counts, fail("count objects", err)
}

// texts returns the one column of a query.
func (s *Store) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	var all []string
	return all, eachRow(ctx, s.rows, query, args, func(rows *rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		all = append(all, text)
		return nil
	})
}

// UnitObjects returns the objects of units with their bodies, by unit, source,
// list and key.
func (s *Store) UnitObjects(ctx context.Context, names []string) ([]state.Object, error) {
	objects, err := s.objectsIn(ctx, "unit", names)
	return objects, fail("read the objects of units", err)
}

// KindObjects returns the objects that are of kinds, with their bodies, in the
// same order.
func (s *Store) KindObjects(ctx context.Context, kinds []string) ([]state.Object, error) {
	objects, err := s.objectsIn(ctx, "of_kind", kinds)
	return objects, fail("read the objects of kinds", err)
}

func (s *Store) objectsIn(ctx context.Context, column string, values []string) ([]state.Object, error) {
	in := make([]string, 0, len(values))
	for _, v := range values {
		if v = storable(v); v != "" {
			in = append(in, v)
		}
	}
	slices.Sort(in)
	var all []state.Object
	err := s.selectIn(ctx, s.rows, selectBodies+"o."+column+" <> '' AND o."+column+" IN ", slices.Compact(in), func(rows *rows) error {
		o, err := scanObject(rows, true)
		all = append(all, o)
		return err
	})
	slices.SortFunc(all, compareObjects)
	return all, err
}

func compareObjects(a, b state.Object) int {
	return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Source, b.Source), cmp.Compare(a.List, b.List), cmp.Compare(a.Key, b.Key))
}

// ObjectsNamed returns the objects that are of a kind and have one of the keys,
// with their bodies and how they fare, by source and list.
func (s *Store) ObjectsNamed(ctx context.Context, kind string, keys ...string) ([]state.Object, error) {
	in := make([]string, len(keys))
	for i, key := range keys {
		in[i] = storable(key)
	}
	slices.Sort(in)
	var all []state.Object
	const query = "SELECT " + objectColumns + `, b.body, b.status FROM objects o
		JOIN object_bodies b ON b.source = o.source AND b.list = o.list AND b.key = o.key
		WHERE o.gone = 0 AND o.of_kind <> '' AND o.of_kind = $1 AND o.key IN `
	err := s.selectIn(ctx, s.rows, query, slices.Compact(in), func(rows *rows) error {
		var o state.Object
		err := rows.Scan(&o.Source, &o.List, &o.Key, &o.Unit, &o.Kind, &o.Claim, &o.Of, &o.Version, &o.Note, &o.Body, &o.Status)
		all = append(all, o)
		return err
	}, storable(kind))
	slices.SortFunc(all, compareObjects)
	return all, fail(fmt.Sprintf("read objects of the kind %q", kind), err)
}

// SourceObjects returns the objects of a source without their bodies, by list
// and key: those of some lists, or of all if none is named.
func (s *Store) SourceObjects(ctx context.Context, source string, lists ...string) ([]state.Object, error) {
	var all []state.Object
	scan := func(rows *rows) error {
		o, err := scanObject(rows, false)
		all = append(all, o)
		return err
	}
	query := "SELECT " + objectColumns + " FROM objects o WHERE o.gone = 0 AND o.source = $1"
	var err error
	if len(lists) == 0 {
		err = eachRow(ctx, s.rows, query, []any{storable(source)}, scan)
	} else {
		in := make([]string, len(lists))
		for i, list := range lists {
			in[i] = storable(list)
		}
		slices.Sort(in)
		err = s.selectIn(ctx, s.rows, query+" AND o.list IN ", slices.Compact(in), scan, storable(source))
	}
	slices.SortFunc(all, func(a, b state.Object) int { return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Key, b.Key)) })
	return all, fail(fmt.Sprintf("read the objects of %q", source), err)
}

// DropLists forgets lists of a source, and returns how many units have changed
// by that.
func (s *Store) DropLists(ctx context.Context, source string, lists []string) (units int, err error) {
	doing := fmt.Sprintf("drop lists of %q", source)
	source = storable(source)
	if len(lists) == 0 {
		return 0, nil
	}
	err = s.observe(ctx, func(w *writer) error {
		t := newTouched()
		for _, list := range lists {
			if err := w.dropObjects(ctx, t, "source = $1 AND list = $2", source, storable(list)); err != nil {
				return err
			}
		}
		units, err = w.touch(ctx, t, false)
		return err
	})
	s.horizons.clear()
	return units, fail(doing, err)
}

// DropSources forgets the sources but for those that are kept, with their states
// and marks, and returns how many objects each of them had.
func (s *Store) DropSources(ctx context.Context, keep []string) (dropped map[string]int, err error) {
	const doing = "drop sources"
	sources, err := s.texts(ctx,
		"SELECT source FROM objects UNION SELECT name FROM sources UNION SELECT source FROM marks")
	if err != nil {
		return nil, fail(doing, err)
	}
	dropped = map[string]int{}
	if sources = without(sources, keep); len(sources) == 0 {
		return dropped, nil
	}
	err = s.observe(ctx, func(w *writer) error {
		t := newTouched()
		for _, source := range sources {
			var n int
			err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM objects WHERE source = $1 AND gone = 0", source).Scan(&n)
			if err != nil {
				return err
			}
			dropped[source] = n
			if err := w.dropObjects(ctx, t, "source = $1", source); err != nil {
				return err
			}
		}
		_, err := w.touch(ctx, t, false)
		return errors.Join(err, w.deleteIn(ctx, "sources", "name", sources), w.deleteIn(ctx, "marks", "source", sources))
	})
	s.horizons.clear()
	if err != nil {
		return nil, fail(doing, err)
	}
	return dropped, nil
}

// dropObjects removes the objects for which a condition holds, and adds to t
// what they belong to.
func (w *writer) dropObjects(ctx context.Context, t touched, where string, args ...any) error {
	belong, err := w.touching(ctx, where, args)
	if err != nil {
		return err
	}
	for unit := range belong.units {
		t.add(unit, "")
	}
	for kind := range belong.kinds {
		t.add("", kind)
	}
	for _, table := range []string{"objects", "object_bodies"} {
		if _, err := w.tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// without returns those names that are not kept.
func without(names, keep []string) []string {
	kept := map[string]bool{}
	for _, name := range keep {
		kept[storable(name)] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return kept[name] })
}

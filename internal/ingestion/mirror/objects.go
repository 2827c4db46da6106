package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.dev/ingestor/internal/db"
)

const (
	objectColumns = "o.source, o.list, o.key, o.unit, o.kind, o.claim, o.of_kind, o.version, o.note"
	// selectBodies must be followed by a condition.
	selectBodies = "SELECT " + objectColumns + `, b.body FROM objects o
		LEFT JOIN object_bodies b ON b.source = o.source AND b.list = o.list AND b.key = o.key WHERE o.gone = 0 AND `
)

// scanObject reads a row of objectColumns, followed by the body if there is one.
func scanObject(rows *db.Rows, body bool) (Object, error) {
	var o Object
	dest := []any{&o.Source, &o.List, &o.Key, &o.Unit, &o.Kind, &o.Claim, &o.Of, &o.Version, &o.Note}
	if body {
		dest = append(dest, &o.Body)
	}
	return o, rows.Scan(dest...)
}

// Known returns the versions of the objects in a list by key.
func (s *Mirror) Known(ctx context.Context, source, list string) (map[string]int64, error) {
	known := map[string]int64{}
	err := db.Each(ctx, s.Query, "SELECT key, version FROM objects WHERE source = $1 AND list = $2 AND gone = 0",
		[]any{db.Storable(source), db.Storable(list)}, func(rows *db.Rows) error {
			var key string
			var version int64
			if err := rows.Scan(&key, &version); err != nil {
				return err
			}
			known[key] = version
			return nil
		})
	return known, db.Fail(fmt.Sprintf("read known objects of %q in %q", list, source), err)
}

// Lists returns the lists of a source that have objects, sorted.
func (s *Mirror) Lists(ctx context.Context, source string) ([]string, error) {
	lists, err := s.Texts(ctx, "SELECT DISTINCT list FROM objects WHERE source = $1 ORDER BY list", db.Storable(source))
	return lists, db.Fail(fmt.Sprintf("read the lists of %q", source), err)
}

// UnitNames returns the names of units that have a prefix and objects, sorted.
func (s *Mirror) UnitNames(ctx context.Context, prefix string) ([]string, error) {
	prefix = db.Storable(prefix)
	names, err := s.Texts(ctx,
		"SELECT DISTINCT unit FROM objects WHERE gone = 0 AND unit <> '' AND unit >= $1 AND unit < $2 ORDER BY unit", prefix, db.After(prefix))
	return names, db.Fail("read the names of units", err)
}

// CountObjects returns the number of objects by source and list.
func (s *Mirror) CountObjects(ctx context.Context) (map[[2]string]int, error) {
	counts := map[[2]string]int{}
	err := db.Each(ctx, s.Query, "SELECT source, list, count(*) FROM objects WHERE gone = 0 GROUP BY source, list", nil,
		func(rows *db.Rows) error {
			var at [2]string
			var n int
			if err := rows.Scan(&at[0], &at[1], &n); err != nil {
				return err
			}
			counts[at] = n
			return nil
		})
	return counts, db.Fail("count objects", err)
}

// UnitObjects returns the objects of units with their bodies, sorted by unit, source,
// list and key.
func (s *Mirror) UnitObjects(ctx context.Context, names []string) ([]Object, error) {
	objects, err := s.objectsIn(ctx, "unit", names)
	return objects, db.Fail("read the objects of units", err)
}

// KindObjects returns the objects of kinds with their bodies, in the same order.
func (s *Mirror) KindObjects(ctx context.Context, kinds []string) ([]Object, error) {
	objects, err := s.objectsIn(ctx, "of_kind", kinds)
	return objects, db.Fail("read the objects of kinds", err)
}

// KindObjectsIn returns those objects of a kind, with their bodies, whose list has one
// prefix or whose key has the other. A kind may have thousands of others.
func (s *Mirror) KindObjectsIn(ctx context.Context, kind, listPrefix, keyPrefix string) ([]Object, error) {
	var all []Object
	listPrefix, keyPrefix = db.Storable(listPrefix), db.Storable(keyPrefix)
	err := db.Each(ctx, s.Query, selectBodies+`o.of_kind <> '' AND o.of_kind = $1
		AND (o.list >= $2 AND o.list < $3 OR o.key >= $4 AND o.key < $5)`,
		[]any{db.Storable(kind), listPrefix, db.After(listPrefix), keyPrefix, db.After(keyPrefix)}, func(rows *db.Rows) error {
			o, err := scanObject(rows, true)
			all = append(all, o)
			return err
		})
	slices.SortFunc(all, compareObjects)
	return all, db.Fail(fmt.Sprintf("read some objects of the kind %q", kind), err)
}

func (s *Mirror) objectsIn(ctx context.Context, column string, values []string) ([]Object, error) {
	in := make([]string, 0, len(values))
	for _, v := range values {
		if v = db.Storable(v); v != "" {
			in = append(in, v)
		}
	}
	slices.Sort(in)
	var all []Object
	err := s.SelectIn(ctx, s.Query, selectBodies+"o."+column+" <> '' AND o."+column+" IN ", slices.Compact(in), func(rows *db.Rows) error {
		o, err := scanObject(rows, true)
		all = append(all, o)
		return err
	})
	slices.SortFunc(all, compareObjects)
	return all, err
}

func compareObjects(a, b Object) int {
	return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Source, b.Source), cmp.Compare(a.List, b.List), cmp.Compare(a.Key, b.Key))
}

// ObjectsNamed returns the objects of a kind that have one of the keys, with their
// bodies and statuses, sorted by unit, source, list and key.
func (s *Mirror) ObjectsNamed(ctx context.Context, kind string, keys ...string) ([]Object, error) {
	in := make([]string, len(keys))
	for i, key := range keys {
		in[i] = db.Storable(key)
	}
	slices.Sort(in)
	var all []Object
	const query = "SELECT " + objectColumns + `, b.body, b.status FROM objects o
		JOIN object_bodies b ON b.source = o.source AND b.list = o.list AND b.key = o.key
		WHERE o.gone = 0 AND o.of_kind <> '' AND o.of_kind = $1 AND o.key IN `
	err := s.SelectIn(ctx, s.Query, query, slices.Compact(in), func(rows *db.Rows) error {
		var o Object
		err := rows.Scan(&o.Source, &o.List, &o.Key, &o.Unit, &o.Kind, &o.Claim, &o.Of, &o.Version, &o.Note, &o.Body, &o.Status)
		all = append(all, o)
		return err
	}, db.Storable(kind))
	slices.SortFunc(all, compareObjects)
	return all, db.Fail(fmt.Sprintf("read objects of the kind %q", kind), err)
}

// SourceObjects returns the objects of a source without their bodies, sorted by list
// and key: those of some lists, or of all if none is named.
func (s *Mirror) SourceObjects(ctx context.Context, source string, lists ...string) ([]Object, error) {
	var all []Object
	scan := func(rows *db.Rows) error {
		o, err := scanObject(rows, false)
		all = append(all, o)
		return err
	}
	query := "SELECT " + objectColumns + " FROM objects o WHERE o.gone = 0 AND o.source = $1"
	var err error
	if len(lists) == 0 {
		err = db.Each(ctx, s.Query, query, []any{db.Storable(source)}, scan)
	} else {
		in := make([]string, len(lists))
		for i, list := range lists {
			in[i] = db.Storable(list)
		}
		slices.Sort(in)
		err = s.SelectIn(ctx, s.Query, query+" AND o.list IN ", slices.Compact(in), scan, db.Storable(source))
	}
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Key, b.Key))
	})
	return all, db.Fail(fmt.Sprintf("read the objects of %q", source), err)
}

// DropLists deletes lists of a source, and returns how many units became dirty.
func (s *Mirror) DropLists(ctx context.Context, source string, lists []string) (units int, err error) {
	doing := fmt.Sprintf("drop lists of %q", source)
	source = db.Storable(source)
	if len(lists) == 0 {
		return 0, nil
	}
	err = s.change(ctx, func(w *writer) error {
		t := newTouched()
		for _, list := range lists {
			if err := w.dropObjects(ctx, t, "source = $1 AND list = $2", source, db.Storable(list)); err != nil {
				return err
			}
		}
		units, err = w.touch(ctx, t, placeKept)
		return err
	})
	s.horizons.clear()
	return units, db.Fail(doing, err)
}

// DropSources deletes all sources except those in keep, with their states and marks,
// and returns how many objects each of them had.
func (s *Mirror) DropSources(ctx context.Context, keep []string) (dropped map[string]int, err error) {
	const doing = "drop sources"
	sources, err := s.Texts(ctx,
		"SELECT source FROM objects UNION SELECT name FROM sources UNION SELECT source FROM marks")
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	dropped = map[string]int{}
	if sources = without(sources, keep); len(sources) == 0 {
		return dropped, nil
	}
	err = s.change(ctx, func(w *writer) error {
		t := newTouched()
		for _, source := range sources {
			var n int
			err := w.Tx.QueryRowContext(ctx, "SELECT count(*) FROM objects WHERE source = $1 AND gone = 0", source).Scan(&n)
			if err != nil {
				return err
			}
			dropped[source] = n
			if err := w.dropObjects(ctx, t, "source = $1", source); err != nil {
				return err
			}
		}
		_, err := w.touch(ctx, t, placeKept)
		return errors.Join(err, w.DeleteIn(ctx, "sources", "name", sources), w.DeleteIn(ctx, "marks", "source", sources))
	})
	s.horizons.clear()
	s.decoded.forget(sources)
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	return dropped, nil
}

// dropObjects deletes the objects that match a condition, and adds the units and kinds
// they belong to to t.
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
		t.move(kind)
	}
	err = db.Each(ctx, w.Ask, "SELECT DISTINCT kind, claim FROM objects WHERE gone = 0 AND (kind <> '' OR claim <> '') AND "+where, args, func(rows *db.Rows) error {
		var kind, claim string
		err := rows.Scan(&kind, &claim)
		t.move(kind, claim)
		return err
	})
	if err != nil {
		return err
	}
	for _, table := range []string{"objects", "object_bodies", "parts"} {
		if _, err := w.Tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// without returns the names that are not in keep.
func without(names, keep []string) []string {
	kept := map[string]bool{}
	for _, name := range keep {
		kept[db.Storable(name)] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return kept[name] })
}

package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.dev/ingestor/internal/db"
)

// touched is the set of units that a change makes dirty: the named units, and those
// with an object that defines one of the kinds. moved are the kinds of which objects or
// definitions appeared or disappeared: the units with composites that compose them are
// dirty, too.
type touched struct{ units, kinds, moved map[string]bool }

func newTouched() touched { return touched{map[string]bool{}, map[string]bool{}, map[string]bool{}} }

// move adds the kinds that are not empty to moved.
func (t touched) move(kinds ...string) {
	for _, kind := range kinds {
		if kind != "" {
			t.moved[kind] = true
		}
	}
}

func (t touched) add(unit, kind string) {
	if unit != "" {
		t.units[unit] = true
	}
	if kind != "" {
		t.kinds[kind] = true
	}
}

// place is the place of units in the queue that become dirty.
type place uint8

const (
	// placeKept means the end, or the place of a unit that is dirty already.
	placeKept place = iota
	// placeLast means the end.
	placeLast
	// placeHeld means that a unit is held, unless it is dirty already.
	placeHeld
)

// touch marks units dirty and returns how many.
func (w *writer) touch(ctx context.Context, t touched, at place) (int, error) {
	if err := w.composing(ctx, t); err != nil {
		return 0, err
	}
	units := maps.Clone(t.units)
	for _, column := range []string{"kind", "claim"} {
		query := fmt.Sprintf("SELECT DISTINCT unit FROM objects WHERE gone = 0 AND unit <> '' AND %s <> '' AND %[1]s IN ", column)
		err := w.s.SelectIn(ctx, w.Ask, query, slices.Collect(maps.Keys(t.kinds)), func(rows *db.Rows) error {
			var unit string
			if err := rows.Scan(&unit); err != nil {
				return err
			}
			units[unit] = true
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	since, tail := w.N, " ON CONFLICT (unit) DO UPDATE SET stamp = excluded.stamp"
	switch at {
	case placeKept:
		tail += fmt.Sprintf(", since = CASE WHEN dirty.since < %d THEN dirty.since ELSE excluded.since END", held)
	case placeLast:
		tail += ", since = excluded.since"
	case placeHeld:
		since += held
	}
	names := slices.Sorted(maps.Keys(units))
	err := w.Insert(ctx, "dirty (unit, stamp, since)", tail, 3, len(names),
		func(i int, args []any) []any { return append(args, names[i], w.N, since) })
	if err != nil {
		return 0, err
	}
	if at == placeHeld {
		// What could not be read has not changed: the findings are the same.
		return len(names), nil
	}
	return len(names), w.uncheck(ctx, names)
}

// Units returns the dirty units that are not held, at most limit, the oldest first.
func (s *Mirror) Units(ctx context.Context, limit int) ([]Unit, error) {
	query, args := "SELECT unit, stamp FROM dirty WHERE since < $1 ORDER BY since, unit", []any{held}
	if limit != NoLimit {
		query, args = query+" LIMIT $2", append(args, max(0, limit))
	}
	var units []Unit
	err := db.Each(ctx, s.Query, query, args, func(rows *db.Rows) error {
		var u Unit
		if err := rows.Scan(&u.Name, &u.Stamp); err != nil {
			return err
		}
		units = append(units, u)
		return nil
	})
	return units, db.Fail("read changed units", err)
}

// Done removes units from the queue that were built as of the stamp that Units
// returned. Those that have changed since stay dirty.
func (s *Mirror) Done(ctx context.Context, units []Unit) error {
	if len(units) == 0 {
		return nil
	}
	byStamp := map[int64][]string{}
	for _, u := range units {
		byStamp[u.Stamp] = append(byStamp[u.Stamp], u.Name)
	}
	err := s.change(ctx, func(w *writer) error {
		for _, stamp := range slices.Sorted(maps.Keys(byStamp)) {
			if err := w.DeleteIn(ctx, "dirty", "unit", byStamp[stamp], db.Equal{Column: "stamp", Value: stamp}); err != nil {
				return err
			}
		}
		return nil
	})
	return db.Fail("mark units as done", err)
}

// Touch marks units dirty. Those that are dirty already become the last to be returned
// by Units.
func (s *Mirror) Touch(ctx context.Context, names []string) error {
	t := newTouched()
	for _, name := range names {
		t.add(db.Storable(name), "")
	}
	if len(t.units) == 0 {
		return nil
	}
	err := s.change(ctx, func(w *writer) error {
		_, err := w.touch(ctx, t, placeLast)
		return err
	})
	return db.Fail("mark units as changed", err)
}

// TouchSource marks all units dirty that an object in a list of a source belongs to,
// directly or by its kind. An empty list means all lists.
func (s *Mirror) TouchSource(ctx context.Context, source, list string) (n int, err error) {
	where, args := "source = $1", []any{db.Storable(source)}
	if list != "" {
		where, args = where+" AND list = $2", append(args, db.Storable(list))
	}
	err = s.change(ctx, func(w *writer) error {
		t, err := w.touching(ctx, where, args)
		if err != nil {
			return err
		}
		if n, err = w.touch(ctx, t, placeKept); err == nil && n == 0 {
			return errNothing
		}
		return err
	})
	if err != nil && !errors.Is(err, errNothing) {
		return 0, db.Fail(fmt.Sprintf("mark units of %q as changed", source), err)
	}
	return n, nil
}

// touching returns the units and kinds that the live objects matching a condition
// belong to.
func (w *writer) touching(ctx context.Context, where string, args []any) (touched, error) {
	t := newTouched()
	return t, db.Each(ctx, w.Ask, "SELECT DISTINCT unit, of_kind FROM objects WHERE gone = 0 AND "+where, args, t.take)
}

// take adds a row of a unit and a kind.
func (t touched) take(rows *db.Rows) error {
	var unit, kind string
	if err := rows.Scan(&unit, &kind); err != nil {
		return err
	}
	t.add(unit, kind)
	return nil
}

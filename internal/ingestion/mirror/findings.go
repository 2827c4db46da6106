package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/internal/db"
)

// uncheck marks units for inspection.
func (w *writer) uncheck(ctx context.Context, units []string) error {
	return w.Insert(ctx, "unchecked (unit, stamp)", " ON CONFLICT (unit) DO UPDATE SET stamp = excluded.stamp", 2, len(units),
		func(i int, args []any) []any { return append(args, units[i], w.N) })
}

// Uncheck marks units for inspection that have not changed.
func (s *Mirror) Uncheck(ctx context.Context, units []string) error {
	if len(units) == 0 {
		return nil
	}
	names := make([]string, len(units))
	for i, unit := range units {
		names[i] = db.Storable(unit)
	}
	return db.Fail("mark units for inspection", s.change(ctx, func(w *writer) error { return w.uncheck(ctx, names) }))
}

// Unchecked returns units that changed since their findings were stored, at most limit,
// ordered by the time of their change.
func (s *Mirror) Unchecked(ctx context.Context, limit int) ([]Unit, error) {
	var units []Unit
	err := db.Each(ctx, s.Query, "SELECT unit, stamp FROM unchecked ORDER BY stamp, unit LIMIT $1", []any{max(0, limit)}, func(rows *db.Rows) error {
		var u Unit
		if err := rows.Scan(&u.Name, &u.Stamp); err != nil {
			return err
		}
		units = append(units, u)
		return nil
	})
	return units, db.Fail("read units to inspect", err)
}

// CountUnchecked counts the units that Unchecked would return.
func (s *Mirror) CountUnchecked(ctx context.Context) (n int, err error) {
	err = s.Read.QueryRowContext(ctx, "SELECT count(*) FROM unchecked").Scan(&n)
	return n, db.Fail("count units to inspect", err)
}

// Checked replaces the findings of units, as of the stamp that Unchecked returned. It
// ignores units that have changed since, or that another process has checked first.
func (s *Mirror) Checked(ctx context.Context, units []Unit, found []Finding) error {
	if len(units) == 0 {
		return nil
	}
	err := s.change(ctx, func(w *writer) error {
		current, err := w.current(ctx, units)
		if err != nil {
			return err
		}
		names := slices.Sorted(maps.Keys(current))
		if len(names) == 0 {
			return errNothing
		}
		if err := w.DeleteIn(ctx, "unchecked", "unit", names); err != nil {
			return err
		}
		if err := w.DeleteIn(ctx, "findings", "unit", names); err != nil {
			return err
		}
		found = slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !current[db.Storable(f.Unit)] })
		slices.SortStableFunc(found, func(a, b Finding) int { return strings.Compare(db.Storable(a.Unit), db.Storable(b.Unit)) })
		n, last := 0, ""
		return w.Insert(ctx, "findings (unit, n, severity, rule, finding)", "", 5, len(found), func(i int, args []any) []any {
			f := &found[i]
			unit := db.Storable(f.Unit)
			if n++; unit != last {
				n, last = 0, unit
			}
			return append(args, unit, n, f.Severity, db.Storable(f.Rule), db.NonNil(f.Body))
		})
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return db.Fail("store findings", err)
}

// current returns the names of the units that have not changed since.
func (w *writer) current(ctx context.Context, units []Unit) (map[string]bool, error) {
	stamps := make(map[string]int64, len(units))
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = db.Storable(u.Name)
		stamps[names[i]] = u.Stamp
	}
	out := map[string]bool{}
	return out, w.s.SelectIn(ctx, w.Ask, "SELECT unit, stamp FROM unchecked WHERE unit IN ", names, func(rows *db.Rows) error {
		var unit string
		var stamp int64
		if err := rows.Scan(&unit, &stamp); err != nil {
			return err
		}
		if stamps[unit] == stamp {
			out[unit] = true
		}
		return nil
	})
}

// wanted returns the WHERE clause for findings f, for example: WHERE f.rule = $1 AND
// f.severity = $2.
func (s *Mirror) wanted(want Wanted) (where string, args []any) {
	var all []string
	add := func(condition string, value any) {
		args = append(args, value)
		all = append(all, condition+s.Placeholder(len(args)))
	}
	if want.Rule != "" {
		add("f.rule = ", db.Storable(want.Rule))
	}
	if want.Unit != "" {
		add("f.unit = ", db.Storable(want.Unit))
	}
	if want.Severity != nil {
		add("f.severity = ", *want.Severity)
	}
	if want.Sources != nil {
		// An empty IN list is not valid SQL.
		marks := []string{"''"}
		for _, source := range want.Sources {
			args = append(args, db.Storable(source))
			marks = append(marks, s.Placeholder(len(args)))
		}
		all = append(all, "EXISTS (SELECT 1 FROM objects o WHERE o.unit = f.unit AND o.unit <> '' AND o.gone = 0 AND o.source IN ("+
			strings.Join(marks, ", ")+"))")
	}
	if len(all) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(all, " AND "), args
}

// Findings returns findings, the most severe first, and those of one rule together.
func (s *Mirror) Findings(ctx context.Context, want Wanted, limit, offset int) ([]Finding, error) {
	where, args := s.wanted(want)
	args = append(args, max(0, limit), max(0, offset))
	query := fmt.Sprintf("SELECT f.unit, f.severity, f.rule, f.finding FROM findings f%s ORDER BY f.severity, f.rule, f.unit, f.n LIMIT %s OFFSET %s",
		where, s.Placeholder(len(args)-1), s.Placeholder(len(args)))
	var out []Finding
	err := db.Each(ctx, s.Query, query, args, func(rows *db.Rows) error {
		var f Finding
		if err := rows.Scan(&f.Unit, &f.Severity, &f.Rule, &f.Body); err != nil {
			return err
		}
		out = append(out, f)
		return nil
	})
	return out, db.Fail("read findings", err)
}

// CountFindings counts findings by rule: the most severe rules first, then the most
// frequent.
func (s *Mirror) CountFindings(ctx context.Context, want Wanted) ([]Count, error) {
	where, args := s.wanted(want)
	query := "SELECT f.rule, min(f.severity), count(*), count(DISTINCT f.unit) FROM findings f" + where +
		" GROUP BY f.rule ORDER BY 2, 3 DESC, 1"
	var out []Count
	err := db.Each(ctx, s.Query, query, args, func(rows *db.Rows) error {
		var c Count
		if err := rows.Scan(&c.Rule, &c.Severity, &c.Findings, &c.Units); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, db.Fail("count findings", err)
}

// UnitSources returns the sources of units, sorted.
func (s *Mirror) UnitSources(ctx context.Context, units []string) (map[string][]string, error) {
	names := make([]string, len(units))
	for i, unit := range units {
		names[i] = db.Storable(unit)
	}
	out := map[string][]string{}
	err := s.SelectIn(ctx, s.Query, "SELECT DISTINCT unit, source FROM objects WHERE gone = 0 AND unit <> '' AND unit IN ", names,
		func(rows *db.Rows) error {
			var unit, source string
			if err := rows.Scan(&unit, &source); err != nil {
				return err
			}
			out[unit] = append(out[unit], source)
			return nil
		})
	for _, sources := range out {
		slices.Sort(sources)
	}
	return out, db.Fail("read the sources of units", err)
}

// CountUnitFindings counts the findings of each unit by severity.
func (s *Mirror) CountUnitFindings(ctx context.Context) (map[string]map[int]int, error) {
	out := map[string]map[int]int{}
	err := db.Each(ctx, s.Query, "SELECT unit, severity, count(*) FROM findings GROUP BY unit, severity", nil, func(rows *db.Rows) error {
		var unit string
		var severity, n int
		if err := rows.Scan(&unit, &severity, &n); err != nil {
			return err
		}
		if out[unit] == nil {
			out[unit] = map[int]int{}
		}
		out[unit][severity] = n
		return nil
	})
	return out, db.Fail("count the findings of units", err)
}

package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.dev/ingestor/internal/ingestion/state"
)

// keptRuns is how many runs are remembered.
const keptRuns = 500

// SetSource stores the state of a source, which is JSON. It writes if that is
// new.
func (s *Store) SetSource(ctx context.Context, name string, value []byte) error {
	doing := fmt.Sprintf("store the state of %q", name)
	name = storable(name)
	var known []byte
	err := s.read.QueryRowContext(ctx, "SELECT state FROM sources WHERE name = $1", name).Scan(&known)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fail(doing, err)
	}
	if err == nil && bytes.Equal(known, value) {
		return nil
	}
	if err := s.present(); err != nil {
		return fail(doing, err)
	}
	// One statement, so that nobody can begin between the question and the write.
	where, args := fencesHold(ctx, []any{name, nonNil(value)})
	res, err := s.write.ExecContext(ctx, "INSERT INTO sources (name, state) SELECT $1, $2 WHERE "+where+
		" ON CONFLICT (name) DO UPDATE SET state = excluded.state", args...)
	if err != nil {
		return fail(doing, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fail(doing, cmp.Or(err, state.ErrSuperseded))
	}
	return nil
}

// nonNil keeps nothing from being stored as NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// SourceStates returns the states of sources by name: of those that are named, or of
// all if none is.
func (s *Store) SourceStates(ctx context.Context, names ...string) (map[string][]byte, error) {
	states := map[string][]byte{}
	take := func(rows *rows) error {
		var name string
		var state []byte
		if err := rows.Scan(&name, &state); err != nil {
			return err
		}
		states[name] = state
		return nil
	}
	const query = "SELECT name, state FROM sources"
	var err error
	if len(names) == 0 {
		err = eachRow(ctx, s.rows, query, nil, take)
	} else {
		err = s.selectIn(ctx, s.rows, query+" WHERE name IN ", slices.Clone(names), take)
	}
	return states, fail("read the states of sources", err)
}

// AddRun remembers a run and forgets all but the newest. Its ID is given to it.
func (s *Store) AddRun(ctx context.Context, started time.Time, run state.Run) error {
	err := s.observe(ctx, func(w *writer) error {
		if _, err := w.tx.ExecContext(ctx, "INSERT INTO runs (n, started, run, changes) VALUES ($1, $2, $3, $4)",
			w.n, started.UnixMilli(), nonNil(run.Body), run.Changes); err != nil {
			return err
		}
		_, err := w.tx.ExecContext(ctx,
			"DELETE FROM runs WHERE n IN (SELECT n FROM runs ORDER BY n DESC LIMIT $1 OFFSET $2)", keptRuns, keptRuns)
		return err
	})
	return fail("remember a run", err)
}

// Runs returns the runs that are remembered without their changes, at most
// limit, the newest first.
func (s *Store) Runs(ctx context.Context, limit int) ([]state.Run, error) {
	if limit == NoLimit {
		limit = keptRuns
	}
	var runs []state.Run
	err := eachRow(ctx, s.rows, "SELECT n, run FROM runs ORDER BY n DESC LIMIT $1", []any{max(0, limit)},
		func(rows *rows) error {
			var run state.Run
			if err := rows.Scan(&run.ID, &run.Body); err != nil {
				return err
			}
			runs = append(runs, run)
			return nil
		})
	return runs, fail("read the runs", err)
}

// Run returns a run with its changes. It reports false if it is not remembered.
func (s *Store) Run(ctx context.Context, id int64) (run state.Run, found bool, err error) {
	run.ID = id
	err = s.read.QueryRowContext(ctx, "SELECT run, changes FROM runs WHERE n = $1", id).Scan(&run.Body, &run.Changes)
	if errors.Is(err, sql.ErrNoRows) {
		return state.Run{}, false, nil
	}
	return run, err == nil, fail("read a run", err)
}

// LoadMarks returns the marks of a source by the objects' keys.
func (s *Store) LoadMarks(ctx context.Context, source string) (map[string]string, error) {
	marks := map[string]string{}
	err := eachRow(ctx, s.rows, "SELECT key, mark FROM marks WHERE source = $1", []any{storable(source)}, func(rows *rows) error {
		var key, mark string
		if err := rows.Scan(&key, &mark); err != nil {
			return err
		}
		marks[key] = mark
		return nil
	})
	return marks, fail(fmt.Sprintf("read the marks of %q", source), err)
}

// SaveMarks sets marks of a source and drops others, in one transaction. What is
// both set and dropped is set.
func (s *Store) SaveMarks(ctx context.Context, source string, set map[string]string, drop []string) error {
	if len(set)+len(drop) == 0 {
		return nil
	}
	doing := fmt.Sprintf("store the marks of %q", source)
	source = storable(source)
	marks := make(map[string]string, len(set))
	for key, mark := range set {
		marks[storable(key)] = storable(mark)
	}
	gone := make([]string, len(drop))
	for i, key := range drop {
		gone[i] = storable(key)
	}
	err := s.observe(ctx, func(w *writer) error {
		if err := w.deleteIn(ctx, "marks", "key", gone, equal{"source", source}); err != nil {
			return err
		}
		keys := slices.Sorted(maps.Keys(marks))
		return w.insert(ctx, "marks (source, key, mark)", " ON CONFLICT (source, key) DO UPDATE SET mark = excluded.mark",
			3, len(keys), func(i int, args []any) []any { return append(args, source, keys[i], marks[keys[i]]) })
	})
	return fail(doing, err)
}

// ForgetMarks drops all marks of sources but for those that are kept.
func (s *Store) ForgetMarks(ctx context.Context, keep []string) error {
	const doing = "forget marks"
	sources, err := s.texts(ctx, "SELECT DISTINCT source FROM marks")
	if err != nil {
		return fail(doing, err)
	}
	if sources = without(sources, keep); len(sources) == 0 {
		return nil
	}
	return fail(doing, s.observe(ctx, func(w *writer) error { return w.deleteIn(ctx, "marks", "source", sources) }))
}

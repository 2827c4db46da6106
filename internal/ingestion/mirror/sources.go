package mirror

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"example.dev/ingestor/internal/db"
)

// keptRuns is how many runs are stored.
const keptRuns = 500

// SetSource stores the state of a source, which is JSON. It writes only if the state
// has changed.
func (s *Mirror) SetSource(ctx context.Context, name string, value []byte) error {
	doing := fmt.Sprintf("store the state of %q", name)
	name = db.Storable(name)
	var known []byte
	err := s.Read.QueryRowContext(ctx, "SELECT state FROM sources WHERE name = $1", name).Scan(&known)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return db.Fail(doing, err)
	}
	if err == nil && bytes.Equal(known, value) {
		return nil
	}
	if err := s.Present(); err != nil {
		return db.Fail(doing, err)
	}
	// A single statement, so that no other process can take the fence between the check
	// and the write.
	where, args := db.FencesHold(ctx, []any{name, db.NonNil(value)})
	res, err := s.Write.ExecContext(ctx, "INSERT INTO sources (name, state) SELECT $1, $2 WHERE "+where+
		" ON CONFLICT (name) DO UPDATE SET state = excluded.state", args...)
	if err != nil {
		return db.Fail(doing, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return db.Fail(doing, cmp.Or(err, db.ErrSuperseded))
	}
	return nil
}

// Settle stores the state of a source, and marks the units dirty that the state
// concerns: those of the objects in lists of the source, which became stale or fresh and
// are held, and single ones. All of it is one transaction: a build that begins before it
// uses the old state and leaves the units dirty, and a build that begins after it uses
// the new state.
func (s *Mirror) Settle(ctx context.Context, name string, state []byte, lists, units []string) error {
	if len(lists)+len(units) == 0 {
		return s.SetSource(ctx, name, state)
	}
	name = db.Storable(name)
	err := s.change(ctx, func(w *writer) error {
		if err := w.holdLists(ctx, name, lists); err != nil {
			return err
		}
		t := newTouched()
		for _, unit := range units {
			t.add(db.Storable(unit), "")
		}
		if _, err := w.touch(ctx, t, placeLast); err != nil {
			return err
		}
		_, err := w.ExecContext(ctx, "INSERT INTO sources (name, state) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
			name, db.NonNil(state))
		return err
	})
	return db.Fail(fmt.Sprintf("store the state of %q", name), err)
}

// SourceStates returns the states of the named sources, or of all if none is named, by
// name.
func (s *Mirror) SourceStates(ctx context.Context, names ...string) (map[string][]byte, error) {
	states := map[string][]byte{}
	take := func(rows *db.Rows) error {
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
		err = db.Each(ctx, s.Query, query, nil, take)
	} else {
		err = s.SelectIn(ctx, s.Query, query+" WHERE name IN ", slices.Clone(names), take)
	}
	return states, db.Fail("read the states of sources", err)
}

// decoded has what was made of states of sources, by name. A state may have thousands of
// lists, and is needed much more often than it changes.
type decoded struct {
	mu     sync.Mutex
	byName map[string]decodedState
}

type decodedState struct {
	hash  uint64
	value any
}

var stateSeed = maphash.MakeSeed()

// Decoded returns what decode makes of the state of a source: what it made before, if the
// source had the same state then. The value must not be changed.
func (s *Mirror) Decoded(name string, state []byte, decode func([]byte) (any, error)) (any, error) {
	hash := maphash.Bytes(stateSeed, state)
	s.decoded.mu.Lock()
	known, ok := s.decoded.byName[name]
	s.decoded.mu.Unlock()
	if ok && known.hash == hash {
		return known.value, nil
	}
	value, err := decode(state)
	if err != nil {
		return nil, err
	}
	s.decoded.mu.Lock()
	defer s.decoded.mu.Unlock()
	if s.decoded.byName == nil {
		s.decoded.byName = map[string]decodedState{}
	}
	s.decoded.byName[name] = decodedState{hash, value}
	return value, nil
}

// forget drops what was made of the states of sources.
func (d *decoded) forget(names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		delete(d.byName, name)
	}
}

// AddRun stores a run with a new ID, and deletes all but the newest keptRuns.
func (s *Mirror) AddRun(ctx context.Context, started time.Time, run Run) error {
	err := s.change(ctx, func(w *writer) error {
		if _, err := w.Tx.ExecContext(ctx, "INSERT INTO runs (n, started, run, changes) VALUES ($1, $2, $3, $4)",
			w.N, started.UnixMilli(), db.NonNil(run.Body), run.Changes); err != nil {
			return err
		}
		_, err := w.Tx.ExecContext(ctx,
			"DELETE FROM runs WHERE n IN (SELECT n FROM runs ORDER BY n DESC LIMIT $1 OFFSET $2)", keptRuns, keptRuns)
		return err
	})
	return db.Fail("store run", err)
}

// Runs returns the stored runs without their changes, at most limit, the newest first.
func (s *Mirror) Runs(ctx context.Context, limit int) ([]Run, error) {
	if limit == NoLimit {
		limit = keptRuns
	}
	var runs []Run
	err := db.Each(ctx, s.Query, "SELECT n, run FROM runs ORDER BY n DESC LIMIT $1", []any{max(0, limit)},
		func(rows *db.Rows) error {
			var run Run
			if err := rows.Scan(&run.ID, &run.Body); err != nil {
				return err
			}
			runs = append(runs, run)
			return nil
		})
	return runs, db.Fail("read runs", err)
}

// Run returns a run with its changes. It reports false if the run is not stored.
func (s *Mirror) Run(ctx context.Context, id int64) (run Run, found bool, err error) {
	run.ID = id
	err = s.Read.QueryRowContext(ctx, "SELECT run, changes FROM runs WHERE n = $1", id).Scan(&run.Body, &run.Changes)
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, false, nil
	}
	return run, err == nil, db.Fail("read run", err)
}

// LoadMarks returns the marks of a source by the objects' keys.
func (s *Mirror) LoadMarks(ctx context.Context, source string) (map[string]string, error) {
	marks := map[string]string{}
	err := db.Each(ctx, s.Query, "SELECT key, mark FROM marks WHERE source = $1", []any{db.Storable(source)}, func(rows *db.Rows) error {
		var key, mark string
		if err := rows.Scan(&key, &mark); err != nil {
			return err
		}
		marks[key] = mark
		return nil
	})
	return marks, db.Fail(fmt.Sprintf("read the marks of %q", source), err)
}

// SaveMarks sets marks of a source and drops others, in one transaction. A key that is
// both set and dropped is set.
func (s *Mirror) SaveMarks(ctx context.Context, source string, set map[string]string, drop []string) error {
	if len(set)+len(drop) == 0 {
		return nil
	}
	doing := fmt.Sprintf("store the marks of %q", source)
	source = db.Storable(source)
	marks := make(map[string]string, len(set))
	for key, mark := range set {
		marks[db.Storable(key)] = db.Storable(mark)
	}
	gone := make([]string, len(drop))
	for i, key := range drop {
		gone[i] = db.Storable(key)
	}
	err := s.change(ctx, func(w *writer) error {
		if err := w.DeleteIn(ctx, "marks", "key", gone, db.Equal{Column: "source", Value: source}); err != nil {
			return err
		}
		keys := slices.Sorted(maps.Keys(marks))
		return w.Insert(ctx, "marks (source, key, mark)", " ON CONFLICT (source, key) DO UPDATE SET mark = excluded.mark",
			3, len(keys), func(i int, args []any) []any { return append(args, source, keys[i], marks[keys[i]]) })
	})
	return db.Fail(doing, err)
}

// ForgetMarks drops the marks of all sources except those in keep.
func (s *Mirror) ForgetMarks(ctx context.Context, keep []string) error {
	const doing = "remove marks"
	sources, err := s.Texts(ctx, "SELECT DISTINCT source FROM marks")
	if err != nil {
		return db.Fail(doing, err)
	}
	if sources = without(sources, keep); len(sources) == 0 {
		return nil
	}
	return db.Fail(doing, s.change(ctx, func(w *writer) error { return w.DeleteIn(ctx, "marks", "source", sources) }))
}

// LastRun returns when the last stored run started; zero if there is none.
func (s *Mirror) LastRun(ctx context.Context) (time.Time, error) {
	var ms int64
	if err := s.Read.QueryRowContext(ctx, "SELECT coalesce(max(started), 0) FROM runs").Scan(&ms); err != nil || ms == 0 {
		return time.Time{}, db.Fail("read the last run", err)
	}
	return time.UnixMilli(ms), nil
}

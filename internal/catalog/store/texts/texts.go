// Package texts holds the values of fields in memory, to find those that contain a text: no
// index of a database finds short texts inside of values in milliseconds.
package texts

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

// MaxBytes is how much memory values take at most.
const MaxBytes = 96 << 20

// Texts holds the values of some fields, at one revision. The change log brings them up to
// date. All methods may be called concurrently.
type Texts struct {
	db       *db.DB
	maxBytes int
	// maxLater is maxLater, unless a test sets another limit.
	maxLater int
	// turn is held by the goroutine that reads what is missing.
	turn chan struct{}

	mu sync.RWMutex
	// revision is that of all fields; 0 means that nothing is loaded.
	revision int64
	byKid    map[int64]*field
	// large are the fields that do not fit into memory.
	large map[int64]bool
	// clock counts calls. A field has the time of its last use.
	clock int64
	// loads counts how often the values of a field were read.
	loads int
}

// New returns the values of a database, which take maxBytes of memory at most.
func New(d *db.DB, maxBytes int) *Texts {
	return &Texts{db: d, maxBytes: maxBytes, maxLater: maxLater, turn: make(chan struct{}, 1), byKid: map[int64]*field{}, large: map[int64]bool{}}
}

// mostUpdates is how often Find updates the values before it gives up because writers are
// faster.
const mostUpdates = 3

// Find returns the entities for which a value of one of the keys contains a text, and the
// revision that this is true for, which is the given one or a later one. Entities that were
// removed may be among them. It returns false if the values do not fit into memory.
func (t *Texts) Find(ctx context.Context, revision int64, kids []int64, text string) (set *idset.Set, at int64, ok bool, err error) {
	for range mostUpdates {
		set, at, done, fits := t.find(revision, kids, text)
		if done || !fits {
			return set, at, done, nil
		}
		if err := t.update(ctx, revision, kids); err != nil {
			return nil, 0, false, err
		}
	}
	set, at, ok, _ = t.find(revision, kids, text)
	return set, at, ok, nil
}

// find is Find for values that are loaded. done reports that they are, and fits that they
// may be.
func (t *Texts) find(revision int64, kids []int64, text string) (set *idset.Set, at int64, done, fits bool) {
	t.mu.Lock()
	if slices.ContainsFunc(kids, func(kid int64) bool { return t.large[kid] }) {
		t.mu.Unlock()
		return nil, 0, false, false
	}
	if t.revision < revision || t.revision == 0 || slices.ContainsFunc(kids, func(kid int64) bool { return t.byKid[kid] == nil }) {
		t.mu.Unlock()
		return nil, 0, false, true
	}
	t.clock++
	fields := make([]*field, len(kids))
	for i, kid := range kids {
		fields[i] = t.byKid[kid]
		fields[i].used = t.clock
	}
	at = t.revision
	t.mu.Unlock()
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.revision != at {
		return nil, 0, false, true
	}
	set = roaring.New()
	for _, f := range fields {
		f.find(set, text)
	}
	return set, at, true, true
}

// update brings all values up to date and reads those of missing keys. One goroutine does
// that for all that wait.
func (t *Texts) update(ctx context.Context, revision int64, kids []int64) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// Only the goroutine that holds turn writes, apart from find, which writes when a field
	// was used.
	t.mu.RLock()
	has := t.revision
	missing := slices.DeleteFunc(slices.Clone(kids), func(kid int64) bool { return t.byKid[kid] != nil || t.large[kid] })
	t.mu.RUnlock()
	if has >= revision && len(missing) == 0 {
		return nil
	}
	return t.db.Snapshot(ctx, func(ask db.Asker) error {
		if err := t.follow(ctx, ask); err != nil {
			return err
		}
		for _, kid := range missing {
			if err := t.load(ctx, ask, kid); err != nil {
				return err
			}
		}
		t.shrink(kids)
		return nil
	})
}

// follow applies the changes since the revision of the values, or drops all if they are not
// known.
func (t *Texts) follow(ctx context.Context, ask db.Asker) error {
	t.mu.RLock()
	has := t.revision
	t.mu.RUnlock()
	now, err := changelog.Revision(ctx, ask)
	if err != nil || now == has {
		return err
	}
	n := &changelog.Changes{Revision: now}
	if has > 0 && has < now {
		if n, err = changelog.Since(ctx, ask, has); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revision = n.Revision
	if !n.Complete {
		t.byKid, t.large = map[int64]*field{}, map[int64]bool{}
		return nil
	}
	for kid, f := range t.byKid {
		for _, e := range n.Present {
			var values []string
			for value := range index.Values(e.Packed, kid) {
				// The value is a part of a text that would stay in memory.
				values = append(values, strings.Clone(value))
			}
			f.put(e.ID, values)
		}
		if len(f.later) > t.maxLater {
			delete(t.byKid, kid)
		}
	}
	return nil
}

// load reads the values of a key.
func (t *Texts) load(ctx context.Context, ask db.Asker, kid int64) error {
	f := &field{}
	err := db.Each(ctx, ask, "SELECT value, block, ids FROM postings WHERE kid = $1 AND value < $2 ORDER BY value", []any{kid, index.NoValue},
		func(rows *db.Rows) error {
			var value, ids sql.RawBytes
			var block int64
			if err := rows.Scan(&value, &block, &ids); err != nil {
				return err
			}
			return f.append(value, block, ids)
		})
	if err != nil {
		return err
	}
	f.finish()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	f.used = t.clock
	t.byKid[kid] = f
	t.loads++
	return nil
}

// shrink drops the fields that were used least recently until the others fit into memory.
// The needed ones go last; those that do not fit are marked as large.
func (t *Texts) shrink(needed []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := 0
	var order []int64
	for kid, f := range t.byKid {
		sum += f.bytes()
		order = append(order, kid)
	}
	used := func(kid int64) int64 {
		if slices.Contains(needed, kid) {
			return t.clock + 1
		}
		return t.byKid[kid].used
	}
	slices.SortFunc(order, func(a, b int64) int { return int(used(a) - used(b)) })
	for _, kid := range order {
		if sum <= t.maxBytes {
			return
		}
		sum -= t.byKid[kid].bytes()
		delete(t.byKid, kid)
		if slices.Contains(needed, kid) {
			t.large[kid] = true
		}
	}
}

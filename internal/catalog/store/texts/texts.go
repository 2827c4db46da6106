// Package texts holds the values of fields in memory, to find those that contain a text: no
// index of a database finds short texts inside of values in milliseconds. And to sort sets
// by them, whose entities may be anywhere in the order of an index.
package texts

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	// turn is held by the goroutine that updates the values. No other writes what mu guards.
	turn chan struct{}
	// clock counts searches and loads. A field has the time of its last use.
	clock atomic.Int64

	mu sync.RWMutex
	// revision is that of all fields; 0 means that nothing is loaded.
	revision int64
	byKid    map[int64]*field
	// steps are the last updates, without a gap.
	steps []step
	// sizes has how much memory fields took when they were read. Fields that were dropped
	// since are among them, and those that are too large to be held.
	sizes map[int64]int
	// loads counts how often the values of a field were read.
	loads int
	// asked is how many rows were read instead of the values of fields.
	asked map[int64]int
}

// New returns the values of a database, which take maxBytes of memory at most.
func New(d *db.DB, maxBytes int) *Texts {
	return &Texts{db: d, maxBytes: maxBytes, maxLater: maxLater, turn: make(chan struct{}, 1), byKid: map[int64]*field{}, sizes: map[int64]int{}, asked: map[int64]int{}}
}

// mostUpdates is how often Find updates the values before it gives up because writers are
// faster.
const mostUpdates = 3

// Find returns the entities for which a value of one of the keys contains a text, and the
// revision that this is true for, which may be later than the given one, or earlier if the
// database went back to an earlier revision. Entities that were removed may be among them.
// Values that do not fit into memory are searched in the database.
func (t *Texts) Find(ctx context.Context, revision int64, kids []int64, text string) (*idset.Set, int64, error) {
	for updates := 0; ; updates++ {
		set, at := t.find(revision, kids, text)
		if set != nil && at > revision {
			// Either the caller read its revision before others wrote, or a restored database
			// has an earlier one.
			var err error
			if revision, err = changelog.Revision(ctx, t.db.Query); err != nil {
				return nil, 0, err
			}
		}
		if set != nil && at <= revision {
			return set, at, nil
		}
		if updates == mostUpdates || !t.fit(kids) {
			break
		}
		if err := t.update(ctx, at, kids); err != nil {
			return nil, 0, err
		}
	}
	return Scan(ctx, t.db.Query, kids, text)
}

// find is Find for values in memory. It returns nil if some are missing or too old, and
// the revision of those that are there.
func (t *Texts) find(revision int64, kids []int64, text string) (*idset.Set, int64) {
	now := t.clock.Add(1)
	t.mu.RLock()
	defer t.mu.RUnlock()
	var fields []*field
	for _, kid := range kids {
		if f := t.byKid[kid]; f != nil {
			f.used.Store(now)
			fields = append(fields, f)
		}
	}
	if len(fields) < len(kids) || t.revision < revision {
		return nil, t.revision
	}
	set := roaring.New()
	for _, f := range fields {
		f.find(set, text)
	}
	return set, t.revision
}

// fit reports whether fields fit into memory together, as far as their sizes are known.
func (t *Texts) fit(kids []int64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	sum := 0
	for _, kid := range kids {
		sum += t.sizes[kid]
	}
	return sum <= t.maxBytes
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Scan is Find for values in the database. One statement reads them and the revision:
//
//	SELECT n, NULL FROM revision
//	UNION ALL SELECT block, ids FROM postings WHERE kid IN (6,7) AND value < $1 AND value LIKE $2 ESCAPE '!'
func Scan(ctx context.Context, ask db.Asker, kids []int64, text string) (*idset.Set, int64, error) {
	set, at := roaring.New(), int64(0)
	var b db.Statement
	b.Add("SELECT n, NULL FROM revision UNION ALL SELECT block, ids FROM postings WHERE kid IN "+db.Numbers(kids)+" AND value < %s AND value LIKE %s ESCAPE '!'",
		index.NoValue, "%"+likeEscaper.Replace(text)+"%")
	err := b.Each(ctx, ask, func(rows *db.Rows) error {
		var n int64
		var ids sql.RawBytes
		if err := rows.Scan(&n, &ids); err != nil {
			return err
		}
		if ids == nil {
			at = n
			return nil
		}
		return idset.Add(set, n, ids)
	})
	return set, at, err
}

// update brings all values up to date and reads those of missing keys, unless another
// goroutine did so after they had the revision at.
func (t *Texts) update(ctx context.Context, at int64, kids []int64) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	missing := func(kid int64) bool { return t.byKid[kid] == nil }
	if t.revision != at && !slices.ContainsFunc(kids, missing) {
		return nil
	}
	return t.db.Snapshot(ctx, func(ask db.Asker) error { return t.bring(ctx, ask, kids) })
}

// bring brings all values to the revision of a snapshot, and reads those of missing keys. The
// caller has the turn.
func (t *Texts) bring(ctx context.Context, ask db.Asker, kids []int64) error {
	if err := t.follow(ctx, ask); err != nil {
		return err
	}
	for _, kid := range kids {
		if t.byKid[kid] != nil || !t.fit(kids) {
			continue
		}
		if err := t.load(ctx, ask, kid); err != nil {
			return err
		}
	}
	return nil
}

// follow applies the changes since the revision of the values, or drops all if they are not
// known, as after the database went back to an earlier revision.
func (t *Texts) follow(ctx context.Context, ask db.Asker) error {
	now, err := changelog.Revision(ctx, ask)
	if err != nil || now == t.revision {
		return err
	}
	n := &changelog.Changes{Revision: now}
	if t.revision > 0 && t.revision < now {
		if n, err = changelog.Since(ctx, ask, t.revision); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(t.revision, n)
	t.revision = n.Revision
	if !n.Complete {
		t.byKid, t.sizes = map[int64]*field{}, map[int64]int{}
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
	t.shrink()
	return nil
}

// errTooLarge ends the reading of a field that is too large to be held.
var errTooLarge = errors.New("cannot hold the values of a field: they do not fit into memory")

// load reads the values of a key, until they do not fit into memory.
func (t *Texts) load(ctx context.Context, ask db.Asker, kid int64) error {
	f := &field{}
	err := db.Each(ctx, ask, "SELECT value, block, ids FROM postings WHERE kid = $1 AND value < $2 ORDER BY value", []any{kid, index.NoValue},
		func(rows *db.Rows) error {
			var value, ids sql.RawBytes
			var block int64
			if err := rows.Scan(&value, &block, &ids); err != nil {
				return err
			}
			if err := f.append(value, block, ids); err != nil {
				return err
			}
			if f.bytes() > t.maxBytes {
				return errTooLarge
			}
			return nil
		})
	switch {
	case err == nil:
		f.finish()
	case !errors.Is(err, errTooLarge):
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loads++
	if t.sizes[kid] = f.bytes(); t.sizes[kid] <= t.maxBytes {
		f.used.Store(t.clock.Add(1))
		t.byKid[kid] = f
		t.shrink()
	}
	return nil
}

// shrink keeps the fields that were used last, as far as they fit into memory, and drops
// the others. The caller holds mu.
func (t *Texts) shrink() {
	latest := slices.SortedFunc(maps.Keys(t.byKid), func(a, b int64) int { return cmp.Compare(t.byKid[b].used.Load(), t.byKid[a].used.Load()) })
	sum := 0
	for _, kid := range latest {
		n := t.byKid[kid].bytes()
		if sum+n > t.maxBytes {
			delete(t.byKid, kid)
			continue
		}
		sum += n
	}
}

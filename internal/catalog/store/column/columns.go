// Package column counts entities in memory: it holds the values of the keys that entities
// are counted by.
package column

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

const (
	// maxBytes is how much memory columns take besides the references. Beyond that, the
	// database must be queried instead.
	maxBytes = 48 << 20
	// fullRevisions is after how many revisions to check again whether the number of
	// entities is below the limit.
	fullRevisions = 1000
)

// Columns holds columns in memory, at one revision. The change log brings them up to
// date, so that counting after a change costs as much as the size of the change, not of
// the catalog. All methods may be called concurrently.
type Columns struct {
	db *db.DB
	// maxEntities is up to how many entities columns are kept.
	maxEntities int
	// turn is held by the goroutine that reads what is missing.
	turn chan struct{}

	mu sync.RWMutex
	// revision is that of all fields below; 0 means that nothing is loaded.
	revision int64
	// refs has the references by their numbers, and number is the reverse. The numbers of
	// removed entities are in free.
	refs   []string
	number map[string]uint32
	free   []uint32
	live   Set
	byKid  map[int64]*fieldColumn
	// full reports that there are too many entities, so that only the revision is kept.
	// large has the keys whose columns do not fit into memory.
	full  bool
	large map[int64]bool
	// used is when a column was last used, in ticks of clock.
	used  map[int64]*atomic.Int64
	clock atomic.Int64
	// reads counts full reads: of all references, or of a column.
	reads atomic.Int64
}

// New returns columns of a database with at most maxEntities entities. If there are more,
// no columns are kept.
func New(d *db.DB, maxEntities int) *Columns {
	return &Columns{db: d, maxEntities: maxEntities, turn: make(chan struct{}, 1)}
}

// View is a set of columns at one revision.
type View struct{ columns *Columns }

// Revision returns the revision of the columns.
func (v View) Revision() int64 { return v.columns.revision }

// None returns an empty set.
func (v View) None() Set { return newSet(len(v.columns.refs)) }

// All returns the set of all entities.
func (v View) All() Set {
	set := v.None()
	set.Or(v.columns.live)
	return set
}

// Select adds to set the entities that have a value of the key for which passes returns
// true.
func (v View) Select(set Set, kid int64, passes func(value string) bool) {
	v.columns.byKid[kid].having(set, passes)
}

// Count calls add with each value of the key that entities of set have, in its original
// spelling, and how many have it.
func (v View) Count(set Set, kid int64, add func(value string, n int)) {
	v.columns.byKid[kid].count(set, add)
}

// mostUpdates is how often With updates columns before it gives up because other
// goroutines made it start over.
const mostUpdates = 3

// With calls do with columns of the keys, at a revision or a later one; the View is valid
// during the call. It returns false if it did not call do, because the columns do not fit
// into memory.
func (k *Columns) With(ctx context.Context, revision int64, kids []int64, do func(View)) (bool, error) {
	if err := k.check(ctx, revision); err != nil {
		return false, err
	}
	for range mostUpdates {
		if done, fits := k.try(revision, kids, do); done || !fits {
			return done, nil
		}
		if err := k.update(ctx, revision, kids); err != nil {
			return false, err
		}
	}
	done, _ := k.try(revision, kids, do)
	return done, nil
}

// check drops everything if the database has gone back to an older revision, as one
// that is restored from a backup does.
func (k *Columns) check(ctx context.Context, revision int64) error {
	k.mu.RLock()
	has := k.revision
	k.mu.RUnlock()
	if has <= revision {
		return nil
	}
	// Another goroutine may have read a later revision since.
	now, err := changelog.Revision(ctx, k.db.Query)
	if err != nil || has <= now {
		return err
	}
	k.forget()
	return nil
}

// forget makes the next count read everything again.
func (k *Columns) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revision, k.full = 0, false
}

// try calls do if the columns are loaded, and reports whether it did and whether they
// fit into memory.
func (k *Columns) try(revision int64, kids []int64, do func(View)) (done, fits bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.full && revision < k.revision+fullRevisions {
		return false, false
	}
	if k.revision == 0 || k.revision < revision {
		return false, true
	}
	if slices.ContainsFunc(kids, func(kid int64) bool { return k.large[kid] }) {
		return false, false
	}
	now := k.clock.Add(1)
	for _, kid := range kids {
		if k.byKid[kid] == nil {
			return false, true
		}
		k.used[kid].Store(now)
	}
	do(View{k})
	return true, true
}

// Has reports whether columns of all keys are loaded, at any revision.
func (k *Columns) Has(kids []int64) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.revision > 0 && !k.full && !slices.ContainsFunc(kids, func(kid int64) bool { return k.byKid[kid] == nil })
}

// update brings all columns up to date, and reads those of missing keys. One goroutine
// does that for all that wait.
func (k *Columns) update(ctx context.Context, revision int64, kids []int64) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// Apart from forget, only the goroutine that holds turn writes.
	k.mu.RLock()
	has, full := k.revision, k.full
	missing := slices.DeleteFunc(slices.Clone(kids), func(kid int64) bool { return k.byKid[kid] != nil || k.large[kid] })
	k.mu.RUnlock()
	switch {
	case has == 0 || full:
		return k.db.Snapshot(ctx, func(ask db.Asker) error { return k.load(ctx, ask, kids) })
	case len(missing) > 0:
		return k.db.Snapshot(ctx, func(ask db.Asker) error { return k.follow(ctx, ask, has, kids, missing) })
	case has < revision:
		return k.follow(ctx, k.db.Query, has, kids, nil)
	}
	return nil
}

// follow applies the changes after a revision, and reads missing columns, for which it
// needs a db.Asker that reads one snapshot.
func (k *Columns) follow(ctx context.Context, ask db.Asker, has int64, kids, missing []int64) error {
	n, err := changelog.Since(ctx, ask, has)
	if err != nil {
		return err
	}
	if !n.Complete {
		if missing == nil {
			return k.db.Snapshot(ctx, func(ask db.Asker) error { return k.load(ctx, ask, kids) })
		}
		return k.load(ctx, ask, kids)
	}
	k.mu.Lock()
	if k.revision != has {
		// forget was called in between.
		k.mu.Unlock()
		return nil
	}
	k.apply(n)
	full := len(k.number) > k.maxEntities
	if full {
		k.reset(n.Revision, nil)
		k.full = true
	}
	k.mu.Unlock()
	if full {
		return nil
	}
	return k.add(ctx, ask, missing, kids)
}

// load reads everything again: the references, and the columns of keys.
func (k *Columns) load(ctx context.Context, ask db.Asker, kids []int64) error {
	k.reads.Add(1)
	revision, err := changelog.Revision(ctx, ask)
	if err != nil {
		return err
	}
	var refs []string
	err = db.Each(ctx, ask, fmt.Sprintf("SELECT ref FROM entities LIMIT %d", k.maxEntities+1), nil, func(rows *db.Rows) error {
		var ref string
		err := rows.Scan(&ref)
		refs = append(refs, ref)
		return err
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	if k.full = len(refs) > k.maxEntities; k.full {
		refs = nil
	}
	full := k.full
	k.reset(revision, refs)
	k.mu.Unlock()
	if full {
		return nil
	}
	return k.add(ctx, ask, kids, kids)
}

// reset drops all columns, and numbers the references.
func (k *Columns) reset(revision int64, refs []string) {
	k.revision, k.refs, k.free = revision, refs, nil
	k.number, k.live = make(map[string]uint32, len(refs)), newSet(len(refs))
	for i, ref := range refs {
		k.number[ref] = uint32(i)
		k.live.set(uint32(i))
	}
	k.byKid, k.large, k.used = map[int64]*fieldColumn{}, map[int64]bool{}, map[int64]*atomic.Int64{}
}

// add reads the columns of missing keys. If all columns take too much memory, it drops
// others than those of needed keys.
func (k *Columns) add(ctx context.Context, ask db.Asker, missing, needed []int64) error {
	for _, kid := range missing {
		if k.byKid[kid] != nil {
			continue
		}
		c, err := k.read(ctx, ask, kid)
		if err != nil {
			return err
		}
		k.mu.Lock()
		k.byKid[kid], k.used[kid] = c, &atomic.Int64{}
		k.used[kid].Store(k.clock.Add(1))
		k.mu.Unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shrink(needed)
	return nil
}

// read reads the column of a key.
func (k *Columns) read(ctx context.Context, ask db.Asker, kid int64) (*fieldColumn, error) {
	k.reads.Add(1)
	c := newColumn(len(k.refs))
	first := make([]uint32, len(k.refs))
	several := map[uint32][]uint32{}
	err := db.Each(ctx, ask, "SELECT value, coalesce(original, ''), ref FROM search WHERE kid = $1", []any{kid}, func(rows *db.Rows) error {
		var value, original, ref string
		if err := rows.Scan(&value, &original, &ref); err != nil {
			return err
		}
		entity, ok := k.number[ref]
		if !ok {
			return nil
		}
		v := c.number(value, original) + 1
		switch {
		case first[entity] == 0:
			first[entity] = v
		case several[entity] == nil:
			several[entity] = []uint32{first[entity] - 1, v - 1}
		default:
			several[entity] = append(several[entity], v-1)
		}
		return nil
	})
	for entity, v := range first {
		switch values := several[uint32(entity)]; {
		case values != nil:
			c.of[entity] = c.combo(values)
		case v > 0:
			c.of[entity] = c.combo([]uint32{v - 1})
		}
	}
	return c, err
}

// shrink drops the least recently used columns until the others fit into memory. The
// needed ones go last; those that do not fit are marked large.
func (k *Columns) shrink(needed []int64) {
	sum := 0
	var order []int64
	for kid, c := range k.byKid {
		sum += c.weight()
		order = append(order, kid)
	}
	last := func(kid int64) int64 {
		if slices.Contains(needed, kid) {
			return k.clock.Load() + 1
		}
		return k.used[kid].Load()
	}
	slices.SortFunc(order, func(a, b int64) int { return int(last(a) - last(b)) })
	for _, kid := range order {
		if sum <= maxBytes {
			return
		}
		sum -= k.byKid[kid].weight()
		delete(k.byKid, kid)
		delete(k.used, kid)
		if slices.Contains(needed, kid) {
			k.large[kid] = true
		}
	}
}

// apply updates the columns to a later revision.
func (k *Columns) apply(n *changelog.Changes) {
	for ref := range n.Gone {
		entity, ok := k.number[ref]
		if !ok {
			continue
		}
		delete(k.number, ref)
		k.refs[entity] = ""
		k.live.clear(entity)
		k.free = append(k.free, entity)
		for _, c := range k.byKid {
			c.of[entity] = 0
		}
	}
	for ref, packed := range n.Packed {
		k.put(ref, packed)
	}
	k.revision = n.Revision
}

// put updates the columns to the current fields of an entity.
func (k *Columns) put(ref, packed string) {
	entity, ok := k.number[ref]
	if !ok {
		entity = k.newNumber(ref)
	}
	byKid := make(map[int64][]uint32, len(k.byKid))
	for _, f := range index.Unpack(packed) {
		if c := k.byKid[f.Kid]; c != nil {
			byKid[f.Kid] = append(byKid[f.Kid], c.number(f.Value, f.Original))
		}
	}
	for kid, c := range k.byKid {
		c.of[entity] = c.combo(byKid[kid])
	}
}

// newNumber assigns a number to a reference that has none, and returns it.
func (k *Columns) newNumber(ref string) uint32 {
	ref = strings.Clone(ref)
	var entity uint32
	if last := len(k.free) - 1; last >= 0 {
		entity, k.free = k.free[last], k.free[:last]
		k.refs[entity] = ref
	} else {
		entity = uint32(len(k.refs))
		k.refs = append(k.refs, ref)
		for _, c := range k.byKid {
			c.of = append(c.of, 0)
		}
		if int(entity) >= 64*len(k.live) {
			k.live = append(k.live, 0)
		}
	}
	k.number[ref] = entity
	k.live.set(entity)
	return entity
}

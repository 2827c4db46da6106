package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/idset"
)

// byColumn reads a large set in the order of the next column.
func (w *walker) byColumn(ctx context.Context, set *idset.Set, prefix []*string, after *Position) (bool, error) {
	col := w.q.columns[len(prefix)]
	var from *string
	if after != nil {
		from = after.Values[col.index]
	}
	with := func() (bool, error) {
		if after != nil && from == nil && !w.q.Backward {
			return true, nil
		}
		g := groups{walker: w, set: set, col: col, prefix: prefix, after: after, from: from}
		return g.walk(ctx)
	}
	without := func() (bool, error) {
		if after != nil && from != nil && w.q.Backward {
			return true, nil
		}
		has, err := w.s.selectAt(ctx, w.ask, cond{op: opHasValue, kid: col.kid}, w.revision)
		if err != nil {
			return false, err
		}
		at := after
		if from != nil {
			at = nil
		}
		return w.walk(ctx, roaring.AndNot(set, has.set), append(slices.Clip(prefix), nil), at)
	}
	parts := []func() (bool, error){with, without}
	if w.q.Backward {
		slices.Reverse(parts)
	}
	for _, part := range parts {
		if more, err := part(); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// groups reads the entities of a set that have a value for a column, value by value.
type groups struct {
	*walker
	set    *idset.Set
	col    sortColumn
	prefix []*string
	// after is the position to begin after, nil for none, and from its value.
	after *Position
	from  *string
	// pending are the entities of consecutive values with few entities each, with their
	// values. They are loaded together.
	pending map[uint32][]string
}

// maxPending is how many entities of a value may be pending, and how many in all.
const maxPending = 64

func (g *groups) walk(ctx context.Context) (bool, error) {
	desc := g.col.desc != g.q.Backward
	from, most := g.from, mostScanned
	members, read := int(g.set.GetCardinality()), 0
	for n := g.scanned(members, g.all); ; n = min(2*n, most) {
		found, err := g.readValues(ctx, g.col.kid, from, desc, n)
		if err != nil {
			return false, err
		}
		g.rows += found.rows
		complete := found.rows < n
		if last := len(found.values) - 1; !complete {
			// The last value may have further rows.
			from = &found.values[last].value
			found.values = found.values[:last]
		}
		for _, v := range found.values {
			if more, err := g.value(ctx, v); err != nil || !more {
				return false, err
			}
		}
		if complete {
			return g.flush(ctx)
		}
		if len(found.values) == 0 {
			// The value has more rows than were read.
			n, most = 2*n, max(most, 4*n)
		}
		if read += found.rows; g.givesUp(read, members) {
			return g.rest(ctx, *from, desc)
		}
	}
}

// rest reads all entities of the set that have the value from or a later one.
func (g *groups) rest(ctx context.Context, from string, desc bool) (bool, error) {
	if more, err := g.flush(ctx); err != nil || !more {
		return false, err
	}
	return g.loadIf(ctx, g.set.ToArray(), g.prefix, g.after, func(it *item) bool {
		value := it.values[g.col.index]
		return value != nil && signed(strings.Compare(*value, from), desc) >= 0
	})
}

// value reads the entities with a value.
func (g *groups) value(ctx context.Context, v valueIDs) (bool, error) {
	few, ids := v.in(g.set)
	n := len(few)
	if ids != nil {
		n = int(ids.GetCardinality())
	}
	if n == 0 {
		return true, nil
	}
	at := g.after
	if at != nil && (g.from == nil || v.value != *g.from) {
		at = nil
	}
	if n <= maxPending && (at != nil || n > g.skip || !g.col.alwaysPresent || !g.isExact(len(g.prefix))) {
		if g.pending == nil {
			g.pending = map[uint32][]string{}
		}
		if ids != nil {
			few = ids.ToArray()
		}
		for _, id := range few {
			g.pending[id] = append(g.pending[id], v.value)
		}
		if len(g.pending) < min(maxPending, g.skip+g.q.Limit) {
			return true, nil
		}
		return g.flush(ctx)
	}
	if more, err := g.flush(ctx); err != nil || !more {
		return false, err
	}
	if ids == nil {
		ids = roaring.BitmapOf(few...)
	}
	return g.walker.walk(ctx, ids, append(slices.Clip(g.prefix), &v.value), at)
}

// flush reads the pending entities. An entity with several values comes with the first of
// them.
func (g *groups) flush(ctx context.Context) (bool, error) {
	pending := g.pending
	g.pending = nil
	if len(pending) == 0 {
		return true, nil
	}
	return g.loadIf(ctx, slices.Collect(maps.Keys(pending)), g.prefix, g.after, func(it *item) bool {
		value := it.values[g.col.index]
		return value != nil && slices.Contains(pending[it.id], *value)
	})
}

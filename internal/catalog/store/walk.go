// This file reads the entities of a set in the order of a query, up to the end of a page.
// For orderField=metadata.name,asc it reads the values of metadata.name (key 5) in order
//
//	SELECT p.value, p.block, p.ids FROM postings p
//	WHERE p.kid = $1 AND p.value < $2 AND p.value >= $3 ORDER BY p.value LIMIT 64
//
// and intersects the ids of each with the set, until there are enough for the page. The
// entities of one value are in the order of the next field, or of references:
//
//	SELECT e.ref, e.id, … FROM entities e WHERE e.ref > $1 ORDER BY e.ref LIMIT 64
//
// A small set is read as a whole, and sorted here. If the values of the first field are in
// memory, only the entities of the page are read.

package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/texts"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

const (
	// leastLoaded is up to how many entities of a set are always read and sorted, and
	// mostLoaded above how many they are found in the order of an index.
	leastLoaded, mostLoaded = 64, 2048
	// leastScanned and mostScanned are how many rows of an index are read at a time.
	leastScanned, mostScanned = 16, 4096
	// rowsPerEntity is how many rows of an index are read in the time of reading an entity by
	// its id.
	rowsPerEntity = 5
	// mostOrdered is up to how many entities of a set are always compared in memory, and
	// orderedPerRow how many are in the time of reading a row of an index.
	mostOrdered, orderedPerRow = 65_536, 64
	// orderlyRows is how many rows are read one after the other in the time of reading one
	// somewhere in an index.
	orderlyRows = 4
)

// mostKinds is up to how many kinds are read one after the other.
const mostKinds = 64

// everything is a limit that is never reached.
const everything = math.MaxInt32

// item is an entity at its place in the order.
type item struct {
	Entity
	id uint32
	// values are the values to sort by, as in a Position.
	values []*string
}

// walker reads entities in the order of a query.
type walker struct {
	q *pageQuery
	reader
	revision int64
	// all is how many entities the catalog has, about.
	all int
	// skip is how many more entities to skip.
	skip int
	// rows is how many rows were read, where an entity counts as several.
	rows int
	// emit is called with some entities, in order, and returns false to end the walk.
	emit func([]item) (more bool, err error)
}

// walk reads the entities of a set in the order of q. The limit of q is up to emit.
func (s *Store) walk(ctx context.Context, r reader, q *pageQuery, sel selection, emit func([]item) (bool, error)) error {
	all, err := s.selectAt(ctx, r.ask, always, sel.revision)
	if err != nil {
		return err
	}
	w := walker{q: q, reader: r, revision: sel.revision, all: all.count(), skip: q.Offset, emit: emit}
	if !w.prefersMemory(int(sel.set.GetCardinality())) {
		_, err = w.walk(ctx, sel.set, nil, q.Position)
		return err
	}
	done, err := w.walkInMemory(ctx, sel.set)
	if err != nil || done {
		return err
	}
	if _, err = w.walk(ctx, sel.set, nil, q.Position); err != nil || !q.current {
		return err
	}
	return s.texts.Ask(ctx, q.columns[0].kid, w.rows, cmp.Or(s.leastAsked, w.all/orderlyRows))
}

// prefersMemory reports whether to sort n entities by the values of the first field, if they
// are in memory.
func (w *walker) prefersMemory(n int) bool {
	if len(w.q.columns) == 0 || w.q.Limit > mostLoaded || n <= w.q.Limit {
		return false
	}
	switch at := w.q.Position; {
	case at == nil && w.q.Backward, at != nil && (at.Values[w.q.columns[0].index] == nil || w.skip > 0):
		return false
	}
	found := w.skip + w.q.Limit
	return n <= mostOrdered || (n+found)/orderedPerRow < found*w.all/n
}

// walkInMemory reads the entities of a set whose order is in memory. It returns false, and
// has done nothing, if that is not so.
func (w *walker) walkInMemory(ctx context.Context, set *idset.Set) (done bool, err error) {
	col := w.q.columns[0]
	r := texts.Range{Desc: col.desc != w.q.Backward, Skip: w.skip, Limit: w.q.Limit}
	if w.q.Position != nil {
		r.From = w.q.Position.Values[col.index]
	}
	first, known, err := w.s.texts.Order(ctx, w.revision, w.q.current, col.kid, set, r)
	if err != nil || !known {
		return false, err
	}
	w.skip -= min(w.skip, first.Before)
	_, err = w.load(ctx, first.IDs, nil, w.q.Position)
	return true, err
}

// walk reads the entities of a set whose first values in the order are those of prefix,
// those after a position unless that is nil. It returns false if the walk has ended.
func (w *walker) walk(ctx context.Context, set *idset.Set, prefix []*string, after *Position) (more bool, err error) {
	if done, more, err := w.walkFew(ctx, set, w.all, prefix, after); done {
		return more, err
	}
	if len(prefix) == len(w.q.columns) {
		return w.byRef(ctx, set, prefix, after)
	}
	named, err := w.isNamedLikeRefs(ctx, set)
	if err != nil {
		return false, err
	}
	if named {
		return w.byRef(ctx, set, prefix, after)
	}
	return w.byColumn(ctx, set, prefix, after)
}

// walkFew is walk for a set that is skipped, or read as a whole rather than found in an
// index with a number of entities. It does nothing, and returns that it has not done it,
// for others.
func (w *walker) walkFew(ctx context.Context, set *idset.Set, among int, prefix []*string, after *Position) (done, more bool, err error) {
	n := int(set.GetCardinality())
	switch {
	case n == 0:
		return true, true, nil
	case after == nil && n <= w.skip && w.isExact(len(prefix)):
		w.skip -= n
		return true, true, nil
	case w.prefersLoading(n, among):
		more, err = w.load(ctx, set.ToArray(), prefix, after)
		return true, more, err
	}
	return false, false, nil
}

// isNamedLikeRefs reports whether the order by name is that of references: all entities are
// of one kind and in one namespace. Names of other kinds may come before all of them.
func (w *walker) isNamedLikeRefs(ctx context.Context, set *idset.Set) (bool, error) {
	name, ok := w.s.keys.Get("metadata.name")
	if !ok || w.q.where.kind().op != opKind || len(w.q.columns) != 1 || w.q.columns[0].kid != name || w.q.columns[0].desc != w.q.desc {
		return false, nil
	}
	key := cacheKeyOf("named like references", w.q.where)
	if named, ok := w.s.cache.Get(w.revision, key); ok {
		return named.(bool), nil
	}
	refs, err := w.readRefsOf(ctx, []uint32{set.Minimum()})
	namespace, ok := w.s.keys.Get(index.NamespaceKey)
	if err != nil || !ok || len(refs) == 0 {
		return false, err
	}
	_, rest, _ := strings.Cut(refs[0].ref, ":")
	of, _, _ := strings.Cut(rest, "/")
	same, err := w.s.selectAt(ctx, w.ask, cond{op: filter.OpIn, kid: namespace, values: []string{of}}, w.revision)
	if err != nil {
		return false, err
	}
	named := roaring.AndNot(set, same.set).IsEmpty()
	w.s.cache.Put(w.revision, key, named, 1)
	return named, nil
}

// prefersLoading reports whether reading n entities and sorting them costs less than finding
// some of them in the order of an index with a number of entities.
func (w *walker) prefersLoading(n, among int) bool {
	if w.maxLoaded > 0 {
		return n <= w.maxLoaded
	}
	scanned := float64(w.wanted()) * float64(among) / float64(n)
	return n <= leastLoaded || n <= mostLoaded && float64(n)*rowsPerEntity < scanned
}

// wanted returns how many entities to find, as far as it is known.
func (w *walker) wanted() int { return w.skip + min(w.q.Limit, mostScanned) }

// isExact reports whether entities have one value at most for each of the first n columns,
// so that those in the set of a value have no better one.
func (w *walker) isExact(n int) bool {
	return !slices.ContainsFunc(w.q.columns[:n], func(c sortColumn) bool { return !c.alwaysPresent })
}

// load reads entities, sorts them, and emits those with the values of prefix that are after
// a position.
func (w *walker) load(ctx context.Context, ids []uint32, prefix []*string, after *Position) (bool, error) {
	if len(w.q.columns) == 0 && len(ids) > batch {
		var err error
		if ids, err = w.firstByRef(ctx, ids, after); err != nil {
			return false, err
		}
	}
	return w.loadIf(ctx, ids, prefix, after, func(*item) bool { return true })
}

// firstByRef returns the ids of the entities that a page has at most, in the order of
// references.
func (w *walker) firstByRef(ctx context.Context, ids []uint32, after *Position) ([]uint32, error) {
	refs, err := w.readRefsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	desc := w.q.desc != w.q.Backward
	refs = slices.DeleteFunc(refs, func(r idRef) bool { return after != nil && signed(strings.Compare(r.ref, after.Ref), desc) <= 0 })
	slices.SortFunc(refs, func(a, b idRef) int { return signed(strings.Compare(a.ref, b.ref), desc) })
	refs = refs[:min(len(refs), w.wanted())]
	first := make([]uint32, len(refs))
	for i, r := range refs {
		first[i] = r.id
	}
	return first, nil
}

// loadIf is load for entities for which keep returns true. It holds only those that a page
// has at most.
func (w *walker) loadIf(ctx context.Context, ids []uint32, prefix []*string, after *Position, keep func(*item) bool) (bool, error) {
	var best []item
	for some := range slices.Chunk(ids, mostLoaded) {
		items, err := w.readIf(ctx, some, prefix, after, keep)
		if err != nil {
			return false, err
		}
		best = append(best, items...)
		slices.SortFunc(best, func(a, b item) int { return w.q.compare(a.values, a.Ref, b.values, b.Ref) })
		if most := w.skip + w.q.Limit; len(best) > most {
			clear(best[most:])
			best = best[:most]
		}
	}
	return w.pass(best)
}

// readIf reads entities with the values of prefix that are after a position and for which
// keep returns true.
func (w *walker) readIf(ctx context.Context, ids []uint32, prefix []*string, after *Position, keep func(*item) bool) ([]item, error) {
	items, err := w.readItems(ctx, w.q, ids)
	w.rows += rowsPerEntity * len(ids)
	return slices.DeleteFunc(items, func(it item) bool {
		if !keep(&it) {
			return true
		}
		for i, v := range prefix {
			if has := it.values[w.q.columns[i].index]; (has == nil) != (v == nil) || v != nil && *has != *v {
				return true
			}
		}
		return after != nil && w.q.compare(it.values, it.Ref, after.Values, after.Ref) <= 0
	}), err
}

// pass emits entities after those to skip.
func (w *walker) pass(items []item) (bool, error) {
	skipped := min(w.skip, len(items))
	w.skip -= skipped
	if items = items[skipped:]; len(items) == 0 {
		return true, nil
	}
	return w.emit(items)
}

// compare compares two places in the order of the query, backward if the query is.
func (q *pageQuery) compare(values []*string, ref string, otherValues []*string, otherRef string) int {
	c := compareValues(q.Order, values, otherValues)
	if c == 0 {
		c = signed(strings.Compare(ref, otherRef), q.desc)
	}
	return signed(c, q.Backward)
}

// scanned returns how many rows of an index with that many entities to read to find enough
// of n entities.
func (w *walker) scanned(n, among int) int {
	const spare = 1.2
	return max(leastScanned, min(mostScanned, 1+int(spare*float64(w.wanted())*float64(among)/float64(n))))
}

// givesUp reports whether so many rows of an index were read in vain that it costs less to
// read all n entities of the set: they may all be at the end of the index.
func (w *walker) givesUp(rows, n int) bool {
	return rows > rowsPerEntity*n && w.q.Limit <= mostScanned
}

// byRef reads a large set in the order of references, which is first that of kinds.
func (w *walker) byRef(ctx context.Context, set *idset.Set, prefix []*string, after *Position) (bool, error) {
	kinds, err := w.kinds(ctx)
	if err != nil {
		return false, err
	}
	if len(kinds) > mostKinds {
		return w.byRefBetween(ctx, "", db.MaxText, set, w.all, prefix, after)
	}
	desc := w.q.desc != w.q.Backward
	for _, kind := range kinds {
		lo, hi := kind.refRange()
		if after != nil && (desc && after.Ref <= lo || !desc && after.Ref >= hi) {
			continue
		}
		of, err := w.s.selectAt(ctx, w.ask, kind, w.revision)
		if err != nil {
			return false, err
		}
		part := set
		if len(kinds) > 1 {
			part = roaring.And(set, of.set)
		}
		done, more, err := w.walkFew(ctx, part, of.count(), prefix, after)
		if !done {
			more, err = w.byRefBetween(ctx, lo, hi, part, of.count(), prefix, after)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// kinds returns the condition of each kind that the entities may have, in the order of the
// walk.
func (w *walker) kinds(ctx context.Context) ([]cond, error) {
	if kind := w.q.where.kind(); kind.op == opKind {
		return []cond{kind}, nil
	}
	key := cacheKeyOf("kinds", always)
	cached, ok := w.s.cache.Get(w.revision, key)
	if !ok {
		kinds, err := w.readKinds(ctx)
		if err != nil {
			return nil, err
		}
		w.s.cache.Put(w.revision, key, kinds, len(kinds))
		cached = kinds
	}
	kinds := slices.Clone(cached.([]cond))
	if w.q.desc != w.q.Backward {
		slices.Reverse(kinds)
	}
	return kinds, nil
}

// byRefBetween reads a large set of entities whose references are between two others, as
// those of a number of entities are, in the order of references.
func (w *walker) byRefBetween(ctx context.Context, lo, hi string, set *idset.Set, among int, prefix []*string, after *Position) (bool, error) {
	desc := w.q.desc != w.q.Backward
	if after != nil && desc {
		hi = min(hi, after.Ref)
	}
	if after != nil && !desc {
		lo = max(lo, after.Ref)
	}
	members, read := int(set.GetCardinality()), 0
	// Few rows of a sparse set are needed whole.
	whole := len(w.q.columns) == 0 && w.skip < leastScanned && 2*members > among
	for n := w.scanned(members, among); ; n = min(2*n, mostScanned) {
		found, err := w.readRefs(ctx, refRange{lo, hi, desc, whole}, n, set)
		if err != nil {
			return false, err
		}
		w.rows += found.rows
		var more bool
		if whole {
			for i := range found.items {
				found.items[i].values = make([]*string, len(w.q.Order))
			}
			more, err = w.pass(found.items)
		} else {
			more, err = w.loadInParts(ctx, found.ids, prefix)
		}
		if err != nil || !more || found.rows < n {
			return more, err
		}
		if desc {
			hi = found.last
		} else {
			lo = found.last
		}
		if read += found.rows; w.givesUp(read, members) {
			return w.loadIf(ctx, set.ToArray(), prefix, nil, func(it *item) bool { return lo < it.Ref && it.Ref < hi })
		}
	}
}

// loadInParts loads entities that are in order.
func (w *walker) loadInParts(ctx context.Context, ids []uint32, prefix []*string) (bool, error) {
	for some := range slices.Chunk(ids, max(1, min(batch, w.wanted()))) {
		if len(some) <= w.skip && w.isExact(len(prefix)) {
			w.skip -= len(some)
			continue
		}
		if more, err := w.load(ctx, some, prefix, nil); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

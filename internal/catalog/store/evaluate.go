// This file finds the entities that pass a condition, as a set of ids. The request
//
//	GET /entities/by-query?filter=kind=component,spec.lifecycle=production
//
// reads two sets, if kind has the number 1 and spec.lifecycle 6, and intersects them:
//
//	SELECT -1, 0, NULL, n FROM revision
//	UNION ALL SELECT 0, p.block, p.ids, 0 FROM postings p WHERE p.kid = $1 AND p.value = $2
//	UNION ALL SELECT 1, p.block, p.ids, 0 FROM postings p WHERE p.kid = $3 AND p.value = $4

package store

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

// errChanged is returned by reads that several statements answer, if the catalog changed
// between them.
var errChanged = errors.New("the catalog changed while it was read")

// maxReads is how often something is read again because the catalog changed, before it is
// read in a snapshot, which costs a transaction.
const maxReads = 2

// selection is the set of entities that pass a condition at a revision. It must not be
// changed.
type selection struct {
	set      *idset.Set
	revision int64
}

func (s selection) count() int { return int(s.set.GetCardinality()) }

// setWeight is how many bytes of a set weigh as much as a cached number.
const setWeight = 100

// selectNow returns the entities that pass a condition now. Concurrent callers with the
// same condition share one evaluation.
func (s *Store) selectNow(ctx context.Context, c cond) (selection, error) {
	revision, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil {
		return selection{}, err
	}
	v, err := s.cache.Compute(ctx, revision, cacheKeyOf("set", c), func(ctx context.Context) (any, int, int64, error) {
		var sel selection
		err := s.consistently(ctx, func(ask db.Asker, final bool) (err error) {
			sel, err = s.evaluate(ctx, ask, c, final)
			return err
		})
		return sel, weightOf(sel), sel.revision, err
	})
	if err != nil {
		return selection{}, err
	}
	return v.(selection), nil
}

func weightOf(sel selection) int {
	if sel.set == nil {
		return 1
	}
	return 1 + int(sel.set.GetSizeInBytes())/setWeight
}

// selectIn is selectNow for a snapshot.
func (s *Store) selectIn(ctx context.Context, ask db.Asker, c cond) (selection, error) {
	revision, err := changelog.Revision(ctx, ask)
	if err != nil {
		return selection{}, err
	}
	return s.selectAt(ctx, ask, c, revision)
}

// selectAt is selectIn for a snapshot with a known revision. Without a snapshot, the
// selection may be of a later revision.
func (s *Store) selectAt(ctx context.Context, ask db.Asker, c cond, revision int64) (selection, error) {
	key := cacheKeyOf("set", c)
	if v, ok := s.cache.Get(revision, key); ok {
		return v.(selection), nil
	}
	sel, err := s.evaluate(ctx, ask, c, true)
	if err == nil {
		s.cache.Put(sel.revision, key, sel, weightOf(sel))
	}
	return sel, err
}

// consistently calls read until it does not return errChanged, in the end with a snapshot.
func (s *Store) consistently(ctx context.Context, read func(ask db.Asker, snapshot bool) error) error {
	for range maxReads {
		if err := read(s.DB.Query, false); !errors.Is(err, errChanged) {
			return err
		}
	}
	return s.Snapshot(ctx, func(ask db.Asker) error { return read(ask, true) })
}

// evaluator evaluates a condition.
type evaluator struct {
	s        *Store
	ask      db.Asker
	snapshot bool
	// revision is that of all sets, -1 before the first is read.
	revision int64
	// sets are the sets of postings that the condition consists of, by their keys.
	sets map[string]*idset.Set
}

// evaluate returns the entities that pass a condition. Without a snapshot it returns
// errChanged if the catalog changed meanwhile.
func (s *Store) evaluate(ctx context.Context, ask db.Asker, c cond, snapshot bool) (selection, error) {
	e := evaluator{s: s, ask: ask, snapshot: snapshot, revision: -1, sets: map[string]*idset.Set{}}
	var leaves []cond
	e.collect(c, &leaves)
	for some := range slices.Chunk(leaves, maxUnion) {
		if err := e.read(ctx, some); err != nil {
			return selection{}, err
		}
	}
	if e.revision < 0 {
		if err := e.read(ctx, nil); err != nil {
			return selection{}, err
		}
	}
	if err := e.findTexts(ctx, c); err != nil {
		return selection{}, err
	}
	return selection{e.set(c), e.revision}, nil
}

// maxUnion is how many sets are read by one statement. SQLite allows 500 statements in a
// UNION.
const maxUnion = 64

// collect collects the conditions that postings answer, each once. All entities are among
// them where a set is subtracted from all, and for values in memory, which may be those of
// removed entities.
func (e *evaluator) collect(c cond, leaves *[]cond) {
	switch c.op {
	case filter.OpFalse:
		return
	case filter.OpAny:
		for _, sub := range c.conds {
			e.collect(sub, leaves)
		}
		return
	case filter.OpNot:
		e.collect(c.conds[0], leaves)
		e.collect(always, leaves)
		return
	case filter.OpAll:
		from := always
		for _, sub := range c.conds {
			if sub.op == filter.OpNot {
				sub = sub.conds[0]
			} else {
				from = never
			}
			e.collect(sub, leaves)
		}
		e.collect(from, leaves)
		return
	case opContains:
		c = always
	}
	key := string(c.appendKey(nil))
	if _, ok := e.sets[key]; !ok {
		e.sets[key] = roaring.New()
		*leaves = append(*leaves, c)
	}
}

// read reads the sets of leaves in one statement.
func (e *evaluator) read(ctx context.Context, leaves []cond) error {
	var b db.Statement
	b.Add("SELECT -1, 0, NULL, n FROM revision")
	for i := range leaves {
		for _, rows := range postingsOf(&leaves[i]) {
			b.Add(" UNION ALL SELECT " + strconv.Itoa(i) + ", p.block, p.ids, 0 FROM postings p WHERE ")
			rows.write(&b)
		}
	}
	sets := make([]*idset.Set, len(leaves))
	for i := range leaves {
		sets[i] = e.sets[string(leaves[i].appendKey(nil))]
	}
	return b.Each(ctx, e.ask, func(rows *db.Rows) error {
		var leaf, block, n int64
		var ids []byte
		if err := rows.Scan(&leaf, &block, &ids, &n); err != nil {
			return err
		}
		if leaf >= 0 {
			return idset.Add(sets[leaf], block, ids)
		}
		if e.revision >= 0 && e.revision != n {
			return errChanged
		}
		e.revision = n
		return nil
	})
}

// postingRange are rows of postings: those with one of the values of a key, or from one
// value to another.
type postingRange struct {
	kid    int64
	values []string
	lo, hi string
}

func (r *postingRange) write(b *db.Statement) {
	b.Add("p.kid = %s AND p.value ", r.kid)
	switch {
	case len(r.values) == 1:
		b.Add("= %s", r.values[0])
	case len(r.values) > 1:
		b.Add("IN ")
		b.List(r.values)
	default:
		b.Add(">= %s AND p.value < %s", r.lo, r.hi)
	}
}

// postingsOf returns the rows that have the entities that pass a leaf.
func postingsOf(c *cond) []postingRange {
	exactly := func(p index.Posting) postingRange { return postingRange{kid: p.Kid, values: []string{p.Value}} }
	switch c.op {
	case filter.OpTrue:
		return []postingRange{exactly(index.Everything)}
	case opHasValue:
		return []postingRange{exactly(index.HasValue(c.kid))}
	case filter.OpHas:
		return []postingRange{exactly(index.HasValue(c.kid)), {kid: c.kid, values: []string{index.NoValue}}}
	case filter.OpPrefix:
		if c.values[0] == "" {
			return []postingRange{exactly(index.HasValue(c.kid))}
		}
		return []postingRange{{kid: c.kid, lo: c.values[0], hi: db.After(c.values[0])}}
	case opWord:
		return []postingRange{{kid: index.WordKid, lo: c.values[0], hi: db.After(c.values[0])}}
	case opAnyWord:
		return []postingRange{{kid: index.WordKid, values: c.values}}
	}
	return []postingRange{{kid: c.kid, values: c.values}}
}

// findTexts finds the entities for all parts of a condition that look for substrings.
func (e *evaluator) findTexts(ctx context.Context, c cond) error {
	for _, sub := range c.conds {
		if err := e.findTexts(ctx, sub); err != nil {
			return err
		}
	}
	if c.op != opContains {
		return nil
	}
	var found *idset.Set
	var at int64
	var err error
	if e.snapshot {
		found, at, err = e.s.texts.FindIn(ctx, e.ask, e.revision, c.kids, c.values[0])
	} else {
		found, at, err = e.s.texts.Find(ctx, e.revision, c.kids, c.values[0])
	}
	if err != nil {
		return err
	}
	if at != e.revision {
		return errChanged
	}
	found.And(e.sets[string(always.appendKey(nil))])
	e.sets[string(c.appendKey(nil))] = found
	return nil
}

// set returns the entities that pass a condition whose sets were read. The result may be
// one of them.
func (e *evaluator) set(c cond) *idset.Set {
	switch c.op {
	case filter.OpFalse:
		return roaring.New()
	case filter.OpAny:
		subs := make([]*idset.Set, len(c.conds))
		for i, sub := range c.conds {
			subs[i] = e.set(sub)
		}
		return roaring.FastOr(subs...)
	case filter.OpNot:
		return roaring.AndNot(e.set(always), e.set(c.conds[0]))
	case filter.OpAll:
		return e.intersection(c.conds)
	}
	return e.sets[string(c.appendKey(nil))]
}

// intersection intersects the smallest sets first.
func (e *evaluator) intersection(conds []cond) *idset.Set {
	var sets, without []*idset.Set
	for _, c := range conds {
		if c.op == filter.OpNot {
			without = append(without, e.set(c.conds[0]))
		} else {
			sets = append(sets, e.set(c))
		}
	}
	if len(sets) == 0 {
		sets = append(sets, e.set(always))
	}
	slices.SortFunc(sets, func(a, b *idset.Set) int { return int(a.GetCardinality()) - int(b.GetCardinality()) })
	out := sets[0].Clone()
	for _, set := range sets[1:] {
		out.And(set)
	}
	for _, set := range without {
		out.AndNot(set)
	}
	return out
}

package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// Listing is everything that a query selects, in one snapshot.
type Listing struct {
	// Digest is a hash of the entities. It changes when one of them is changed, added or
	// removed.
	Digest []byte
	// Revision is the revision of the catalog.
	Revision int64
	// Last is the position of the last entity if the query has a limit and there are more
	// entities after it.
	Last *Position

	each func(yield func(*Entity) error) error
	stop error
}

// Each calls yield for each entity, in order, until yield returns an error, which Each
// then returns. Only a few entities are held in memory at a time; each is valid during
// the call.
func (l *Listing) Each(yield func(*Entity) error) error {
	err := l.each(func(e *Entity) error {
		l.stop = yield(e)
		return l.stop
	})
	if l.stop != nil {
		return l.stop
	}
	return db.Fail(listing, err)
}

const listing = "list entities"

// List calls do with what q selects, and returns its error. The listing does not change
// until do returns.
func (s *Store) List(ctx context.Context, q Query, do func(*Listing) error) error {
	r, err := s.resolveQuery(ctx, q)
	if err != nil {
		return db.Fail(listing, err)
	}
	l := &Listing{Digest: sha256.New().Sum(nil), each: func(func(*Entity) error) error { return nil }}
	if r.isEmpty() {
		if l.Revision, err = changelog.Revision(ctx, s.DB.Query); err != nil {
			return db.Fail(listing, err)
		}
		return do(l)
	}
	var done error
	err = s.LongSnapshot(ctx, func(ask db.Asker) error {
		sel, err := s.selectIn(ctx, ask, r.where)
		if err != nil {
			return err
		}
		l.Revision = sel.revision
		if l.Digest, err = s.digestAt(ctx, ask, r, sel); err != nil {
			return err
		}
		if q.Limit >= 0 {
			if l.Last, err = s.lastPosition(ctx, ask, r, sel); err != nil {
				return err
			}
		}
		l.each = func(yield func(*Entity) error) error { return s.eachOf(ctx, ask, r, sel, yield) }
		done = do(l)
		return nil
	})
	if done != nil {
		return done
	}
	return db.Fail(listing, err)
}

// digestOf returns the digest of entities in any order, which it sorts.
func digestOf(items []item) []byte {
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.Ref, b.Ref) })
	h := sha256.New()
	hashItems(h, items)
	return h.Sum(nil)
}

// hashItems adds references and etags to a hash.
func hashItems(h hash.Hash, items []item) {
	var line []byte
	for i := range items {
		line = append(append(append(append(line[:0], items[i].Ref...), ' '), items[i].ETag...), '\n')
		h.Write(line)
	}
}

// lastPosition returns the position of the last entity of a page, or nil if there is
// nothing after it.
func (s *Store) lastPosition(ctx context.Context, ask db.Asker, q *pageQuery, sel selection) (*Position, error) {
	last := *q
	last.Offset, last.Limit = q.Offset+q.Limit-1, 2
	items, err := s.collect(ctx, ask, &last, sel)
	if err != nil || len(items) < last.Limit {
		return nil, err
	}
	return items[0].position(), nil
}

// Each calls yield for each entity that q selects, as Listing.Each does.
func (s *Store) Each(ctx context.Context, q Query, yield func(*Entity) error) error {
	return s.List(ctx, q, func(l *Listing) error { return l.Each(yield) })
}

// eachOf calls yield for each entity of a query.
func (s *Store) eachOf(ctx context.Context, ask db.Asker, q *pageQuery, sel selection, yield func(*Entity) error) error {
	if q.Backward {
		items, err := s.collect(ctx, ask, q, sel)
		if err != nil {
			return err
		}
		slices.Reverse(items)
		return s.eachItem(ctx, ask, items, yield)
	}
	left := q.Limit
	return s.walk(ctx, s.reader(ask), q, sel, func(some []item) (bool, error) {
		some = some[:min(len(some), left)]
		left -= len(some)
		return left > 0, s.eachItem(ctx, ask, some, yield)
	})
}

// eachItem calls yield for each of the items.
func (s *Store) eachItem(ctx context.Context, ask db.Asker, items []item, yield func(*Entity) error) error {
	refs := make([]string, len(items))
	for i := range items {
		refs[i] = items[i].Ref
	}
	return s.eachRef(ctx, ask, refs, yield)
}

// eachRef calls yield for each of the entities, which exist.
func (s *Store) eachRef(ctx context.Context, ask db.Asker, refs []string, yield func(*Entity) error) error {
	for some := range slices.Chunk(refs, batch) {
		found := make(map[string]*Entity, batch)
		if err := s.readMany(ctx, ask, some, func(e *Entity) { found[e.Ref] = e }); err != nil {
			return err
		}
		for _, ref := range some {
			if err := yield(found[ref]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Digest returns the digest of the Listing of q, without waiting for other readers of
// lists.
func (s *Store) Digest(ctx context.Context, q Query) ([]byte, error) {
	r, err := s.resolveQuery(ctx, q)
	if err != nil {
		return nil, db.Fail(listing, err)
	}
	if r.isEmpty() {
		return sha256.New().Sum(nil), nil
	}
	end, err := s.turn(ctx)
	if err != nil {
		return nil, db.Fail(listing, err)
	}
	defer end()
	var sum []byte
	err = s.consistently(ctx, func(ask db.Asker, snapshot bool) error {
		sel, err := s.selectFor(ctx, ask, r.where, snapshot)
		if err != nil {
			return err
		}
		if sum, err = s.digestAt(ctx, ask, r, sel); err != nil || snapshot {
			return err
		}
		now, err := changelog.Revision(ctx, ask)
		if err == nil && now != sel.revision {
			err = errChanged
		}
		return err
	})
	return sum, db.Fail(listing, err)
}

// digestAt returns the digest, which it caches for the revision.
func (s *Store) digestAt(ctx context.Context, ask db.Asker, q *pageQuery, sel selection) ([]byte, error) {
	key := q.cacheKey("digest")
	if sum, ok := s.cache.Get(sel.revision, key); ok {
		return slices.Clone(sum.([]byte)), nil
	}
	sum, err := s.computeDigest(ctx, ask, q, sel)
	if err != nil {
		return nil, err
	}
	s.cache.Put(sel.revision, key, sum, 1)
	return slices.Clone(sum), nil
}

// computeDigest hashes the references and etags of the entities, in the order of references.
func (s *Store) computeDigest(ctx context.Context, ask db.Asker, q *pageQuery, sel selection) ([]byte, error) {
	if q.Limit == everything-1 && q.Offset == 0 && q.Position == nil {
		h := sha256.New()
		all := pageQuery{Query: Query{Limit: q.Limit}, where: q.where}
		err := s.walk(ctx, s.reader(ask), &all, sel, func(some []item) (bool, error) {
			hashItems(h, some)
			return true, nil
		})
		return h.Sum(nil), err
	}
	items, err := s.collect(ctx, ask, q, sel)
	return digestOf(items), err
}

// isEmpty reports whether the page is certainly empty.
func (q *pageQuery) isEmpty() bool { return q.where.op == filter.OpFalse || q.Limit == 0 }

// cacheKey returns the cache key of what is cached for the page.
func (q *pageQuery) cacheKey(what string) cache.Key {
	b := fmt.Appendf(nil, "%s %d %v %v %v %d %d ", what, len(q.Order), q.columns, q.desc, q.Backward, q.Offset, q.Limit)
	if q.Position != nil {
		b = fmt.Appendf(b, "%q ", q.Position.Ref)
		for _, v := range q.Position.Values {
			if v != nil {
				b = fmt.Appendf(b, "%q", *v)
			}
			b = append(b, ' ')
		}
	}
	return cacheKeyOf(string(b), q.where)
}

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"

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
	p, err := s.planSort(ctx, r)
	if err != nil {
		return db.Fail(listing, err)
	}
	var done error
	err = s.LongSnapshot(ctx, func(ask db.Asker) error {
		if l.Revision, err = changelog.Revision(ctx, ask); err != nil {
			return err
		}
		if l.Digest, err = s.digestAt(ctx, ask, p); err != nil {
			return err
		}
		if q.Limit >= 0 {
			if l.Last, err = s.lastPosition(ctx, ask, p); err != nil {
				return err
			}
		}
		l.each = func(yield func(*Entity) error) error { return s.eachOf(ctx, ask, p, yield) }
		done = do(l)
		return nil
	})
	if done != nil {
		return done
	}
	return db.Fail(listing, err)
}

// lastPosition returns the position of the last entity of a plan, or nil if there is
// nothing after it.
func (s *Store) lastPosition(ctx context.Context, ask db.Asker, p *pagePlan) (*Position, error) {
	last := *p
	last.Offset, last.Limit = p.Offset+p.Limit-1, 2
	var f found
	if err := s.readRows(ctx, ask, &last, &f); err != nil || len(f.items) < last.Limit {
		return nil, err
	}
	last.Limit = 1
	var page Page
	f.fillPage(&last.pageQuery, &page)
	return page.Last, nil
}

// Each calls yield for each entity that q selects, as Listing.Each does.
func (s *Store) Each(ctx context.Context, q Query, yield func(*Entity) error) error {
	return s.List(ctx, q, func(l *Listing) error { return l.Each(yield) })
}

// eachOf calls yield for each entity of a plan.
func (s *Store) eachOf(ctx context.Context, ask db.Asker, p *pagePlan, yield func(*Entity) error) error {
	refs, err := s.readRefs(ctx, ask, p)
	if err != nil {
		return err
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

// readRefs returns the references of a plan, in order.
func (s *Store) readRefs(ctx context.Context, ask db.Asker, p *pagePlan) ([]string, error) {
	w := s.newSQL(true)
	text := w.writePage(p)
	var refs []string
	dest := make([]any, 1+len(p.columns))
	for i := range dest {
		dest[i] = new(any)
	}
	err := db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error {
		var ref string
		dest[0] = &ref
		err := rows.Scan(dest...)
		refs = append(refs, ref)
		return err
	})
	if p.Backward {
		slices.Reverse(refs)
	}
	return refs, err
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
	p, err := s.planSort(ctx, r)
	if err != nil {
		return nil, db.Fail(listing, err)
	}
	sum, err := s.digestAt(ctx, s.DB.Query, p)
	return sum, db.Fail(listing, err)
}

// digestAt returns the digest, which it caches for the revision.
func (s *Store) digestAt(ctx context.Context, ask db.Asker, p *pagePlan) ([]byte, error) {
	revision, err := changelog.Revision(ctx, ask)
	if err != nil {
		return nil, err
	}
	key := p.cacheKey()
	if sum, ok := s.cache.Get(revision, key); ok {
		return slices.Clone(sum.([]byte)), nil
	}
	sum, err := s.computeDigest(ctx, ask, p)
	if err != nil {
		return nil, err
	}
	s.cache.Put(revision, key, sum, 1)
	return slices.Clone(sum), nil
}

func (s *Store) computeDigest(ctx context.Context, ask db.Asker, p *pagePlan) ([]byte, error) {
	w := s.newSQL(true)
	text := "SELECT p.ref, e.etag FROM (" + w.writePage(p) + ") p CROSS JOIN entities e WHERE e.ref = p.ref ORDER BY p.ref"
	h := sha256.New()
	var line []byte
	err := db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error {
		var ref, etag sql.RawBytes
		err := rows.Scan(&ref, &etag)
		line = append(append(append(append(line[:0], ref...), ' '), etag...), '\n')
		h.Write(line)
		return err
	})
	return h.Sum(nil), err
}

// cacheKey returns the cache key of the digest.
func (q *pageQuery) cacheKey() cache.Key {
	b := fmt.Appendf(nil, "digest %v %v %v %d %d ", q.columns, q.desc, q.Backward, q.Offset, q.Limit)
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

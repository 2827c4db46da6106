package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"

	"example.dev/ingestor/internal/db"
)

// Listing is everything that a query selects, in one snapshot.
type Listing struct {
	// Digest is a hash of the entities. It changes when one of them is changed, added or
	// removed.
	Digest []byte
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
	r, err := s.understand(ctx, q)
	if err != nil {
		return db.Fail(listing, err)
	}
	l := &Listing{Digest: sha256.New().Sum(nil), each: func(func(*Entity) error) error { return nil }}
	if r.nothing() {
		return do(l)
	}
	sel, err := s.collect(ctx, r)
	if err != nil {
		return db.Fail(listing, err)
	}
	sel.limit = r.limit
	var done error
	err = s.LongSnapshot(ctx, func(ask db.Asker) error {
		if l.Digest, err = s.digestAt(ctx, ask, r, sel); err != nil {
			return err
		}
		if q.Limit >= 0 {
			if l.Last, err = r.end(ctx, ask, sel); err != nil {
				return err
			}
		}
		l.each = func(yield func(*Entity) error) error { return s.eachOf(ctx, ask, sel, yield) }
		done = do(l)
		return nil
	})
	if done != nil {
		return done
	}
	return db.Fail(listing, err)
}

// nothing reports whether the result is certainly empty.
func (r *request) nothing() bool { return r.c.op == OpFalse || r.limit == 0 }

// end returns the position at which a selection ends, or nil if there is nothing after
// it.
func (r *request) end(ctx context.Context, ask db.Asker, sel *selection) (*Position, error) {
	last := *sel
	last.offset, last.limit = sel.offset+sel.limit-1, 2
	var f found
	if err := f.heads(ctx, ask, &last); err != nil || len(f.items) < last.limit {
		return nil, err
	}
	one := *r
	one.limit = 1
	var page Page
	f.page(&one, &page)
	return page.Last, nil
}

// Each calls yield for each entity that q selects, as Listing.Each does.
func (s *Store) Each(ctx context.Context, q Query, yield func(*Entity) error) error {
	return s.List(ctx, q, func(l *Listing) error { return l.Each(yield) })
}

// eachOf calls yield for each entity of a selection.
func (s *Store) eachOf(ctx context.Context, ask db.Asker, sel *selection, yield func(*Entity) error) error {
	refs, err := sel.refs(ctx, ask)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(refs, batch) {
		found := make(map[string]*Entity, batch)
		if err := s.many(ctx, ask, some, func(e *Entity) { found[e.Ref] = e }); err != nil {
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

// refs returns the references of a selection, in order.
func (s *selection) refs(ctx context.Context, ask db.Asker) ([]string, error) {
	b := statement{whole: true, find: s.find}
	s.append(&b, false)
	var refs []string
	dest := make([]any, 1+len(s.cols))
	for i := range dest {
		dest[i] = new(any)
	}
	err := b.Each(ctx, ask, func(rows *db.Rows) error {
		var ref string
		dest[0] = &ref
		err := rows.Scan(dest...)
		refs = append(refs, ref)
		return err
	})
	if s.reverse {
		slices.Reverse(refs)
	}
	return refs, err
}

// Digest returns the digest of the Listing of q, without waiting for other readers of
// lists.
func (s *Store) Digest(ctx context.Context, q Query) ([]byte, error) {
	r, err := s.understand(ctx, q)
	if err != nil {
		return nil, db.Fail(listing, err)
	}
	if r.nothing() {
		return sha256.New().Sum(nil), nil
	}
	sel, err := s.collect(ctx, r)
	if err != nil {
		return nil, db.Fail(listing, err)
	}
	sel.limit = r.limit
	sum, err := s.digestAt(ctx, s.DB.Query, r, sel)
	return sum, db.Fail(listing, err)
}

// digestAt returns the digest, which it caches for the revision.
func (s *Store) digestAt(ctx context.Context, ask db.Asker, r *request, sel *selection) ([]byte, error) {
	revision, err := revisionOf(ctx, ask)
	if err != nil {
		return nil, err
	}
	question := r.question()
	if sum, ok := s.cached.get(revision, question); ok {
		return slices.Clone(sum.([]byte)), nil
	}
	sum, err := sel.digest(ctx, ask)
	if err != nil {
		return nil, err
	}
	s.cached.put(revision, question, sum, 1)
	return slices.Clone(sum), nil
}

func (s *selection) digest(ctx context.Context, ask db.Asker) ([]byte, error) {
	b := statement{whole: true, find: s.find}
	b.Add("SELECT p.ref, e.etag FROM (")
	s.append(&b, false)
	b.Add(") p CROSS JOIN entities e WHERE e.ref = p.ref ORDER BY p.ref")
	h := sha256.New()
	var line []byte
	err := b.Each(ctx, ask, func(rows *db.Rows) error {
		var ref, etag sql.RawBytes
		err := rows.Scan(&ref, &etag)
		line = append(append(append(append(line[:0], ref...), ' '), etag...), '\n')
		h.Write(line)
		return err
	})
	return h.Sum(nil), err
}

// question returns the same question for the same request.
func (r *request) question() question {
	b := fmt.Appendf(nil, "digest %v %v %v %d %d ", r.cols, r.desc, r.reverse, r.offset, r.limit)
	if r.position != nil {
		b = fmt.Appendf(b, "%q ", r.position.Ref)
		for _, v := range r.position.Values {
			if v != nil {
				b = fmt.Appendf(b, "%q", *v)
			}
			b = append(b, ' ')
		}
	}
	return ask(string(b), r.c)
}

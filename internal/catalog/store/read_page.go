package store

import (
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// Query returns a page of what q selects.
func (s *Store) Query(ctx context.Context, q Query) (Page, error) {
	const doing = "query entities"
	page := Page{Total: -1}
	r, err := s.resolveQuery(ctx, q)
	if err != nil {
		return page, db.Fail(doing, err)
	}
	end, err := s.turn(ctx)
	if err != nil {
		return page, db.Fail(doing, err)
	}
	defer end()
	if r.Limit == 0 {
		if q.Total {
			page.Total, err = s.count(ctx, r.where)
		}
		return page, db.Fail(doing, err)
	}
	err = s.consistently(ctx, func(ask db.Asker, snapshot bool) error {
		page, err = s.readPage(ctx, ask, r, snapshot)
		return err
	})
	if !q.Total {
		page.Total = -1
	}
	return page, db.Fail(doing, err)
}

// readPage reads the page of q with its total. Without a snapshot it returns errChanged if
// the catalog changed meanwhile.
func (s *Store) readPage(ctx context.Context, ask db.Asker, q *pageQuery, snapshot bool) (Page, error) {
	sel, err := s.selectFor(ctx, ask, q.where, snapshot)
	if err != nil {
		return Page{}, err
	}
	key := q.cacheKey("page")
	cached, known := s.cache.Get(sel.revision, key)
	items, _ := cached.([]item)
	if !known {
		// One entity more shows whether there are more.
		more := *q
		more.current = !snapshot
		more.Limit++
		if items, err = s.collect(ctx, ask, &more, sel); err != nil {
			return Page{}, err
		}
	}
	page := q.page(items)
	page.Total = sel.count()
	same, err := s.fill(ctx, ask, page.Items)
	if err != nil {
		return Page{}, err
	}
	if !snapshot && !same {
		return Page{}, errChanged
	}
	if known {
		// Its entities are those of the revision, and the bodies have their etags.
		return page, nil
	}
	if !snapshot {
		now, err := changelog.Revision(ctx, ask)
		if err != nil {
			return Page{}, err
		}
		if now != sel.revision {
			return Page{}, errChanged
		}
	}
	if q.isOftenRead() {
		s.cache.Put(sel.revision, key, items, 1+itemWeight*len(items))
	}
	return page, nil
}

// itemWeight is the weight of an item in the cache, and mostCachedItems how many a cached page
// has at most.
const itemWeight, mostCachedItems = 4, 200

// isOftenRead reports whether a page is likely to be read again before the catalog changes:
// it is short, and one of the first of a query.
func (q *pageQuery) isOftenRead() bool { return q.Position == nil && q.Limit <= mostCachedItems }

// selectFor returns the entities that pass a condition, in a snapshot or now.
func (s *Store) selectFor(ctx context.Context, ask db.Asker, c cond, snapshot bool) (selection, error) {
	if snapshot {
		return s.selectIn(ctx, ask, c)
	}
	return s.selectNow(ctx, c)
}

// collect reads the items of q, without bodies.
func (s *Store) collect(ctx context.Context, ask db.Asker, q *pageQuery, sel selection) ([]item, error) {
	var items []item
	err := s.walk(ctx, s.reader(ask), q, sel, func(some []item) (bool, error) {
		items = append(items, some[:min(len(some), q.Limit-len(items))]...)
		return len(items) < q.Limit, nil
	})
	return items, err
}

// page returns the page of items, which may be one more than its limit, and does not change
// them.
func (q *pageQuery) page(items []item) Page {
	var page Page
	if page.More = len(items) > q.Limit; page.More {
		items = items[:q.Limit]
	}
	if q.Backward {
		items = slices.Clone(items)
		slices.Reverse(items)
	}
	if len(items) == 0 {
		return page
	}
	page.Items = make([]Entity, len(items))
	for i := range items {
		page.Items[i] = items[i].Entity
	}
	page.First, page.Last = items[0].position(), items[len(items)-1].position()
	return page
}

func (it *item) position() *Position { return &Position{Values: it.values, Ref: it.Ref} }

// compareValues compares the sort values of two entities.
func compareValues(order []Order, a, b []*string) int {
	for i, o := range order {
		switch {
		case a[i] == nil && b[i] == nil:
			continue
		case a[i] == nil:
			return 1
		case b[i] == nil:
			return -1
		}
		if c := strings.Compare(*a[i], *b[i]); c != 0 {
			return signed(c, o.Desc)
		}
	}
	return 0
}

// signed returns c, or -c if desc is set.
func signed(c int, desc bool) int {
	if desc {
		return -c
	}
	return c
}

package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
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
	found := found{revision: -1}
	if !r.isEmpty() {
		if err = s.readPage(ctx, r, &found); err != nil {
			return page, db.Fail(doing, err)
		}
		found.fillPage(r, &page)
	}
	switch {
	case !q.Total:
	case found.revision >= 0:
		page.Total, err = s.countAt(ctx, r.where, found.revision)
	default:
		page.Total, err = s.count(ctx, r.where)
	}
	return page, db.Fail(doing, err)
}

// isEmpty reports whether the page is certainly empty.
func (q *pageQuery) isEmpty() bool { return q.where.op == filter.OpFalse || q.Limit == 0 }

// readPage reads the page of q, and one entity more if there are more.
func (s *Store) readPage(ctx context.Context, q *pageQuery, f *found) error {
	more := *q
	more.Limit++
	p, err := s.planPage(ctx, &more)
	if err != nil {
		return err
	}
	if err := s.readEntities(ctx, p, f); err != nil || !p.mayMiss(len(f.items)) {
		return err
	}
	if p, err = s.planSort(ctx, &more); err != nil {
		return err
	}
	return s.readEntities(ctx, p, f)
}

// found is the result of a plan.
type found struct {
	revision int64
	items    []Entity
	// values are the sort values of each item, as in a Position.
	values [][]*string
}

// readEntities reads the entities of a plan.
func (s *Store) readEntities(ctx context.Context, p *pagePlan, f *found) error {
	if err := s.readRows(ctx, s.DB.Query, p, f); err != nil {
		return err
	}
	if same, err := s.fill(ctx, s.DB.Query, f.items); err != nil || same {
		return err
	}
	// Another writer committed in between: read again in a snapshot.
	return s.Snapshot(ctx, func(ask db.Asker) error {
		if err := s.readRows(ctx, ask, p, f); err != nil {
			return err
		}
		_, err := s.fill(ctx, ask, f.items)
		return err
	})
}

// readRows reads the entities of a plan, without their bodies.
func (s *Store) readRows(ctx context.Context, ask db.Asker, p *pagePlan, f *found) error {
	*f = found{revision: -1, items: make([]Entity, 0, min(p.Limit, batch*2))}
	var e Entity
	row := make([]sql.NullString, len(p.columns))
	dest := []any{&e.Ref}
	for i := range row {
		dest = append(dest, &row[i])
	}
	dest = append(dest, &e.UID, &e.ETag, &e.Provider, &e.Parent, &f.revision)
	w := s.newSQL(false)
	text := w.writeEntities(p)
	return db.Each(ctx, ask, text, w.args, func(rows *db.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		values := make([]*string, len(p.Order))
		for i, v := range row {
			if v.Valid {
				values[p.columns[i].index] = &v.String
			}
		}
		f.items, f.values = append(f.items, e), append(f.values, values)
		return nil
	})
}

// fillPage fills the page with what was found, in order.
func (f *found) fillPage(q *pageQuery, page *Page) {
	order := make([]int, len(f.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		c := compareValues(q.Order, f.values[i], f.values[j])
		if c == 0 {
			c = signed(strings.Compare(f.items[i].Ref, f.items[j].Ref), q.desc)
		}
		return signed(c, q.Backward)
	})
	if page.More = len(order) > q.Limit; page.More {
		order = order[:q.Limit]
	}
	if q.Backward {
		slices.Reverse(order)
	}
	if len(order) == 0 {
		return
	}
	page.Items = make([]Entity, len(order))
	for i, at := range order {
		page.Items[i] = f.items[at]
	}
	first, last := order[0], order[len(order)-1]
	page.First = &Position{Values: f.values[first], Ref: f.items[first].Ref}
	page.Last = &Position{Values: f.values[last], Ref: f.items[last].Ref}
}

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

package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.dev/ingestor/internal/db"
)

const (
	// everything is a limit that is never reached.
	everything = math.MaxInt32
	// maxOrder is how many fields a query may be sorted by.
	maxOrder = 16
)

// request is a Query whose keys are resolved.
type request struct {
	c cond
	// cols are the fields to sort by that some entity has, and at are their indices among
	// the width fields of the query.
	cols  []column
	at    []int
	width int
	// desc is the direction of references: that of the last field, because an index has
	// that order too.
	desc bool
	// position is where to begin: after it or, if reverse is set, before it. It has the
	// values of cols.
	position      *Position
	reverse       bool
	offset, limit int
}

// understand resolves the keys of q.
func (s *Store) understand(ctx context.Context, q Query) (*request, error) {
	if len(q.Order) > maxOrder {
		return nil, fmt.Errorf("%w: it may be sorted by %d fields", ErrTooComplex, maxOrder)
	}
	c, err := s.where(ctx, q.Filter, q.Text)
	if err != nil {
		return nil, err
	}
	r := &request{c: c, offset: max(0, q.Offset), limit: q.Limit, width: len(q.Order)}
	if r.limit < 0 || r.limit >= everything {
		r.limit = everything - 1
	}
	keys := make([]string, len(q.Order))
	for i, o := range q.Order {
		keys[i] = lowerKey(o.Field)
		r.desc = o.Desc
	}
	known, err := s.numbersOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if kid, ok := known[key]; ok {
			r.cols = append(r.cols, column{kid: kid, desc: q.Order[i].Desc, sure: sureKeys[key]})
			r.at = append(r.at, i)
		}
	}
	r.begin(q.After, false)
	r.begin(q.Before, true)
	return r, nil
}

// begin makes p, unless it is nil, the position to begin at.
func (r *request) begin(p *Position, reverse bool) {
	if p == nil {
		return
	}
	r.reverse = reverse
	r.position = &Position{Values: make([]*string, len(r.cols)), Ref: db.Storable(p.Ref)}
	for i, at := range r.at {
		if at < len(p.Values) && p.Values[at] != nil {
			v := db.Storable(*p.Values[at])
			r.position.Values[i] = &v
		}
	}
}

// place returns the position of an entity in the order of the query.
func (r *request) place(values []*string, ref string) *Position {
	p := &Position{Values: make([]*string, r.width), Ref: ref}
	for i, v := range values {
		p.Values[r.at[i]] = v
	}
	return p
}

// Query returns a page of what q selects.
func (s *Store) Query(ctx context.Context, q Query) (Page, error) {
	const doing = "query entities"
	page := Page{Total: -1}
	r, err := s.understand(ctx, q)
	if err != nil {
		return page, db.Fail(doing, err)
	}
	found := found{revision: -1}
	if r.limit > 0 && r.c.op != OpFalse {
		if err = s.find(ctx, r, &found); err != nil {
			return page, db.Fail(doing, err)
		}
		found.page(r, &page)
	}
	switch {
	case !q.Total:
	case found.revision >= 0:
		page.Total, err = s.countAt(ctx, r.c, found.revision)
	default:
		page.Total, err = s.count(ctx, r.c)
	}
	return page, db.Fail(doing, err)
}

// find finds what r asks for, and one entity more if there are more.
func (s *Store) find(ctx context.Context, r *request, f *found) error {
	sel, err := s.choose(ctx, r)
	if err != nil {
		return err
	}
	if err := f.all(ctx, s, sel); err != nil || !sel.misses(len(f.items)) {
		return err
	}
	if sel, err = s.collect(ctx, r); err != nil {
		return err
	}
	return f.all(ctx, s, sel)
}

// entities returns a statement for the entities of a selection, without their bodies.
// Their order is likely, but not certain, to be that of the selection. CROSS JOIN keeps
// SQLite from reading another table before the selection.
func (s *selection) entities() *statement {
	b := &statement{find: s.find}
	if s.direct() {
		b.Add("SELECT p.ref, p.uid, p.etag, p.provider, p.parent, (SELECT n FROM revision) FROM (")
		s.append(b, true)
		b.Add(") p")
		return b
	}
	b.Add("SELECT p.ref, e.uid, e.etag, e.provider, e.parent, (SELECT n FROM revision)")
	for i := range s.cols {
		b.Add(", p." + name(i))
	}
	b.Add(" FROM (")
	s.append(b, false)
	b.Add(") p CROSS JOIN entities e WHERE e.ref = p.ref")
	return b
}

// found is the result of a selection.
type found struct {
	revision int64
	items    []Entity
	// values are the sort values of each item.
	values [][]*string
}

// all reads everything that is selected.
func (f *found) all(ctx context.Context, s *Store, sel *selection) error {
	if err := f.heads(ctx, s.DB.Query, sel); err != nil {
		return err
	}
	if same, err := s.fill(ctx, s.DB.Query, f.items); err != nil || same {
		return err
	}
	// Another writer committed in between: read again in a snapshot.
	return s.Snapshot(ctx, func(ask db.Asker) error {
		if err := f.heads(ctx, ask, sel); err != nil {
			return err
		}
		_, err := s.fill(ctx, ask, f.items)
		return err
	})
}

// heads reads everything that is selected, without bodies.
func (f *found) heads(ctx context.Context, ask db.Asker, sel *selection) error {
	*f = found{revision: -1, items: make([]Entity, 0, min(sel.limit, batch*2))}
	var e Entity
	values := make([]sql.NullString, len(sel.cols))
	dest := []any{&e.Ref, &e.UID, &e.ETag, &e.Provider, &e.Parent, &f.revision}
	for i := range values {
		dest = append(dest, &values[i])
	}
	return sel.entities().Each(ctx, ask, func(rows *db.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		f.items = append(f.items, e)
		f.values = append(f.values, sel.values(values))
		return nil
	})
}

// values returns the sort values of a row.
func (s *selection) values(row []sql.NullString) []*string {
	if s.lead+len(row) == 0 {
		return nil
	}
	values := make([]*string, s.lead+len(row))
	for i, v := range row {
		if v.Valid {
			values[s.lead+i] = &v.String
		}
	}
	return values
}

// page fills the page with what was found, in order.
func (f *found) page(r *request, page *Page) {
	order := make([]int, len(f.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		c := compare(r.cols, f.values[i], f.values[j])
		if c == 0 {
			c = turn(strings.Compare(f.items[i].Ref, f.items[j].Ref), r.desc)
		}
		return turn(c, r.reverse)
	})
	if page.More = len(order) > r.limit; page.More {
		order = order[:r.limit]
	}
	if r.reverse {
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
	page.First = r.place(f.values[first], f.items[first].Ref)
	page.Last = r.place(f.values[last], f.items[last].Ref)
}

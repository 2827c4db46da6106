package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/spool"
)

// The limits of what is planned and written at once: meanwhile, a document takes many
// times its size in memory.
const (
	partDocuments = 1000
	partBytes     = 8 << 20
)

// mostDocuments is partDocuments, unless a test sets another limit. Several times as many
// references are looked for at a time, and relations written.
func (s *Writer) mostDocuments() int { return cmp.Or(s.partDocuments, partDocuments) }

const (
	searchedPerDocument = 4
	edgesPerDocument    = 8
)

// part is a subset of the documents of a change.
type part struct {
	candidates []candidate
	err        error
}

// inRefOrder returns documents in the order of their references, so that neighbors in an
// index are written together.
func inRefOrder(put []Document) (Sorted, error) {
	order, refs := make([]int, len(put)), make([]string, len(put))
	for i := range put {
		order[i], refs[i] = i, put[i].Ref
		if refs[i] != "" {
			continue
		}
		n, err := put[i].node()
		if err != nil {
			return nil, err
		}
		refs[i] = entity.RefOf(n).String()
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(refs[a], refs[b]) })
	return func(yield func(Document, error) bool) {
		for _, i := range order {
			d := put[i]
			d.Ref, d.Index = refs[i], i
			if !yield(d, nil) {
				return
			}
		}
	}, nil
}

// isLarge reports whether a change makes more than one part.
func (s *Writer) isLarge(ctx context.Context, c *Change) (bool, error) {
	size := 0
	for i := range c.Put {
		size += c.Put[i].size()
	}
	if c.Sorted != nil || len(c.Put) > s.mostDocuments() || len(c.Put) > 1 && size > partBytes {
		return true, nil
	}
	if !c.Full {
		return len(c.Remove) > s.mostDocuments(), nil
	}
	// A small change may remove many entities.
	n, most := 0, searchedPerDocument*s.mostDocuments()
	query := fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM entities WHERE provider = %s LIMIT %d) entities_of_provider", s.db.Placeholder(1), most)
	err := db.Each(ctx, s.db.Query, query, []any{c.Provider}, func(rows *db.Rows) error { return rows.Scan(&n) })
	return n == most, err
}

// size returns about how many bytes the document has, or 0 if that is unknown.
func (d Document) size() int { return len(d.JSON) + d.Spooled.Size() }

// syncLarge is Sync for a change that is too large to be planned as a whole. It is planned
// part by part, in the order of references, before it is written in the same parts: then
// all of its relations are known, and each entity is written once.
func (s *Writer) syncLarge(ctx context.Context, c Change) (res Result, err error) {
	if c.Sorted == nil {
		if c.Sorted, err = inRefOrder(c.Put); err != nil {
			return Result{}, err
		}
	}
	before, err := changelog.Revision(ctx, s.db.Query)
	if err != nil {
		return Result{}, err
	}
	f := newFew(s, &c, before)
	p, err := s.planLarge(ctx, s.db.Query, &c, f)
	defer func() { err = errors.Join(err, p.edges.Close()) }()
	if err != nil {
		return Result{}, err
	}
	if res, settled, err := s.isSettled(ctx, p, f); settled || err != nil {
		return res, err
	}
	err = s.change(ctx, func(w *transaction) error {
		d, err := f.consider(ctx, w.Ask, &p.result)
		if err != nil {
			return err
		}
		if d != nil && f.revision == w.N-1 {
			p.result = d.results[0]
			return w.writeFew(ctx, &c, d)
		}
		if w.N != before+1 {
			// The catalog has changed since.
			if err := p.edges.Close(); err != nil {
				return err
			}
			if p, err = s.planLarge(ctx, w.Ask, &c, nil); err != nil {
				return err
			}
		}
		if p.isEmpty() {
			return errNothing
		}
		return w.writeLarge(ctx, &c, p)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return Result{}, err
	}
	return p.result, nil
}

// isSettled reports whether there is nothing to write, although others may have changed the
// catalog meanwhile, and returns the result.
func (s *Writer) isSettled(ctx context.Context, p *largePlan, f *few) (Result, bool, error) {
	for range mostLooks {
		d, err := f.consider(ctx, s.db.Query, &p.result)
		if err != nil || d == nil || !d.empty() {
			return Result{}, false, err
		}
		now, err := changelog.Revision(ctx, s.db.Query)
		if err != nil || now == f.revision {
			return d.results[0], err == nil, err
		}
	}
	return Result{}, false, nil
}

// writeFew writes what differs, as a change that is planned as a whole.
func (w *transaction) writeFew(ctx context.Context, c *Change, d *changeSet) error {
	if d.empty() {
		return errNothing
	}
	l, err := w.s.relate(ctx, w.Ask, d)
	if err != nil {
		return err
	}
	drafting, stop := context.WithCancel(ctx)
	defer stop()
	w.trace = traceOf([]Change{*c}, d, l)
	return w.apply(ctx, d, l, w.s.drafts(drafting, d, l))
}

// syncLarge plans and writes a change without documents.
func (w *transaction) syncLarge(ctx context.Context, c *Change) (err error) {
	p, err := w.s.planLarge(ctx, w.Ask, c, nil)
	defer func() { err = errors.Join(err, p.edges.Close()) }()
	if err != nil || p.isEmpty() {
		return err
	}
	return w.writeLarge(ctx, c, p)
}

// largePlan is the plan of a large change: its result, and the relations that it changes.
type largePlan struct {
	result Result
	edges  *spool.Sorter[loggedEdge]
}

func (p *largePlan) isEmpty() bool { return p.result.Added+p.result.Updated+p.result.Removed == 0 }

// planLarge plans a change. The plan must be closed, even after an error. f, if not nil,
// gets what differs, and what others change meanwhile.
func (s *Writer) planLarge(ctx context.Context, ask db.Asker, c *Change, f *few) (*largePlan, error) {
	p := &largePlan{edges: newEdgeLog(s.mostLogged)}
	err := s.eachPart(ctx, ask, c, func(d *changeSet, _ string) error {
		r := &d.results[0]
		p.result.add(r)
		if f != nil {
			f.add(r.Refs.Added, r.Refs.Updated, r.Refs.Removed)
			if err := f.follow(ctx, ask); err != nil {
				return err
			}
		}
		if d.empty() {
			return nil
		}
		insert, remove, err := s.changedEdges(ctx, ask, d)
		if err != nil {
			return err
		}
		for i, edges := range [][]edge{insert, remove} {
			for _, e := range edges {
				if err := p.edges.Put(loggedEdge{e, i == 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	p.result = p.result.inOrder()
	return p, err
}

// writeLarge writes a change as planned.
func (w *transaction) writeLarge(ctx context.Context, c *Change, p *largePlan) (err error) {
	edges, err := p.edges.Merge()
	if err != nil {
		return err
	}
	w.log = newPostingLog(w.s.mostLogged)
	defer func() { err = errors.Join(err, w.log.sorter.Close()) }()
	added := 0
	err = w.s.eachPart(ctx, w.Ask, c, func(d *changeSet, last string) error {
		added += d.added
		return w.applyPart(ctx, d, edges, last)
	})
	if err != nil {
		return err
	}
	if err := w.log.write(ctx, w); err != nil {
		return err
	}
	return w.analyze(ctx, added)
}

// applyPart writes a change set, and all relations of the plan whose source is not after
// last.
func (w *transaction) applyPart(ctx context.Context, d *changeSet, edges *spool.Merger[loggedEdge], last string) error {
	own := d.refs()
	for {
		insert, remove, more, err := takeEdges(edges, last, edgesPerDocument*w.s.mostDocuments())
		if err != nil {
			return err
		}
		of := d
		if more {
			// These are too many to be written with the entities. Those of the change set get
			// their links when they are written.
			of = &changeSet{}
		}
		l, err := w.s.linkageOf(ctx, w.Ask, of, insert, remove)
		if err != nil {
			return err
		}
		if more {
			maps.DeleteFunc(l.after, func(ref string, _ []body.Link) bool { return own[ref] })
		}
		drafting, stop := context.WithCancel(ctx)
		err = w.apply(ctx, of, l, w.s.drafts(drafting, of, l))
		stop()
		if err != nil || !more {
			return err
		}
	}
}

// takeEdges takes relations from a log, all of each source, in order, up to a source, or
// until there are most.
func takeEdges(edges *spool.Merger[loggedEdge], last string, most int) (insert, remove []edge, more bool, err error) {
	for from := ""; ; {
		next, ok := edges.Peek()
		if !ok || next.source > last {
			return insert, remove, false, nil
		}
		if len(insert)+len(remove) >= most && next.source != from {
			return insert, remove, true, nil
		}
		from = next.source
		if next.removed {
			remove = append(remove, next.edge)
		} else {
			insert = append(insert, next.edge)
		}
		if err := edges.Skip(); err != nil {
			return nil, nil, false, err
		}
	}
}

// eachPart compares a change with the store part by part, in the order of references, and
// calls do with what differs and the last reference of the part.
func (s *Writer) eachPart(ctx context.Context, ask db.Asker, c *Change, do func(d *changeSet, last string) error) error {
	leave := newLeaver(s, ask, c)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	// last is the last reference so far, and ours reports that the provider has it.
	last, ours := "", false
	for p := range s.readParts(reading, c) {
		if p.err != nil {
			return p.err
		}
		// Documents with the same reference may be in two parts.
		var again []Refusal
		for ; ours && len(p.candidates) > 0 && p.candidates[0].ref == last; p.candidates = p.candidates[1:] {
			again = append(again, Refusal{Index: p.candidates[0].index, Ref: last, Owner: c.Provider})
		}
		if n := len(p.candidates); n > 0 {
			last = p.candidates[n-1].ref
		}
		err := s.comparePart(ctx, leave, p.candidates, last, func(d *changeSet, end string) error {
			if r := &d.results[0]; end == last {
				ours = !slices.ContainsFunc(r.Refused, func(o Refusal) bool { return o.Ref == last && o.Owner != c.Provider })
				r.Refused = append(r.Refused, again...)
			}
			return do(d, end)
		})
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.comparePart(ctx, leave, nil, db.MaxText, do)
}

// comparePart compares documents, and what is removed up to a reference: if that is too
// much at once, a part of it first.
func (s *Writer) comparePart(ctx context.Context, leave *leaver, candidates []candidate, last string, do func(*changeSet, string) error) error {
	put := make(map[string]bool, len(candidates))
	for i := range candidates {
		put[candidates[i].ref] = true
	}
	for {
		gone, end, err := leave.next(ctx, last, put)
		if err != nil {
			return err
		}
		var some []candidate
		if end == last {
			some = candidates
		}
		d, err := s.compare(ctx, leave.ask, []Change{{Provider: leave.c.Provider, Remove: gone}}, some)
		if err != nil {
			return err
		}
		if err := do(d, end); err != nil || end == last {
			return err
		}
	}
}

// leaver finds the references that a change removes unless it puts them, in order.
type leaver struct {
	s    *Writer
	ask  db.Asker
	c    *Change
	keep map[string]bool
	// named are those that the change names, and after is the last one that was returned.
	named []string
	after string
}

func newLeaver(s *Writer, ask db.Asker, c *Change) *leaver {
	l := &leaver{s: s, ask: ask, c: c, keep: refKeys(c.Keep)}
	if !c.Full {
		for _, ref := range c.Remove {
			l.named = append(l.named, refKey(ref))
		}
		slices.Sort(l.named)
	}
	return l
}

// next returns the next references that are not after last and not put, and where they end:
// before last if there are more.
func (l *leaver) next(ctx context.Context, last string, put map[string]bool) (refs []string, end string, err error) {
	n, most := 0, searchedPerDocument*l.s.mostDocuments()
	found := func(ref string) {
		n++
		if l.after = ref; !l.keep[ref] && !put[ref] {
			refs = append(refs, ref)
		}
	}
	if l.c.Full {
		at := l.s.db.Placeholder
		query := fmt.Sprintf("SELECT ref FROM entities WHERE provider = %s AND ref > %s AND ref <= %s ORDER BY ref LIMIT %d", at(1), at(2), at(3), most)
		err = db.Each(ctx, l.ask, query, []any{l.c.Provider, l.after, last}, func(rows *db.Rows) error {
			var ref string
			err := rows.Scan(&ref)
			found(ref)
			return err
		})
	}
	for len(l.named) > 0 && n < most && l.named[0] <= last {
		found(l.named[0])
		l.named = l.named[1:]
	}
	if n < most {
		l.after = last
	}
	return refs, l.after, err
}

// readParts reads the documents of a change part by part, one part ahead, until ctx
// ends.
func (s *Writer) readParts(ctx context.Context, c *Change) <-chan part {
	out := make(chan part)
	go func() {
		defer close(out)
		var put []Document
		size := 0
		send := func(err error) bool {
			p := part{err: err}
			if err == nil {
				p.candidates, p.err = candidatesOf([]Change{{Provider: c.Provider, Put: put}})
				for i := range p.candidates {
					p.candidates[i].index = put[p.candidates[i].index].Index
				}
			}
			put, size = nil, 0
			select {
			case out <- p:
				return p.err == nil
			case <-ctx.Done():
				return false
			}
		}
		if c.Sorted == nil {
			return
		}
		for d, err := range c.Sorted {
			if err != nil {
				send(err)
				return
			}
			put, size = append(put, d), size+d.size()
			if len(put) < s.mostDocuments() && size < partBytes {
				continue
			}
			if !send(nil) {
				return
			}
		}
		if len(put) > 0 {
			send(nil)
		}
	}()
	return out
}

// add adds the result of a part.
func (r *Result) add(part *Result) {
	r.Added, r.Updated = r.Added+part.Added, r.Updated+part.Updated
	r.Removed, r.Unchanged = r.Removed+part.Removed, r.Unchanged+part.Unchanged
	r.Refused = append(r.Refused, part.Refused...)
}

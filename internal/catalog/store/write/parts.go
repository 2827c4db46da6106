package write

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// The limits of what is planned and written at once: meanwhile, a document takes many
// times its size in memory.
const (
	partDocuments = 1000
	partBytes     = 8 << 20
)

// part is a subset of the documents of a change.
type part struct {
	candidates []candidate
	err        error
}

// parts divides documents, given by their indices, into small parts.
func (s *Writer) parts(put []Document, order []int) iter.Seq[[]int] {
	most := partDocuments
	if s.partDocuments > 0 {
		most = s.partDocuments
	}
	return func(yield func([]int) bool) {
		for start := 0; start < len(order); {
			end, size := start, 0
			for end < len(order) && end-start < most && size < partBytes {
				size += put[order[end]].size()
				end++
			}
			if !yield(order[start:end]) {
				return
			}
			start = end
		}
	}
}

// inRefOrder returns the indices of documents in the order of their references, so that
// neighbors in an index are written together.
func inRefOrder(put []Document) ([]int, error) {
	order, refs := indices(put), make([]string, len(put))
	for i := range put {
		refs[i] = put[i].Ref
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
	return order, nil
}

func indices(put []Document) []int {
	order := make([]int, len(put))
	for i := range order {
		order[i] = i
	}
	return order
}

// isLarge reports whether documents make more than one part.
func (s *Writer) isLarge(put []Document) bool {
	for some := range s.parts(put, indices(put)) {
		return len(some) < len(put)
	}
	return false
}

// size returns about how many bytes the document has, or 0 if that is unknown.
func (d Document) size() int { return len(d.JSON) + d.Spooled.Size() }

// syncLarge is Sync for a change that is too large to be planned as a whole: it is
// planned and written part by part, in one transaction.
func (s *Writer) syncLarge(ctx context.Context, c Change) (Result, error) {
	c.Provider = db.Storable(c.Provider)
	order, err := inRefOrder(c.Put)
	if err != nil {
		return Result{}, err
	}
	res, same, err := s.isSame(ctx, c, order)
	if err != nil || same {
		return res, err
	}
	err = s.change(ctx, func(w *transaction) error {
		added, others := 0, map[string]bool{}
		res, err = w.s.inParts(ctx, w.Ask, c, order, others, func(d *changeSet, l *linkage) (bool, error) {
			added += d.added
			drafting, stop := context.WithCancel(ctx)
			defer stop()
			return true, w.apply(ctx, d, l, s.drafts(drafting, d, l))
		})
		if err != nil {
			return err
		}
		if res.Added+res.Updated+res.Removed == 0 {
			return errNothing
		}
		if err := w.relinkAll(ctx, others); err != nil {
			return err
		}
		return w.analyze(ctx, added)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return Result{}, err
	}
	return res, nil
}

// isSame reports whether a change makes no difference, and returns its result then.
// Like look, it trusts that only if nothing was written meanwhile.
func (s *Writer) isSame(ctx context.Context, c Change, order []int) (Result, bool, error) {
	before, err := changelog.Revision(ctx, s.db.Query)
	if err != nil {
		return Result{}, false, err
	}
	differs := false
	res, err := s.inParts(ctx, s.db.Query, c, order, map[string]bool{}, func(*changeSet, *linkage) (bool, error) {
		differs = true
		return false, nil
	})
	if err != nil || differs {
		return Result{}, false, err
	}
	now, err := changelog.Revision(ctx, s.db.Query)
	return res, err == nil && now == before, err
}

// inParts plans a change part by part, calls do with each plan that is not empty, until
// do returns false, and returns the total result. It adds entities whose relations change
// to others.
func (s *Writer) inParts(
	ctx context.Context, ask db.Asker, c Change, order []int, others map[string]bool, do func(*changeSet, *linkage) (bool, error),
) (Result, error) {
	var res Result
	put := make(map[string]bool, len(c.Put))
	plan := func(some Change, candidates []candidate) (more bool, err error) {
		d, l, err := s.consider(ctx, ask, []Change{some}, candidates, others)
		if err != nil {
			return false, err
		}
		res.add(&d.results[0])
		if d.empty() {
			return true, nil
		}
		return do(d, l)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for p := range s.readParts(reading, c, order) {
		if p.err != nil {
			return res, p.err
		}
		candidates := slices.DeleteFunc(p.candidates, func(o candidate) bool {
			if put[o.ref] {
				res.Refused = append(res.Refused, Refusal{Index: o.index, Ref: o.ref, Owner: c.Provider})
			}
			return put[o.ref]
		})
		refused := len(res.Refused)
		if more, err := plan(Change{Provider: c.Provider}, candidates); err != nil || !more {
			return res, err
		}
		for i := range candidates {
			put[candidates[i].ref] = true
		}
		for _, r := range res.Refused[refused:] {
			if r.Owner != c.Provider {
				delete(put, r.Ref)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	gone, err := s.leftOut(ctx, ask, c, put)
	if err != nil {
		return res, err
	}
	for some := range slices.Chunk(gone, partDocuments) {
		if more, err := plan(Change{Provider: c.Provider, Remove: some}, nil); err != nil || !more {
			return res, err
		}
	}
	slices.SortFunc(res.Refused, func(a, b Refusal) int { return a.Index - b.Index })
	return res, nil
}

// readParts reads the documents of a change part by part, one part ahead, until ctx
// ends.
func (s *Writer) readParts(ctx context.Context, c Change, order []int) <-chan part {
	out := make(chan part)
	go func() {
		defer close(out)
		for some := range s.parts(c.Put, order) {
			put := make([]Document, len(some))
			for i, at := range some {
				put[i] = c.Put[at]
			}
			candidates, err := candidatesOf([]Change{{Provider: c.Provider, Put: put}})
			for i := range candidates {
				candidates[i].index = some[candidates[i].index]
			}
			select {
			case out <- part{candidates, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// leftOut returns the references that a change removes, given all that it puts.
func (s *Writer) leftOut(ctx context.Context, ask db.Asker, c Change, put map[string]bool) (refs []string, err error) {
	if c.Full {
		err = db.Each(ctx, ask, "SELECT ref FROM entities WHERE provider = "+s.db.Placeholder(1)+" ORDER BY ref", []any{c.Provider}, func(rows *db.Rows) error {
			var ref string
			err := rows.Scan(&ref)
			if !put[ref] {
				refs = append(refs, ref)
			}
			return err
		})
	}
	for _, ref := range c.Remove {
		if ref = refKey(ref); !put[ref] {
			refs = append(refs, ref)
		}
	}
	keep := make(map[string]bool, len(c.Keep))
	for _, ref := range c.Keep {
		keep[refKey(ref)] = true
	}
	slices.Sort(refs)
	return slices.DeleteFunc(slices.Compact(refs), func(ref string) bool { return keep[ref] }), err
}

// add adds the result of a part.
func (r *Result) add(part *Result) {
	r.Added, r.Updated = r.Added+part.Added, r.Updated+part.Updated
	r.Removed, r.Unchanged = r.Removed+part.Removed, r.Unchanged+part.Unchanged
	r.Refused = append(r.Refused, part.Refused...)
	r.Refs.Added = append(r.Refs.Added, part.Refs.Added...)
	r.Refs.Updated = append(r.Refs.Updated, part.Refs.Updated...)
	r.Refs.Removed = append(r.Refs.Removed, part.Refs.Removed...)
}

package write

import (
	"context"
	"slices"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// few is what a large change has to write, as long as it is little: most full syncs change
// next to nothing. Other transactions may change the catalog while it is planned, which
// takes long; only what they change is compared again in the transaction.
type few struct {
	s *Writer
	c *Change
	// revision is the last one whose changes are in refs.
	revision int64
	// refs are the references that differ from the plan's point of view, or that others
	// have changed since it began.
	refs map[string]bool
	// picked are those of refs whose documents have been looked for: candidates and gone.
	picked     map[string]bool
	candidates []candidate
	gone       []string
	// size is that of the candidates in bytes.
	size int
	// lost reports that this is too much, or that the changes of others are unknown.
	lost bool
}

func newFew(s *Writer, c *Change, revision int64) *few {
	return &few{s: s, c: c, revision: revision, refs: map[string]bool{}, picked: map[string]bool{}}
}

// add adds references.
func (f *few) add(some ...[]string) {
	if f.lost {
		return
	}
	for _, refs := range some {
		for _, ref := range refs {
			f.refs[ref] = true
		}
	}
	if len(f.refs) > searchedPerDocument*f.s.mostDocuments() {
		f.lose()
	}
}

func (f *few) lose() {
	f.refs, f.picked, f.candidates, f.gone, f.lost = map[string]bool{}, nil, nil, nil, true
}

// follow adds what others have changed.
func (f *few) follow(ctx context.Context, ask db.Asker) error {
	if f.lost {
		return nil
	}
	refs, revision, err := changelog.Refs(ctx, ask, f.revision)
	if err != nil {
		return err
	}
	if revision < f.revision {
		f.lose()
		return nil
	}
	f.revision = revision
	f.add(refs)
	return nil
}

// pick looks for the documents of references, and for those that the change removes.
func (f *few) pick(ctx context.Context) error {
	if f.lost || len(f.picked) == len(f.refs) {
		return nil
	}
	var put []Document
	found := map[string]bool{}
	for d, err := range f.c.Sorted {
		if err != nil {
			return err
		}
		if !f.refs[d.Ref] || f.picked[d.Ref] {
			continue
		}
		found[d.Ref] = true
		put = append(put, d)
		if f.size += d.size(); f.size > partBytes || len(put)+len(f.candidates) > f.s.mostDocuments() {
			f.lose()
			return nil
		}
	}
	candidates, err := candidatesOf([]Change{{Provider: f.c.Provider, Put: put}})
	if err != nil {
		return err
	}
	for i := range candidates {
		candidates[i].index = put[candidates[i].index].Index
	}
	f.candidates = append(f.candidates, candidates...)
	keep, named := refKeys(f.c.Keep), refKeys(f.c.Remove)
	for ref := range f.refs {
		if !f.picked[ref] && !found[ref] && !keep[ref] && (f.c.Full || named[ref]) {
			f.gone = append(f.gone, ref)
		}
		f.picked[ref] = true
	}
	return ctx.Err()
}

// consider compares what differs once more, and returns nil if it is too much or unknown.
// plan is the result of the plan; the one of the change set is that of the whole change.
func (f *few) consider(ctx context.Context, ask db.Asker, plan *Result) (*changeSet, error) {
	if err := f.follow(ctx, ask); err != nil {
		return nil, err
	}
	if err := f.pick(ctx); err != nil || f.lost {
		return nil, err
	}
	d, err := f.s.compare(ctx, ask, []Change{{Provider: f.c.Provider, Remove: f.gone}}, f.candidates)
	if err != nil {
		return nil, err
	}
	// All that the plan adds, updates and removes is among the references.
	r := Result{Unchanged: plan.Unchanged + plan.Added + plan.Updated - len(f.candidates)}
	for _, o := range plan.Refused {
		if f.refs[o.Ref] {
			r.Unchanged++
		} else {
			r.Refused = append(r.Refused, o)
		}
	}
	r.add(&d.results[0])
	d.results[0] = r.inOrder()
	return d, nil
}

// refKeys returns references as they are stored.
func refKeys(refs []string) map[string]bool {
	keys := make(map[string]bool, len(refs))
	for _, ref := range refs {
		keys[refKey(ref)] = true
	}
	return keys
}

// inOrder returns the result with the refusals in the order of documents.
func (r Result) inOrder() Result {
	slices.SortFunc(r.Refused, func(a, b Refusal) int { return a.Index - b.Index })
	return r
}

package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// errNothing ends a transaction that turns out to have nothing to do.
var errNothing = errors.New("no changes to write")

// Sync applies the change of a provider to the catalog, in one transaction that writes
// only what differs. If nothing differs, no transaction is begun. Documents whose
// reference belongs to another provider are refused and change nothing. A reference
// that is both put and removed is put.
func (s *Writer) Sync(ctx context.Context, c Change) (Result, error) {
	doing := fmt.Sprintf("store the entities of %q", c.Provider)
	c.Provider = db.Storable(c.Provider)
	large, err := s.isLarge(ctx, &c)
	if err != nil {
		return Result{}, db.Fail(doing, err)
	}
	if large {
		res, err := s.syncLarge(ctx, c)
		return res, db.Fail(doing, err)
	}
	results, err := s.syncAll(ctx, []Change{c})
	if err != nil {
		return Result{}, db.Fail(doing, err)
	}
	return results[0], nil
}

// SyncAll is Sync for several providers at once, all in one transaction, with the
// results in their order. A reference that one provider releases may be taken by
// another, and the entity keeps its uid; it counts as removed for the first and as
// added for the second. If two providers put an entity without an owner, the first one
// gets it.
func (s *Writer) SyncAll(ctx context.Context, changes []Change) ([]Result, error) {
	results, err := s.syncAll(ctx, changes)
	return results, db.Fail(fmt.Sprintf("store the entities of %d providers", len(changes)), err)
}

func (s *Writer) syncAll(ctx context.Context, changes []Change) ([]Result, error) {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Provider = db.Storable(changes[i].Provider)
	}
	candidates, err := candidatesOf(changes)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		// The candidates hold the documents, only as long as they are needed.
		changes[i].Put = nil
	}
	before, d, l, err := s.look(ctx, changes, candidates)
	if err != nil || before == settled {
		return d.results, err
	}
	drafting, stop := context.WithCancel(ctx)
	defer stop()
	// Drafts are prepared while this change waits for other writers.
	drafts := s.drafts(drafting, d, l)
	err = s.change(ctx, func(w *transaction) error {
		if d.empty() || w.N != before+1 && !s.traces.conflictFree(before, w.N, readSetOf(changes, candidates, d, l)) {
			// A concurrent write may affect the plan: compute it again.
			now, links, err := s.consider(ctx, w.Ask, changes, candidates)
			if err != nil {
				return err
			}
			if !now.same(d) || !links.same(l) {
				stop()
				d, l = now, links
				redrafting, stop := context.WithCancel(ctx)
				defer stop()
				drafts = s.drafts(redrafting, d, l)
			}
		}
		if d.empty() {
			return errNothing
		}
		w.trace = traceOf(changes, d, l)
		return w.apply(ctx, d, l, drafts)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return nil, err
	}
	return d.results, nil
}

const (
	// settled is the revision that look returns if there is nothing to change.
	settled = -1
	// mostLooks is how often an empty plan is recomputed because of concurrent writes,
	// before it is computed in a transaction.
	mostLooks = 3
)

// look plans changes and returns the revision that the plan is based on, or settled if
// there is nothing to change. Planning takes several reads, which are one snapshot only
// if the revision is the same before and after: an empty plan counts only then.
func (s *Writer) look(ctx context.Context, changes []Change, candidates []candidate) (before int64, d *changeSet, l *linkage, err error) {
	d = &changeSet{}
	for range mostLooks {
		if before, err = changelog.Revision(ctx, s.db.Query); err != nil {
			return before, d, nil, err
		}
		found, links, err := s.consider(ctx, s.db.Query, changes, candidates)
		if err != nil {
			return before, d, nil, err
		}
		if d, l = found, links; !d.empty() {
			return before, d, l, nil
		}
		now, err := changelog.Revision(ctx, s.db.Query)
		if err != nil {
			return before, d, nil, err
		}
		if now == before {
			return settled, d, nil, nil
		}
	}
	return before, d, l, nil
}

// DeleteByUID removes an entity, whichever provider owns it.
func (s *Writer) DeleteByUID(ctx context.Context, uid string) error {
	err := s.change(ctx, func(w *transaction) error {
		var ref string
		if err := w.Tx.QueryRowContext(ctx, "SELECT ref FROM entities WHERE uid = $1", db.Storable(uid)).Scan(&ref); err != nil {
			return err
		}
		return w.remove(ctx, []string{ref})
	})
	return db.Fail(fmt.Sprintf("remove the entity with uid %q", uid), err)
}

// RemoveProvider removes all entities of a provider, after first, in one transaction.
func (s *Writer) RemoveProvider(ctx context.Context, provider string, first func(*db.Tx) error) error {
	return s.change(ctx, func(w *transaction) error {
		if err := first(w.Tx); err != nil {
			return err
		}
		return w.syncLarge(ctx, &Change{Provider: db.Storable(provider), Full: true})
	})
}

// consider computes the change set of changes, and its effect on relations.
func (s *Writer) consider(ctx context.Context, ask db.Asker, changes []Change, candidates []candidate) (*changeSet, *linkage, error) {
	d, err := s.compare(ctx, ask, changes, candidates)
	if err != nil || d.empty() {
		return d, nil, err
	}
	l, err := s.relate(ctx, ask, d)
	return d, l, err
}

// remove removes entities.
func (w *transaction) remove(ctx context.Context, refs []string) error {
	d := &changeSet{removed: refs}
	l, err := w.s.relate(ctx, w.Ask, d)
	if err != nil {
		return err
	}
	none := make(chan *draft)
	close(none)
	return w.apply(ctx, d, l, none)
}

// apply writes a change set, whose drafts are being prepared.
func (w *transaction) apply(ctx context.Context, d *changeSet, l *linkage, drafts <-chan *draft) error {
	if err := w.keepUIDs(ctx, d.removed); err != nil {
		return err
	}
	if err := w.forget(ctx, d.removed); err != nil {
		return err
	}
	w.changed.Add(d.removed...)
	for _, table := range []string{"entities", "documents", "fields"} {
		if err := w.DeleteIn(ctx, table, "ref", d.removed); err != nil {
			return err
		}
	}
	if err := w.link(ctx, l); err != nil {
		return err
	}
	for dr := range drafts {
		c, err := w.complete(ctx, dr, l)
		if err != nil {
			return err
		}
		if err := w.write(ctx, c); err != nil {
			return err
		}
	}
	// Drafts end early if ctx is canceled.
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.analyze(ctx, d.added); err != nil {
		return err
	}
	return w.relink(ctx, d, l)
}

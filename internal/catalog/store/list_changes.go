package store

import (
	"context"
	"maps"
	"slices"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// Delta is what has changed of the entities that pass a filter.
type Delta struct {
	// Revision is the revision of the catalog that the delta leads to.
	Revision int64
	// Removed are the references, sorted, of changed entities that do not exist or do not
	// pass the filter. Some may never have passed it.
	Removed []string

	each func(yield func(*Entity) error) error
}

// Each calls yield for each changed entity that passes the filter, sorted by reference,
// until yield returns an error.
func (d *Delta) Each(yield func(*Entity) error) error { return d.each(yield) }

// ListChanges calls do with what has changed after a revision, and returns its error. It
// reports false, and does not call do, if the change log does not cover that revision.
func (s *Store) ListChanges(ctx context.Context, f filter.Filter, revision int64, do func(*Delta) error) (covered bool, err error) {
	r, err := s.resolveQuery(ctx, Query{Filter: f})
	if err != nil {
		return false, db.Fail(listing, err)
	}
	var done error
	err = s.LongSnapshot(ctx, func(ask db.Asker) error {
		now, err := changelog.Revision(ctx, ask)
		if err != nil || revision > now {
			// A later revision is that of a database that was replaced by an older copy.
			return err
		}
		n, err := changelog.Since(ctx, ask, revision)
		if err != nil || !n.Complete {
			return err
		}
		covered = true
		passing, err := s.passing(ctx, ask, r.where, n.Present)
		if err != nil {
			return err
		}
		d := &Delta{Revision: n.Revision, Removed: slices.Sorted(maps.Keys(n.Gone))}
		for ref := range n.Present {
			if _, ok := slices.BinarySearch(passing, ref); !ok {
				d.Removed = append(d.Removed, ref)
			}
		}
		slices.Sort(d.Removed)
		d.each = func(yield func(*Entity) error) error { return s.eachRef(ctx, ask, passing, yield) }
		done = do(d)
		return nil
	})
	if done != nil {
		return covered, done
	}
	return covered, db.Fail(listing, err)
}

// passing returns the references, sorted, of those entities that pass a condition.
func (s *Store) passing(ctx context.Context, ask db.Asker, c cond, entities map[string]changelog.Entity) ([]string, error) {
	sel, err := s.selectIn(ctx, ask, c)
	if err != nil {
		return nil, err
	}
	var refs []string
	for ref, e := range entities {
		if sel.set.Contains(e.ID) {
			refs = append(refs, ref)
		}
	}
	slices.Sort(refs)
	return refs, nil
}

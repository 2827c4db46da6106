package texts

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

const (
	// stepsKept is how many updates of the values are known, and mostChanged how many
	// entities are read again because they changed after a snapshot.
	stepsKept, mostChanged = 64, 1000
	// longestTurn is how long a reader of a snapshot waits for its turn: the reader that has it
	// may be waiting for the connection of that snapshot.
	longestTurn = 100 * time.Millisecond
)

// step is an update of the values.
type step struct {
	from, to int64
	// changed are the references of the entities that were put or removed.
	changed []string
}

// FindIn is Find for a snapshot of a revision. It seldom searches the database, also while
// the catalog changes all the time.
func (t *Texts) FindIn(ctx context.Context, ask db.Asker, revision int64, kids []int64, text string) (*idset.Set, int64, error) {
	set, at := t.find(revision, kids, text)
	if set == nil && t.fit(kids) {
		if err := t.updateIn(ctx, ask, revision, kids); err != nil {
			return nil, 0, err
		}
		set, at = t.find(revision, kids, text)
	}
	if set == nil {
		return Scan(ctx, ask, kids, text)
	}
	if at == revision {
		return set, at, nil
	}
	// The values are later than the snapshot.
	changed, known := t.changedSince(revision)
	if !known || len(changed) > mostChanged {
		return Scan(ctx, ask, kids, text)
	}
	return set, revision, t.correct(ctx, ask, set, changed, kids, text)
}

// updateIn brings all values up to date with a snapshot of a revision, and reads those of
// missing keys, unless they are later or another goroutine is doing so.
func (t *Texts) updateIn(ctx context.Context, ask db.Asker, revision int64, kids []int64) error {
	late := time.NewTimer(longestTurn)
	defer late.Stop()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-late.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if t.revision > revision {
		return nil
	}
	return t.bring(ctx, ask, kids)
}

// changedSince returns the references of entities that may have changed after a revision, and
// false if they are not known.
func (t *Texts) changedSince(revision int64) ([]string, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var changed []string
	for _, s := range slices.Backward(t.steps) {
		if s.to <= revision {
			return changed, true
		}
		changed = append(changed, s.changed...)
		if s.from <= revision {
			return changed, true
		}
	}
	return nil, false
}

// note adds an update to the steps. The caller holds mu.
func (t *Texts) note(from int64, n *changelog.Changes) {
	if !n.Complete {
		t.steps = nil
		return
	}
	s := step{from: from, to: n.Revision}
	for ref := range n.Present {
		s.changed = append(s.changed, ref)
	}
	for ref := range n.Gone {
		s.changed = append(s.changed, ref)
	}
	if t.steps = append(t.steps, s); len(t.steps) > stepsKept {
		t.steps = slices.Delete(t.steps, 0, len(t.steps)-stepsKept)
	}
}

// correct replaces what was found of entities by what a snapshot has of them.
func (t *Texts) correct(ctx context.Context, ask db.Asker, set *idset.Set, refs []string, kids []int64, text string) error {
	return t.db.SelectIn(ctx, ask, "SELECT e.id, f.packed FROM entities e JOIN fields f ON f.ref = e.ref WHERE e.ref IN ", refs, func(rows *db.Rows) error {
		var id uint32
		var packed string
		if err := rows.Scan(&id, &packed); err != nil {
			return err
		}
		set.Remove(id)
		for _, kid := range kids {
			for value := range index.Values(packed, kid) {
				if strings.Contains(value, text) {
					set.Add(id)
				}
			}
		}
		return nil
	})
}

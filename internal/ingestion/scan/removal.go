package scan

import (
	"cmp"
	"context"
	"slices"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
)

// Removal is a set of objects that a list no longer has.
type Removal struct {
	List string
	// Gone are the keys of known objects that were not found.
	Gone []string
	// Seen is the observation that removes them.
	Seen mirror.Observation
}

// Vanish records that known objects of a list were not found.
func (s *Scan) Vanish(r Removal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vanished = append(s.vanished, r)
}

// Remove removes the vanished objects of the lists that were read from the mirror,
// unless there are so many that the removal must be confirmed first. No list may be
// read concurrently.
func (s *Scan) Remove(ctx context.Context) error {
	all := s.vanished
	s.vanished = nil
	if len(all) == 0 {
		return nil
	}
	counts, err := s.Mirror.CountObjects(ctx)
	if err != nil {
		return err
	}
	of, gone := 0, 0
	for at, n := range counts {
		if at[0] == s.Name {
			of += n
		}
	}
	for _, r := range all {
		gone += len(r.Gone)
	}
	mass := s.Variant.MassRemoval
	// Objects removed earlier in this scan count as well. A folder that is empty may just
	// not be mounted, however few objects it had.
	whole := mass.Is(s.removed+gone, s.removed+of) || !s.Cluster && gone == of
	massive := func(r Removal) bool { return whole || mass.Is(len(r.Gone), counts[[2]string{s.Name, r.List}]) }
	pending := status.PendingRemoval{Of: of}
	for _, r := range all {
		if massive(r) {
			pending.Objects += len(r.Gone)
		}
	}
	confirmed, err := s.confirmed(ctx, &pending)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b Removal) int { return cmp.Compare(a.List, b.List) })
	for _, r := range all {
		take := s.forget
		if massive(r) && !confirmed {
			take = s.hold
		}
		if err := take(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// confirmed reports whether a mass removal is to be carried out: the objects are still
// missing after Until, or a user has confirmed it. Otherwise the removal becomes
// pending.
func (s *Scan) confirmed(ctx context.Context, p *status.PendingRemoval) (bool, error) {
	if p.Objects == 0 {
		return true, nil
	}
	// Scans do not start exactly on schedule.
	p.Since, p.Until = s.Begun, s.Begun.Add(max(s.Variant.MassRemoval.Wait, s.Every*9/10))
	if before := s.Before.Pending; before != nil && !before.Since.After(s.Begun) {
		p.Since, p.Until = before.Since, before.Until
	}
	by, err := status.Confirmed(ctx, s.Mirror, s.Name)
	if err != nil {
		return false, err
	}
	if p.Until.After(s.Begun) && !by.Covers(p) {
		if s.pending != nil {
			p.Objects += s.pending.Objects
		}
		s.pending = p
		return false, nil
	}
	s.Variant.Log.Warn("mass removal confirmed; entities are removed",
		"source", s.Name, "objects", p.Objects, "of", p.Of, "by", cmp.Or(by.By, "a second scan"))
	return true, nil
}

// forget removes the objects from the mirror.
func (s *Scan) forget(ctx context.Context, r Removal) error {
	s.Remember(r.List, nil, r.Gone)
	dirty, err := s.Mirror.Observe(ctx, r.Seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty += dirty
	s.removed += len(r.Gone)
	return err
}

// hold keeps the objects, which are stale from now on.
func (s *Scan) hold(ctx context.Context, r Removal) error {
	objects, err := s.Mirror.SourceObjects(ctx, s.Name, r.List)
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(r.Gone))
	for _, key := range r.Gone {
		gone[key] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.Lists[r.List]
	if l.Kept == nil {
		l.Kept = map[string]string{}
	}
	for i := range objects {
		if o := &objects[i]; gone[o.Key] {
			l.Kept[o.Key] = o.Unit
			l.Count++
		}
	}
	s.Lists[r.List] = l
	if s.Cluster {
		return nil
	}
	// Objects that were read from a folder but then left out are removed even so.
	r.Seen.Keys = append(slices.Clone(r.Seen.Keys), r.Gone...)
	dirty, err := s.Mirror.Observe(ctx, r.Seen)
	s.dirty += dirty
	return err
}

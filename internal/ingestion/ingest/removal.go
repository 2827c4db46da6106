package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// MassRemoval defines when so many objects disappear from a source at once that the
// removal needs a confirmation: more than Percent of the objects of the source or of
// one of its lists, and at least Minimum. A proxy that answers with empty lists looks
// like that, and so does a cluster that is being restored. A Percent of 0 disables the
// check.
type MassRemoval struct {
	Percent, Minimum int
	// Wait is the minimum time until another scan confirms the removal. It is never
	// shorter than the interval between scans, less a tenth.
	Wait time.Duration
}

// Is reports whether the removal of gone objects out of of is a mass removal.
func (m MassRemoval) Is(gone, of int) bool {
	return m.Percent > 0 && gone >= max(1, m.Minimum) && gone*100 > of*m.Percent
}

// PendingRemoval is a mass removal that waits for confirmation.
type PendingRemoval struct {
	// Objects is the number of missing objects, Of the number that were known.
	Objects int `json:"objects"`
	Of      int `json:"of"`
	// Since is when the objects were first missing. A scan after Until that does not find
	// them either confirms the removal.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// message describes the pending removal; pendingHint says what to do.
func (p *PendingRemoval) message() string {
	return fmt.Sprintf("%d of %d objects are missing; their entities stay until a scan after %s or a user confirms the removal",
		p.Objects, p.Of, p.Until.UTC().Format(time.RFC3339))
}

const pendingHint = "check that the source is complete; if the objects are gone for good, confirm the removal"

// removal is a set of objects that a list no longer has.
type removal struct {
	list string
	// gone are the keys of known objects that were not found.
	gone []string
	// seen is the observation that removes them.
	seen mirror.Observation
}

// vanish records that known objects of a list were not found.
func (s *scan) vanish(r removal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vanished = append(s.vanished, r)
}

// remove removes the vanished objects of the lists that were read from the mirror,
// unless there are so many that the removal must be confirmed first. No list may be
// read concurrently.
func (s *scan) remove(ctx context.Context) error {
	all := s.vanished
	s.vanished = nil
	if len(all) == 0 {
		return nil
	}
	counts, err := s.variant.in.Mirror.CountObjects(ctx)
	if err != nil {
		return err
	}
	of, gone := 0, 0
	for at, n := range counts {
		if at[0] == s.name {
			of += n
		}
	}
	for _, r := range all {
		gone += len(r.gone)
	}
	mass := s.variant.MassRemoval
	// Objects removed earlier in this scan count as well. A folder that is empty may just
	// not be mounted, however few objects it had.
	whole := mass.Is(s.removed+gone, s.removed+of) || !s.cluster && gone == of
	massive := func(r removal) bool { return whole || mass.Is(len(r.gone), counts[[2]string{s.name, r.list}]) }
	pending := PendingRemoval{Of: of}
	for _, r := range all {
		if massive(r) {
			pending.Objects += len(r.gone)
		}
	}
	confirmed, err := s.confirmed(ctx, &pending)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b removal) int { return cmp.Compare(a.list, b.list) })
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
func (s *scan) confirmed(ctx context.Context, p *PendingRemoval) (bool, error) {
	if p.Objects == 0 {
		return true, nil
	}
	// Scans do not start exactly on schedule.
	p.Since, p.Until = s.now, s.now.Add(max(s.variant.MassRemoval.Wait, s.every*9/10))
	if before := s.before.Pending; before != nil && !before.Since.After(s.now) {
		p.Since, p.Until = before.Since, before.Until
	}
	by, err := s.variant.in.confirmation(ctx, s.name)
	if err != nil {
		return false, err
	}
	if p.Until.After(s.now) && !by.covers(p) {
		if s.pending != nil {
			p.Objects += s.pending.Objects
		}
		s.pending = p
		return false, nil
	}
	s.variant.Log.Warn("mass removal confirmed; entities are removed",
		"source", s.name, "objects", p.Objects, "of", p.Of, "by", cmp.Or(by.By, "a second scan"))
	return true, nil
}

// forget removes the objects from the mirror.
func (s *scan) forget(ctx context.Context, r removal) error {
	s.remember(r.list, nil, r.gone)
	dirty, err := s.variant.in.Mirror.Observe(ctx, r.seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty += dirty
	s.removed += len(r.gone)
	return err
}

// hold keeps the objects, which are stale from now on.
func (s *scan) hold(ctx context.Context, r removal) error {
	objects, err := s.variant.in.Mirror.SourceObjects(ctx, s.name, r.list)
	if err != nil {
		return err
	}
	gone := make(map[string]bool, len(r.gone))
	for _, key := range r.gone {
		gone[key] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lists[r.list]
	if l.kept == nil {
		l.kept = map[string]string{}
	}
	for i := range objects {
		if o := &objects[i]; gone[o.Key] {
			l.kept[o.Key] = o.Unit
			l.count++
		}
	}
	s.lists[r.list] = l
	if s.cluster {
		return nil
	}
	// Objects that were read from a folder but then left out are removed even so.
	r.seen.Keys = append(slices.Clone(r.seen.Keys), r.gone...)
	dirty, err := s.variant.in.Mirror.Observe(ctx, r.seen)
	s.dirty += dirty
	return err
}

// listConfirmed is the journal key prefix for removals that a user has confirmed.
const listConfirmed = notSource + "removal of "

// confirmation is a pending removal that a user has confirmed.
type confirmation struct {
	PendingRemoval
	By string `json:"by"`
}

// covers reports whether it confirms a pending removal, which may have become smaller
// since.
func (c *confirmation) covers(p *PendingRemoval) bool {
	return c.By != "" && c.Since.Equal(p.Since) && p.Objects <= c.Objects
}

func (in *Ingest) confirmation(ctx context.Context, place string) (c confirmation, err error) {
	states, err := in.Mirror.SourceStates(ctx, listConfirmed+place)
	if data, ok := states[listConfirmed+place]; ok && err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

// ErrNothingPending is returned on confirming a removal that is not pending.
var ErrNothingPending = errors.New("no removal is pending")

// Confirm makes the next scan of a target carry out a pending removal. since identifies
// the removal.
func (in *Ingest) Confirm(ctx context.Context, name, by string, since time.Time) (PendingRemoval, error) {
	if _, err := in.target(name); err != nil {
		return PendingRemoval{}, err
	}
	all, err := in.conditions(ctx, name)
	if err != nil {
		return PendingRemoval{}, err
	}
	p := all[name].Pending
	if p == nil || !p.Since.Equal(since) {
		return PendingRemoval{}, ErrNothingPending
	}
	data, err := json.Marshal(confirmation{PendingRemoval: *p, By: cmp.Or(by, "unknown")})
	if err != nil {
		return PendingRemoval{}, err
	}
	return *p, in.Mirror.SetSource(ctx, listConfirmed+name, data)
}

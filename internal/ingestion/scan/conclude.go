package scan

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/internal/ingestion/status"
)

// conclude updates the stored state of the target after a scan, and marks the units
// dirty whose lists became stale or fresh.
func (s *Scan) conclude(ctx context.Context, whole error) error {
	before := s.Before
	after := status.Status{Tried: s.Begun, Good: before.Good, Lists: map[string]status.List{}}
	if whole != nil {
		// The scan could not even find out which lists there are.
		known, err := s.Mirror.Lists(ctx, s.Name)
		if err != nil {
			return err
		}
		for _, list := range slices.Concat(known, slices.Collect(maps.Keys(before.Lists))) {
			if _, ok := s.Lists[list]; !ok {
				s.Lists[list] = Result{Err: whole, Count: before.Lists[list].Count}
			}
		}
		s.errs = append(s.errs, whole)
	}
	var turned, units []string
	for _, list := range slices.Sorted(maps.Keys(s.Lists)) {
		l, was := s.Lists[list], before.Lists[list]
		bad := s.unreadable[list]
		after.AddProblems(list, bad)
		if len(bad) > 0 && l.Err == nil {
			s.errs = append(s.errs, status.Unreadable(list, bad))
		}
		now := l.status(was, s.Begun, len(bad))
		after.Lists[list] = now
		more, all := was.Turned(now)
		units = append(units, more...)
		if was.Unserved != now.Unserved {
			units = append(units, s.Definers[list]...)
		}
		if all {
			turned = append(turned, list)
		}
	}
	if after.Selection = s.Selection(); whole != nil {
		after.Selection = before.Selection
	}
	after.Unsettled = s.Unsettled
	if after.Pending = s.pending; s.pending == nil && len(s.errs) > 0 {
		// A failed scan says nothing about the pending removal.
		after.Pending = before.Pending
	}
	joined := joinOnce(s.errs)
	if joined == nil {
		after.Good = s.Begun
	} else {
		after.Error, after.Reason, after.Hint = joined.Error(), status.Reason(joined), status.Hint(joined)
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	s.tell(joined)
	s.tellPending(after.Pending)
	s.tellSelection(after.Selection)
	s.Reached("settle", s.Name)
	return s.Mirror.Settle(ctx, s.Name, data, turned, units)
}

// tell logs the result of the scan whenever it changes.
func (s *Scan) tell(err error) {
	if err != nil {
		s.Once.Warn(s.Variant.Log, "scan "+s.Name, "source scan failed or incomplete; last known objects are kept",
			"source", s.Name, "error", err.Error(), "hint", status.Hint(err))
		return
	}
	if s.Once.Changed("scan "+s.Name, "") {
		s.Variant.Log.Info("source scan recovered", "source", s.Name)
	}
}

// tellPending logs a mass removal that is not confirmed yet, once.
func (s *Scan) tellPending(p *status.PendingRemoval) {
	about := "pending " + s.Name
	if p == nil {
		s.Once.Changed(about, "")
		return
	}
	s.Once.Warn(s.Variant.Log, about, "mass removal pending; entities stay until it is confirmed",
		"source", s.Name, "objects", p.Objects, "of", p.Of, "since", p.Since, "until", p.Until, "hint", status.HintPending)
}

// joinOnce joins errors without duplicates, by text.
func joinOnce(errs []error) error {
	seen := map[string]bool{}
	var out []error
	for _, err := range errs {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	slices.SortFunc(out, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(out...)
}

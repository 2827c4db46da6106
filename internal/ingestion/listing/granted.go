package listing

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/source/cluster"
)

// granted decides what a forbidden list means. For definitions it is an error, because
// the service cannot do without them. Any other list that the account was never allowed
// to read is untracked, which is logged once; a list that it could read before is
// stale, and an error.
func (s *Reader) granted(ctx context.Context, l List, was scan.Result) scan.Result {
	e, forbidden := errors.AsType[*cluster.Error](was.Err)
	about := "untracked " + s.Name + " " + l.Name
	if !forbidden || e.Reason != cluster.Forbidden || strings.HasPrefix(l.Name, object.ListDefinitions) || !s.Before.Lists[l.Name].Good.IsZero() {
		if was.Err == nil && s.Once.Changed(about, "") {
			s.Variant.Log.Info("list is tracked now", "source", s.Name, "list", l.Name)
		}
		return was
	}
	known, err := s.Mirror.Known(ctx, s.Name, l.Name)
	if err != nil || len(known) > 0 {
		// The list was read before, if not by this release.
		return was
	}
	if s.Once.Changed(about, "untracked") {
		s.Variant.Log.Info("list not tracked: account may not read it", "source", s.Name, "list", l.Name, "hint", s.untracked(l, e))
	}
	return scan.Result{Untracked: s.untracked(l, e)}
}

// untracked returns how to get a list tracked, or how to leave it out on purpose.
func (s *Reader) untracked(l List, e *cluster.Error) string {
	kind, _, _ := strings.Cut(l.Name, " ")
	off := s.Variant.Name + "." + kind + ".enabled: false"
	if strings.HasPrefix(l.Name, object.ListWorkloads) {
		off = s.Variant.Name + ".components.enabled: false"
	}
	return e.Hint + "\nor set " + off
}

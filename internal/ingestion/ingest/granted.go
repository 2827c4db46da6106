package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/source/cluster"
)

// granted decides what a forbidden list means. For definitions it is an error, because
// the service cannot do without them. Any other list that the account was never allowed
// to read is untracked, which is logged once; a list that it could read before is
// stale, and an error.
func (s *scan) granted(ctx context.Context, l list, was listed) listed {
	e, forbidden := errors.AsType[*cluster.Error](was.err)
	about := "untracked " + s.name + " " + l.name
	if !forbidden || e.Reason != cluster.Forbidden || strings.HasPrefix(l.name, listDefinitions) || !s.before.Lists[l.name].Good.IsZero() {
		if was.err == nil && s.variant.in.news(about, "") {
			s.variant.Log.Info("list is tracked now", "source", s.name, "list", l.name)
		}
		return was
	}
	known, err := s.variant.in.Mirror.Known(ctx, s.name, l.name)
	if err != nil || len(known) > 0 {
		// The list was read before, if not by this release.
		return was
	}
	if s.variant.in.news(about, "untracked") {
		s.variant.Log.Info("list not tracked: account may not read it", "source", s.name, "list", l.name, "hint", s.untracked(l, e))
	}
	return listed{untracked: s.untracked(l, e)}
}

// untracked returns how to get a list tracked, or how to leave it out on purpose.
func (s *scan) untracked(l list, e *cluster.Error) string {
	kind, _, _ := strings.Cut(l.name, " ")
	off := s.variant.Name + "." + kind + ".enabled: false"
	if strings.HasPrefix(l.name, listWorkloads) {
		off = s.variant.Name + ".components.enabled: false"
	}
	return e.Hint + "\nor set " + off
}

// ungranted reports whether watching a list fails because of a permission that the
// account never had: then the list is read on the schedule, or not at all.
func (w *watcher) ungranted(ctx context.Context, l list, e *cluster.Error) bool {
	if e.Reason != cluster.Forbidden {
		return false
	}
	all, err := w.variant.in.conditions(ctx, w.name)
	if err != nil {
		return false
	}
	if slices.Contains(e.Missing.Verbs, "watch") {
		if w.variant.in.news("unwatched "+w.name+" "+l.name, "unwatched") {
			w.variant.Log.Info("list not watched: account may not watch it; changes wait for the next scheduled scan",
				"source", w.name, "list", l.name, "hint", e.Hint)
		}
		return true
	}
	return !strings.HasPrefix(l.name, listDefinitions) && all[w.name].Lists[l.name].Good.IsZero()
}

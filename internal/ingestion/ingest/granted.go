package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/source/cluster"
)

// granted settles what it means that a list is forbidden. Definitions are what
// the service is for, so that it is an error for them. Of all else, what the
// account was never allowed to read is not tracked, which is said once; what it
// was allowed to read before is stale, and an error.
func (s *scan) granted(ctx context.Context, l list, was listed) listed {
	e, forbidden := errors.AsType[*cluster.Error](was.err)
	about := "untracked " + s.name + " " + l.name
	if !forbidden || e.Reason != cluster.Forbidden || strings.HasPrefix(l.name, listDefinitions) || !s.before.Lists[l.name].Good.IsZero() {
		if was.err == nil && s.variant.in.news(about, "") {
			s.variant.Log.Info("list is tracked from now on", "source", s.name, "list", l.name)
		}
		return was
	}
	known, err := s.variant.in.Memory.Known(ctx, s.name, l.name)
	if err != nil || len(known) > 0 {
		// It was read, if not by this program.
		return was
	}
	if s.variant.in.news(about, "untracked") {
		s.variant.Log.Info("list is not tracked: the account may not read it", "source", s.name, "list", l.name, "hint", s.untracked(l, e))
	}
	return listed{untracked: s.untracked(l, e)}
}

// untracked says how a list can be tracked, or left out on purpose.
func (s *scan) untracked(l list, e *cluster.Error) string {
	kind, _, _ := strings.Cut(l.name, " ")
	off := s.variant.Name + "." + kind + ".enabled: false"
	if strings.HasPrefix(l.name, listWorkloads) {
		off = s.variant.Name + ".components.enabled: false"
	}
	return e.Hint + "\nor set " + off
}

// ungranted reports whether following a list fails because of a permission that
// the account never had: then it is read on the schedule, or not at all.
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
			w.variant.Log.Info("list is not watched, so changes wait for the schedule: the account may not watch it",
				"source", w.name, "list", l.name, "hint", e.Hint)
		}
		return true
	}
	return !strings.HasPrefix(l.name, listDefinitions) && all[w.name].Lists[l.name].Good.IsZero()
}

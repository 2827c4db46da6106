package scan

import (
	"maps"
	"time"

	"example.dev/ingestor/internal/ingestion/status"
)

// Result is the result of reading a list.
type Result struct {
	Count   int
	Version int64
	Err     error
	// Kept are objects that could not be read, unlike others of the list, and stay as they
	// were: their units by key.
	Kept map[string]string
	// Untracked is why the list is not read, which is not an error; empty if it is read.
	Untracked string
	// Unserved says that the cluster does not serve the list's kind.
	Unserved bool
}

// status returns the state to store for a list after it was read, or could not be
// read.
func (l *Result) status(was status.List, now time.Time, unreadable int) status.List {
	out := status.List{Count: l.Count, Version: l.Version, Good: now, Unreadable: unreadable}
	if l.Err != nil {
		out = status.List{Count: was.Count, Version: was.Version, Good: was.Good, Error: l.Err.Error(), Stale: was.StaleSince(now), Kept: maps.Clone(was.Kept)}
	}
	if l.Untracked != "" {
		out = status.List{Untracked: l.Untracked}
	}
	// A list that cannot be read now keeps its last known state.
	out.Unserved = l.Unserved || l.Err != nil && was.Unserved
	for key, unit := range l.Kept {
		if out.Kept == nil {
			out.Kept = map[string]status.Kept{}
		}
		since := was.Kept[key].Since
		if since.IsZero() || since.After(now) {
			since = was.StaleSince(now)
		}
		out.Kept[key] = status.Kept{Since: since, Unit: unit}
	}
	return out
}

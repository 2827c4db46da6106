// Package health reports the state of ingestion: the health of the service and of its
// sources, the definitions they have, and those that clusters do not serve.
package health

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
)

// The statuses of the service and the states of its sources.
const (
	Healthy   = "healthy"
	Degraded  = "degraded"
	Unhealthy = "unhealthy"
	// Starting means that a source was not read yet.
	Starting = "starting"

	Connected = "connected"
	// Waiting means that the source was not read yet.
	Waiting = "waiting"
	// Partial means that some lists of the source cannot be read.
	Partial = "partial"
	// Pending means that so many objects are missing that their removal must be confirmed.
	Pending = "removal-pending"
)

// Health is the health of the service.
type Health struct {
	// Status is healthy if everything can be read, unhealthy if nothing can, and degraded
	// otherwise. It is starting until every source was tried, unless something is wrong
	// already.
	Status string `json:"status"`
	// Clusters are the states of the clusters by name.
	Clusters map[string]string `json:"clusters"`
	// LastRun is when a source was last tried.
	LastRun time.Time `json:"lastRun,omitzero"`
	// EntitiesGenerated is the number of entities of the service in the catalog.
	EntitiesGenerated int `json:"entitiesGenerated"`
	// Sources are the details; nil for users who may not see them.
	Sources []Source `json:"sources,omitzero"`
	// Failures are the units that cannot be built, with the reason.
	Failures map[string]string `json:"failures,omitempty"`
	// Notices are not errors, but probably unintended.
	Notices []string `json:"notices,omitempty"`
	// Missing are owners and systems that entities refer to but that do not exist.
	Missing []inspect.MissingRef `json:"missing,omitempty"`
	// Unserved are the first of UnservedCount definitions that clusters do not serve. They
	// do not degrade the status.
	Unserved      []Unserved `json:"unserved,omitempty"`
	UnservedCount int        `json:"unservedCount,omitempty"`
}

// Source is the health of a source.
type Source struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"`
	// State is connected, waiting, partial, removal-pending, or the reason why the source
	// cannot be read: unreachable, unauthorized and so on.
	State       string    `json:"state"`
	LastAttempt time.Time `json:"lastAttempt,omitzero"`
	LastSuccess time.Time `json:"lastSuccess,omitzero"`
	LastError   string    `json:"lastError,omitempty"`
	// Hint is how to fix the error, if that is known.
	Hint string `json:"hint,omitempty"`
	// Stale are the lists that cannot be read, with the time since when their objects are
	// stale.
	Stale map[string]time.Time `json:"stale,omitempty"`
	// Objects is the number of known objects by list.
	Objects map[string]int `json:"objects,omitempty"`
	// Problems are unreadable objects and files, the first of ProblemCount; StaleObjects
	// is the number of objects that are stale because they cannot be read.
	Problems     []status.Problem `json:"problems,omitempty"`
	ProblemCount int              `json:"problemCount,omitempty"`
	StaleObjects int              `json:"staleObjects,omitempty"`
	// Untracked are lists that are not read because the account was never allowed to read
	// them, with how to change that.
	Untracked map[string]string `json:"untracked,omitempty"`
	// PendingRemoval is a removal that waits for confirmation; nil if there is none.
	PendingRemoval *status.PendingRemoval `json:"pendingRemoval,omitempty"`
	// Definitions says how many definitions are selected; nil if that is unknown.
	Definitions *status.Selection `json:"definitions,omitempty"`
}

// Reader reports the state of ingestion. Its methods may be called concurrently.
type Reader struct {
	mirror  *mirror.Mirror
	targets []status.Target
	now     func() time.Time
	missing func(context.Context) ([]inspect.MissingRef, error)
	remedy  func(source string, found variant.Found) *variant.Remedy

	mu sync.Mutex
	// unservedCache caches the unserved definitions of all clusters.
	unservedCache unservedCache
}

// Options are the options of New. All are required.
type Options struct {
	Mirror  *mirror.Mirror
	Targets []status.Target
	Now     func() time.Time
	// Missing returns the owners and systems that do not exist.
	Missing func(context.Context) ([]inspect.MissingRef, error)
	// Remedy returns what makes a source select a definition; nil if nothing does.
	Remedy func(source string, found variant.Found) *variant.Remedy
}

// New returns a reader of the targets.
func New(o Options) *Reader {
	return &Reader{mirror: o.Mirror, targets: o.Targets, now: o.Now, missing: o.Missing, remedy: o.Remedy}
}

// Health returns the health of the service. entities is the number of its entities in
// the catalog.
func (r *Reader) Health(ctx context.Context, entities int) (Health, error) {
	conditions, err := status.Load(ctx, r.mirror)
	if err != nil {
		return Health{}, err
	}
	counts, err := r.mirror.CountObjects(ctx)
	if err != nil {
		return Health{}, err
	}
	h := Health{Status: Healthy, Clusters: map[string]string{}, EntitiesGenerated: entities, Sources: []Source{}}
	good, waiting := 0, 0
	for _, p := range r.targets {
		s := sourceHealth(p, conditions[p.Name], counts)
		h.Sources = append(h.Sources, s)
		if s.LastAttempt.After(h.LastRun) {
			h.LastRun = s.LastAttempt
		}
		switch s.State {
		case Connected:
			good++
		case Waiting:
			waiting++
		}
		if s.Definitions != nil && s.Definitions.Message != "" {
			h.Notices = append(h.Notices, s.Name+": "+s.Definitions.Message+"; "+s.Definitions.Hint)
		}
		if p.Cluster && worse(h.Clusters[p.At], s.State) {
			h.Clusters[p.At] = s.State
		}
	}
	if h.Failures, err = status.Failures(ctx, r.mirror); err != nil {
		return Health{}, err
	}
	if h.Missing, err = r.missing(ctx); err != nil {
		return Health{}, err
	}
	unserved, err := r.unserved(ctx, conditions)
	if err != nil {
		return Health{}, err
	}
	h.Unserved, h.UnservedCount = unserved[:min(len(unserved), mostUnserved)], len(unserved)
	some := slices.ContainsFunc(h.Sources, func(s Source) bool { return s.State == Partial || s.State == Pending })
	switch {
	case good+waiting == 0 && len(r.targets) > 0 && !some:
		h.Status = Unhealthy
	case good+waiting < len(r.targets) || len(h.Failures) > 0:
		h.Status = Degraded
	case waiting > 0:
		h.Status = Starting
	}
	return h, nil
}

// worse reports whether a state is worse than the one that a cluster has.
func worse(has, state string) bool {
	rank := func(s string) int { return slices.Index([]string{"", Connected, Waiting, Partial, Pending}, s) }
	a, b := rank(has), rank(state)
	if a < 0 {
		return false
	}
	return b < 0 || b > a
}

// sourceHealth returns the health of a target; counts are those of CountObjects.
func sourceHealth(p status.Target, c status.Status, counts map[[2]string]int) Source {
	s := Source{Name: p.Name, State: Waiting, LastAttempt: c.Tried, LastSuccess: c.Good, LastError: c.Error, Hint: c.Hint, Problems: c.Problems, ProblemCount: c.ProblemCount, Definitions: c.Selection, PendingRemoval: c.Pending}
	if p.Cluster {
		s.Cluster = p.At
	}
	for at, n := range counts {
		if at[0] == p.Name {
			if s.Objects == nil {
				s.Objects = map[string]int{}
			}
			s.Objects[at[1]] = n
		}
	}
	stale := 0
	for name, l := range c.Lists {
		if l.Untracked != "" {
			if s.Untracked == nil {
				s.Untracked = map[string]string{}
			}
			s.Untracked[name] = l.Untracked
		}
		if l.Stale.IsZero() {
			s.StaleObjects += len(l.Kept)
			continue
		}
		stale++
		s.StaleObjects += s.Objects[name]
		if s.Stale == nil {
			s.Stale = map[string]time.Time{}
		}
		s.Stale[name] = l.Stale
	}
	switch {
	case c.Tried.IsZero():
	case c.Error == "" && c.Pending != nil:
		s.State, s.LastError, s.Hint = Pending, c.Pending.Message(), status.HintPending
	case c.Error == "":
		s.State = Connected
	case stale < len(c.Lists):
		s.State = Partial
	default:
		s.State = cmp.Or(c.Reason, status.ReasonFailed)
	}
	return s
}

// Stale counts the stale objects by source: those of lists that cannot be read now, and
// those kept from files that cannot be read.
func (r *Reader) Stale(ctx context.Context) (map[string]int, error) {
	conditions, err := status.Load(ctx, r.mirror)
	if err != nil {
		return nil, err
	}
	counts, err := r.mirror.CountObjects(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, p := range r.targets {
		out[p.Name] = 0
		for name, l := range conditions[p.Name].Lists {
			if !l.Stale.IsZero() {
				out[p.Name] += counts[[2]string{p.Name, name}]
				continue
			}
			out[p.Name] += len(l.Kept)
		}
	}
	return out, nil
}

// Recorded returns the health of the sources as of their last scan, from their states
// in the database, sorted by name.
func Recorded(states map[string][]byte) ([]Source, error) {
	conditions, err := status.Decode(states)
	if err != nil {
		return nil, err
	}
	all := make([]Source, 0, len(conditions))
	for name, c := range conditions {
		all = append(all, sourceHealth(status.Target{Name: name}, c, nil))
	}
	slices.SortFunc(all, func(a, b Source) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

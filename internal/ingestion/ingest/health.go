package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
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
	Sources []SourceHealth `json:"sources,omitzero"`
	// Failures are the units that cannot be built, with the reason.
	Failures map[string]string `json:"failures,omitempty"`
	// Notices are not errors, but probably unintended.
	Notices []string `json:"notices,omitempty"`
	// Missing are owners and systems that entities refer to but that do not exist.
	Missing []MissingRef `json:"missing,omitempty"`
	// Unserved are the first of UnservedCount definitions that clusters do not serve. They
	// do not degrade the status.
	Unserved      []Unserved `json:"unserved,omitempty"`
	UnservedCount int        `json:"unservedCount,omitempty"`
}

// SourceHealth is the health of a source.
type SourceHealth struct {
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
	Problems     []Problem `json:"problems,omitempty"`
	ProblemCount int       `json:"problemCount,omitempty"`
	StaleObjects int       `json:"staleObjects,omitempty"`
	// Untracked are lists that are not read because the account was never allowed to read
	// them, with how to change that.
	Untracked map[string]string `json:"untracked,omitempty"`
	// PendingRemoval is a removal that waits for confirmation; nil if there is none.
	PendingRemoval *PendingRemoval `json:"pendingRemoval,omitempty"`
	// Definitions says how many definitions are selected; nil if that is unknown.
	Definitions *Selection `json:"definitions,omitempty"`
}

// Health returns the health of the service. entities is the number of its entities in
// the catalog.
func (in *Ingest) Health(ctx context.Context, entities int) (Health, error) {
	conditions, err := in.conditions(ctx)
	if err != nil {
		return Health{}, err
	}
	counts, err := in.Mirror.CountObjects(ctx)
	if err != nil {
		return Health{}, err
	}
	h := Health{Status: Healthy, Clusters: map[string]string{}, EntitiesGenerated: entities, Sources: []SourceHealth{}}
	good, waiting := 0, 0
	for _, p := range in.places {
		s := p.health(conditions[p.name], counts)
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
		if p.cluster && worse(h.Clusters[p.at], s.State) {
			h.Clusters[p.at] = s.State
		}
	}
	if h.Failures, err = in.failing(ctx); err != nil {
		return Health{}, err
	}
	if h.Missing, err = in.missing(ctx); err != nil {
		return Health{}, err
	}
	unserved, err := in.unserved(ctx, conditions)
	if err != nil {
		return Health{}, err
	}
	h.Unserved, h.UnservedCount = unserved[:min(len(unserved), mostUnserved)], len(unserved)
	some := slices.ContainsFunc(h.Sources, func(s SourceHealth) bool { return s.State == Partial || s.State == Pending })
	switch {
	case good+waiting == 0 && len(in.places) > 0 && !some:
		h.Status = Unhealthy
	case good+waiting < len(in.places) || len(h.Failures) > 0:
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

func (p *target) health(c condition, counts map[[2]string]int) SourceHealth {
	s := SourceHealth{Name: p.name, State: Waiting, LastAttempt: c.Tried, LastSuccess: c.Good, LastError: c.Error, Hint: c.Hint, Problems: c.Problems, ProblemCount: c.ProblemCount, Definitions: c.Selection, PendingRemoval: c.Pending}
	if p.cluster {
		s.Cluster = p.at
	}
	for at, n := range counts {
		if at[0] == p.name {
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
		s.State, s.LastError, s.Hint = Pending, c.Pending.message(), pendingHint
	case c.Error == "":
		s.State = Connected
	case stale < len(c.Lists):
		s.State = Partial
	default:
		s.State = cmp.Or(c.Reason, "failed")
	}
	return s
}

// Stale counts the stale objects by source: those of lists that cannot be read now, and
// those kept from files that cannot be read.
func (in *Ingest) Stale(ctx context.Context) (map[string]int, error) {
	conditions, err := in.conditions(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := in.Mirror.CountObjects(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, p := range in.places {
		out[p.name] = 0
		for name, l := range conditions[p.name].Lists {
			if !l.Stale.IsZero() {
				out[p.name] += counts[[2]string{p.name, name}]
				continue
			}
			out[p.name] += len(l.Kept)
		}
	}
	return out, nil
}

// Cluster is a configured cluster.
type Cluster struct {
	Name         string `json:"name"`
	URL          string `json:"url,omitempty"`
	AuthProvider string `json:"authProvider"`
	// SkipTLSVerify says that TLS certificates are not verified.
	SkipTLSVerify bool `json:"skipTLSVerify,omitempty"`
}

// Explanation describes what is known of a definition and what is built from it.
type Explanation struct {
	Name string `json:"name"`
	// TakenBy is the variant that builds its entities, empty if none does.
	TakenBy string `json:"takenBy,omitempty"`
	// LeftBy are the variants that would also select it, but leave it to TakenBy.
	LeftBy []string `json:"leftBy,omitempty"`
	Copies []Copy   `json:"copies"`
	// Stale says what could not be read lately, StaleSince since when.
	Stale      string    `json:"stale,omitempty"`
	StaleSince time.Time `json:"staleSince,omitzero"`
	Failure    string    `json:"failure,omitempty"`
	// Compositions and Composites count the objects that belong to it.
	Compositions int `json:"compositions"`
	Composites   int `json:"composites"`
	// Entities are references, Withheld those the catalog would refuse.
	Entities []string  `json:"entities"`
	Withheld []string  `json:"withheld,omitempty"`
	Values   []Value   `json:"values"`
	Findings []Finding `json:"findings"`
}

// Copy is a definition in one source.
type Copy struct {
	Source string `json:"source"`
	// Version is the resource version, 0 if the source has none.
	Version int64 `json:"version,omitempty"`
	// Refused is why the definition is not ingested; empty if it is.
	Refused string `json:"refused,omitempty"`
}

// Value tells where a value of the entities comes from.
type Value struct {
	Field string `json:"field"`
	Value string `json:"value"`
	From  string `json:"from"`
	Key   string `json:"key,omitempty"`
}

// Finding is a finding about a definition or a source.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	File     string `json:"file,omitempty"`
	// Line and Column are the position in the file; 0 if unknown.
	Line   int32  `json:"line,omitempty"`
	Column int32  `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
}

func findingOf(f finding.Finding) Finding {
	out := Finding{Rule: f.Rule, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint, File: f.File, Path: f.Path}
	if f.File != "" {
		out.Line, out.Column = f.Pos.Line, f.Pos.Column
	}
	return out
}

// Explain returns what is known of a definition. It reports false if the definition is
// unknown.
func (in *Ingest) Explain(ctx context.Context, name string) (Explanation, bool, error) {
	x := Explanation{Name: name, Copies: []Copy{}, Entities: []string{}, Values: []Value{}, Findings: []Finding{}}
	if strings.HasPrefix(name, unitWorkload) {
		return x, false, nil
	}
	loaded, err := in.load(ctx, []string{name})
	if err != nil {
		return x, false, err
	}
	conditions, err := in.conditions(ctx)
	if err != nil {
		return x, false, err
	}
	objects := loaded[name]
	for i := range objects {
		o := &objects[i]
		switch {
		case o.Unit == name:
			x.Copies = append(x.Copies, Copy{Source: o.Source, Version: o.Version, Refused: noteOf(o).Refused})
		case strings.HasPrefix(o.List, listCompositions):
			x.Compositions++
		default:
			x.Composites++
		}
	}
	if len(x.Copies) == 0 {
		return x, false, nil
	}
	s := &unitBatch{Ingest: in, caches: in.caches, asked: true, now: in.Now(), conditions: conditions}
	entities, m := s.transform(ctx, name, objects, s.now)
	x.Stale, x.StaleSince = s.stale(objects)
	x.TakenBy, x.LeftBy, x.Withheld, x.Failure = m.part, m.left, m.withheld, m.failed
	for _, e := range entities {
		x.Entities = append(x.Entities, e.Key())
	}
	for _, v := range m.sources {
		x.Values = append(x.Values, Value{Field: v.Field, Value: v.Value, From: v.From, Key: v.Key})
	}
	for _, f := range m.findings {
		x.Findings = append(x.Findings, findingOf(f))
	}
	return x, true, nil
}

// Clusters returns the clusters of all variants without duplicates.
func (in *Ingest) Clusters() []Cluster {
	out := []Cluster{}
	for _, p := range in.parts {
		for _, c := range p.Clusters {
			if slices.ContainsFunc(out, func(o Cluster) bool { return o.Name == c.Name }) {
				continue
			}
			url := c.URL
			if i := slices.IndexFunc(in.places, func(p *target) bool { return p.cluster && p.at == c.Name && p.url != "" }); i >= 0 {
				url = in.places[i].url
			}
			out = append(out, Cluster{Name: c.Name, URL: url, AuthProvider: cmp.Or(c.Auth, "serviceAccount"), SkipTLSVerify: c.SkipTLSVerify})
		}
	}
	slices.SortFunc(out, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	return out
}

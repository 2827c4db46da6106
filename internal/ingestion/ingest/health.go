package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
)

// The words for how the service, or a part of it, fares.
const (
	Healthy   = "healthy"
	Degraded  = "degraded"
	Unhealthy = "unhealthy"
	// Starting is a service of which a source was not read yet.
	Starting = "starting"

	Connected = "connected"
	// Waiting is a source that was not read yet.
	Waiting = "waiting"
	// Partial is one of which some lists cannot be read.
	Partial = "partial"
	// Pending is one of which so much is not found any more that it must be
	// confirmed.
	Pending = "removal-pending"
)

// Health is how the service fares.
type Health struct {
	// Status is healthy if everything can be read, unhealthy if nothing can,
	// and degraded otherwise. It is starting until every source was tried, unless
	// something is wrong already.
	Status string `json:"status"`
	// Clusters are the states of clusters by name.
	Clusters map[string]string `json:"clusters"`
	// LastRun is when a source was last tried.
	LastRun time.Time `json:"lastRun,omitzero"`
	// EntitiesGenerated is how many entities the catalog has of them.
	EntitiesGenerated int `json:"entitiesGenerated"`
	// Sources are the details; nil for who may not know them.
	Sources []SourceHealth `json:"sources,omitzero"`
	// Failures are units of which nothing can be made, and why.
	Failures map[string]string `json:"failures,omitempty"`
	// Notices are what is not wrong, and hardly meant.
	Notices []string `json:"notices,omitempty"`
	// Missing are owners and systems that entities name and nobody defines.
	Missing []MissingRef `json:"missing,omitempty"`
	// Unserved are the first of UnservedCount definitions that clusters do not
	// serve. They do not degrade the status.
	Unserved      []Unserved `json:"unserved,omitempty"`
	UnservedCount int        `json:"unservedCount,omitempty"`
}

// SourceHealth is how a source fares.
type SourceHealth struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"`
	// State is connected, waiting, partial, or the reason why it cannot be
	// read: unreachable, unauthorized and so on.
	State       string    `json:"state"`
	LastAttempt time.Time `json:"lastAttempt,omitzero"`
	LastSuccess time.Time `json:"lastSuccess,omitzero"`
	LastError   string    `json:"lastError,omitempty"`
	// Hint is the way out of it, if one is known.
	Hint string `json:"hint,omitempty"`
	// Stale are the lists that cannot be read, and since when what is known of
	// them is old.
	Stale map[string]time.Time `json:"stale,omitempty"`
	// Objects counts what is known, by list.
	Objects map[string]int `json:"objects,omitempty"`
	// Problems are objects and files that cannot be read, the first of
	// ProblemCount; StaleObjects counts those that stay as they were last read
	// because of that.
	Problems     []Problem `json:"problems,omitempty"`
	ProblemCount int       `json:"problemCount,omitempty"`
	StaleObjects int       `json:"staleObjects,omitempty"`
	// Untracked are lists that are not read because the account was never allowed
	// to, and the way to have them read.
	Untracked map[string]string `json:"untracked,omitempty"`
	// PendingRemoval is what is not found any more and stays until that is
	// confirmed; nil if nothing is.
	PendingRemoval *PendingRemoval `json:"pendingRemoval,omitempty"`
	// Definitions says which of them are taken; nil if that is not known.
	Definitions *Selection `json:"definitions,omitempty"`
}

// Health returns how the service fares. entities is how many the catalog has of
// it.
func (in *Ingest) Health(ctx context.Context, entities int) (Health, error) {
	conditions, err := in.conditions(ctx)
	if err != nil {
		return Health{}, err
	}
	counts, err := in.Memory.CountObjects(ctx)
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

// worse reports whether a state goes before another that a cluster has.
func worse(has, state string) bool {
	rank := func(s string) int { return slices.Index([]string{"", Connected, Waiting, Partial}, s) }
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

// Stale counts the units that are made of lists which cannot be read now, by
// source.
func (in *Ingest) Stale(ctx context.Context) (map[string]int, error) {
	conditions, err := in.conditions(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := in.Memory.CountObjects(ctx)
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

// Cluster is a cluster of the configuration.
type Cluster struct {
	Name         string `json:"name"`
	URL          string `json:"url,omitempty"`
	AuthProvider string `json:"authProvider"`
	// SkipTLSVerify says that any certificate is believed.
	SkipTLSVerify bool `json:"skipTLSVerify,omitempty"`
}

// Explanation says what is known of a definition and what becomes of it.
type Explanation struct {
	Name string `json:"name"`
	// TakenBy is the part that makes its entities, empty if none does.
	TakenBy string `json:"takenBy,omitempty"`
	// LeftBy are parts that would take it, but for the one that does.
	LeftBy []string `json:"leftBy,omitempty"`
	Copies []Copy   `json:"copies"`
	// Stale says what could not be read lately, and since when.
	Stale      string    `json:"stale,omitempty"`
	StaleSince time.Time `json:"staleSince,omitzero"`
	Failure    string    `json:"failure,omitempty"`
	// Compositions and Composites count what belongs to it.
	Compositions int `json:"compositions"`
	Composites   int `json:"composites"`
	// Entities are references, Withheld those the catalog would refuse.
	Entities []string  `json:"entities"`
	Withheld []string  `json:"withheld,omitempty"`
	Values   []Value   `json:"values"`
	Findings []Finding `json:"findings"`
}

// Copy is a definition as a source has it.
type Copy struct {
	Source string `json:"source"`
	// Version is the source's, 0 if it has none.
	Version int64 `json:"version,omitempty"`
	// Refused is why nothing is made of it; empty if something is.
	Refused string `json:"refused,omitempty"`
}

// Value says where a value of the entities came from.
type Value struct {
	Field string `json:"field"`
	Value string `json:"value"`
	From  string `json:"from"`
	Key   string `json:"key,omitempty"`
}

// Finding is something worth knowing about a definition.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	File     string `json:"file,omitempty"`
	// Line and Column are where in the file; 0 if that is not known.
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

// Explain says what is known of a definition. It reports false if nothing is.
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

// Clusters returns the clusters of all parts, each once.
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

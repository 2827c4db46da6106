package ingest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// Found is a finding with where it is.
type Found struct {
	noted
	// Definition is what it is about; empty for workloads.
	Definition string `json:"definition,omitempty"`
	// Sources are those that have it, Clusters the clusters among them.
	Sources  []string `json:"sources"`
	Clusters []string `json:"clusters"`
}

// RuleCount says how often a rule was found.
type RuleCount struct {
	Rule string `json:"rule"`
	// Title and Why say what is wrong in general, and what comes of it.
	Title    string `json:"title,omitempty"`
	Why      string `json:"why,omitempty"`
	Severity string `json:"severity"`
	// Findings are how many there are, Definitions how many have one.
	Findings    int `json:"findings"`
	Definitions int `json:"definitions"`
}

// Findings are what is worth knowing about definitions.
type Findings struct {
	Items []Found `json:"items"`
	// TotalItems is how many there are, Rules how many of each rule.
	TotalItems int         `json:"totalItems"`
	Rules      []RuleCount `json:"rules"`
	// Pending is how many definitions have changed and were not looked at yet.
	Pending int `json:"pending"`
}

// FindingsQuery chooses among findings. What is empty wants all.
type FindingsQuery struct {
	Rule, Cluster string
	Severity      *finding.Severity
	Limit, Offset int
}

// Findings returns what was found when definitions were last looked at, the
// worst first.
func (in *Ingest) Findings(ctx context.Context, q FindingsQuery) (Findings, error) {
	out := Findings{Items: []Found{}, Rules: []RuleCount{}}
	want := mirror.Wanted{Rule: q.Rule}
	if q.Severity != nil {
		rank := int(finding.Error - *q.Severity)
		want.Severity = &rank
	}
	if q.Cluster != "" {
		want.Sources = []string{}
		for _, p := range in.places {
			if p.cluster && p.at == q.Cluster {
				want.Sources = append(want.Sources, p.name)
			}
		}
	}
	counts, err := in.Memory.CountFindings(ctx, want)
	if err != nil {
		return out, err
	}
	for _, c := range counts {
		rule := ruleOf(c.Rule)
		severity := (finding.Error - finding.Severity(c.Severity)).String()
		out.Rules = append(out.Rules, RuleCount{
			Rule: c.Rule, Title: rule.Title, Why: rule.Why, Severity: severity, Findings: c.Findings, Definitions: c.Units,
		})
		out.TotalItems += c.Findings
	}
	general, err := in.general(ctx, q)
	if err != nil {
		return out, err
	}
	out.Rules, out.TotalItems = counted(out.Rules, general), out.TotalItems+len(general)
	if out.Pending, err = in.Memory.CountUnchecked(ctx); err != nil || q.Limit == 0 {
		return out, err
	}
	// What is wrong with sources comes first.
	first := general[min(q.Offset, len(general)):]
	first = first[:min(len(first), q.Limit)]
	out.Items = append(out.Items, first...)
	if len(first) == q.Limit {
		return out, nil
	}
	known, err := in.Memory.Findings(ctx, want, q.Limit-len(first), max(0, q.Offset-len(general)))
	if err != nil {
		return out, err
	}
	placed, err := in.placed(ctx, known)
	out.Items = append(out.Items, placed...)
	return out, err
}

// placed says where findings are.
func (in *Ingest) placed(ctx context.Context, known []mirror.Finding) ([]Found, error) {
	var units []string
	for _, f := range known {
		if !slices.Contains(units, f.Unit) {
			units = append(units, f.Unit)
		}
	}
	sources, err := in.Memory.UnitSources(ctx, units)
	if err != nil {
		return nil, err
	}
	out := make([]Found, len(known))
	for i, f := range known {
		if err := json.Unmarshal(f.Body, &out[i].noted); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(f.Unit, unitWorkload) {
			out[i].Definition = f.Unit
		}
		out[i].Sources, out[i].Clusters = []string{}, []string{}
		for _, source := range sources[f.Unit] {
			out[i].Sources = append(out[i].Sources, source)
			at := slices.IndexFunc(in.places, func(p *target) bool { return p.cluster && p.name == source })
			if at >= 0 && !slices.Contains(out[i].Clusters, in.places[at].at) {
				out[i].Clusters = append(out[i].Clusters, in.places[at].at)
			}
		}
	}
	return out, nil
}

// ruleOf returns a rule by its id. One that an older program had is not known.
func ruleOf(id string) finding.Rule {
	for _, rules := range [][]finding.Rule{Rules, xrd.Rules, lint.Rules, pipeline.Rules, engine.Rules, form.Rules, entity.Rules} {
		if i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.ID == id }); i >= 0 {
			return rules[i]
		}
	}
	return finding.Rule{ID: id}
}

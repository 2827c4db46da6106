package inspect

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
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// Found is a finding with its location.
type Found struct {
	noted
	// Definition is the definition it is about; empty for workloads.
	Definition string `json:"definition,omitempty"`
	// Sources are the sources that have the definition, Clusters the clusters among them.
	Sources  []string `json:"sources"`
	Clusters []string `json:"clusters"`
}

// RuleCount is the number of findings of a rule.
type RuleCount struct {
	Rule string `json:"rule"`
	// Title and Why describe the problem in general, and its consequence.
	Title    string `json:"title,omitempty"`
	Why      string `json:"why,omitempty"`
	Severity string `json:"severity"`
	// Findings is the number of findings, Definitions the number of definitions with one.
	Findings    int `json:"findings"`
	Definitions int `json:"definitions"`
}

// Findings is a page of findings about definitions.
type Findings struct {
	Items []Found `json:"items"`
	// TotalItems is the total number of findings, Rules the number by rule.
	TotalItems int         `json:"totalItems"`
	Rules      []RuleCount `json:"rules"`
	// Pending is the number of changed definitions that were not inspected yet.
	Pending int `json:"pending"`
}

// FindingsQuery selects findings. Empty fields match all.
type FindingsQuery struct {
	Rule, Cluster string
	// Definition excludes findings about sources, too.
	Definition    string
	Severity      *finding.Severity
	Limit, Offset int
}

// Findings returns the findings of the last inspection, the most severe first, and among
// equally severe ones those about sources first.
func (in *Inspector) Findings(ctx context.Context, q FindingsQuery) (Findings, error) {
	out := Findings{Items: []Found{}, Rules: []RuleCount{}}
	want := mirror.Wanted{Rule: q.Rule, Unit: q.Definition}
	if q.Severity != nil {
		rank := int(finding.Error - *q.Severity)
		want.Severity = &rank
	}
	if q.Cluster != "" {
		want.Sources = []string{}
		for _, p := range in.opts.Targets {
			if p.Cluster && p.At == q.Cluster {
				want.Sources = append(want.Sources, p.Name)
			}
		}
	}
	counts, err := in.opts.Mirror.CountFindings(ctx, want)
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
	if out.Pending, err = in.opts.Mirror.CountUnchecked(ctx); err != nil || q.Limit == 0 {
		return out, err
	}
	// Both lists are sorted by severity. A page of the merged list holds no finding that
	// is further forward in the second list than the first is long.
	from := max(0, q.Offset-len(general))
	known, err := in.opts.Mirror.Findings(ctx, want, q.Limit+len(general), from)
	if err != nil {
		return out, err
	}
	placed, err := in.placed(ctx, known)
	if err != nil {
		return out, err
	}
	merged := append(general, placed...)
	slices.SortStableFunc(merged, bySeverity)
	page := merged[min(q.Offset-from, len(merged)):]
	out.Items = append(out.Items, page[:min(q.Limit, len(page))]...)
	return out, nil
}

// placed adds the sources and clusters to findings.
func (in *Inspector) placed(ctx context.Context, known []mirror.Finding) ([]Found, error) {
	var units []string
	for _, f := range known {
		if !slices.Contains(units, f.Unit) {
			units = append(units, f.Unit)
		}
	}
	sources, err := in.opts.Mirror.UnitSources(ctx, units)
	if err != nil {
		return nil, err
	}
	out := make([]Found, len(known))
	for i, f := range known {
		if err := json.Unmarshal(f.Body, &out[i].noted); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(f.Unit, object.UnitWorkload) {
			out[i].Definition = f.Unit
		}
		out[i].Sources, out[i].Clusters = []string{}, []string{}
		for _, source := range sources[f.Unit] {
			out[i].Sources = append(out[i].Sources, source)
			at := slices.IndexFunc(in.opts.Targets, func(p status.Target) bool { return p.Cluster && p.Name == source })
			if at >= 0 && !slices.Contains(out[i].Clusters, in.opts.Targets[at].At) {
				out[i].Clusters = append(out[i].Clusters, in.opts.Targets[at].At)
			}
		}
	}
	return out, nil
}

// ruleOf returns a rule by its ID. A rule of an older release is unknown, and returned
// with its ID only.
func ruleOf(id string) finding.Rule {
	for _, rules := range [][]finding.Rule{status.Rules, xrd.Rules, lint.Rules, pipeline.Rules, engine.Rules, form.Rules, entity.Rules} {
		if i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.ID == id }); i >= 0 {
			return rules[i]
		}
	}
	return finding.Rule{ID: id}
}

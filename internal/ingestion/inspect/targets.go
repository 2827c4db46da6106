package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/status"
)

// general returns the findings about sources rather than units that match a query, the
// most severe first.
func (in *Inspector) general(ctx context.Context, q FindingsQuery) ([]Found, error) {
	if q.Definition != "" {
		return nil, nil
	}
	conditions, err := status.Load(ctx, in.opts.Mirror)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, p := range in.opts.Targets {
		if q.Cluster != "" && (!p.Cluster || p.At != q.Cluster) {
			continue
		}
		c := conditions[p.Name]
		for _, problem := range c.Problems {
			out = append(out, foundIn(p, noted{Finding: problem.Finding, Object: problem.Object}))
		}
		if c.Selection != nil && c.Selection.Message != "" {
			out = append(out, foundIn(p, noted{Finding: status.Finding{
				Rule: status.RuleNoneSelected, Severity: finding.Warning.String(), Message: c.Selection.Message, Hint: c.Selection.Hint,
			}}))
		}
	}
	if q.Cluster == "" {
		missing, err := in.Missing(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range missing {
			out = append(out, Found{noted: noted{Finding: m.finding(), Object: m.Ref, Entity: m.Example}, Sources: []string{}, Clusters: []string{}})
		}
	}
	out = slices.DeleteFunc(out, func(f Found) bool {
		return q.Rule != "" && f.Rule != q.Rule || q.Severity != nil && f.Severity != q.Severity.String()
	})
	slices.SortStableFunc(out, bySeverity)
	return out, nil
}

// foundIn returns a finding about the target.
func foundIn(p status.Target, n noted) Found {
	f := Found{noted: n, Sources: []string{p.Name}, Clusters: []string{}}
	if p.Cluster {
		f.Clusters = append(f.Clusters, p.At)
	}
	return f
}

func bySeverity(a, b Found) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) }

// rank orders severities, the most severe first.
func rank(severity string) int {
	return slices.Index([]string{finding.Error.String(), finding.Warning.String(), finding.Info.String()}, severity)
}

// counted adds findings to the counts of their rules.
func counted(rules []RuleCount, more []Found) []RuleCount {
	for _, f := range more {
		i := slices.IndexFunc(rules, func(r RuleCount) bool { return r.Rule == f.Rule && r.Severity == f.Severity })
		if i < 0 {
			rule := ruleOf(f.Rule)
			i, rules = len(rules), append(rules, RuleCount{Rule: f.Rule, Title: rule.Title, Why: rule.Why, Severity: f.Severity})
		}
		rules[i].Findings++
	}
	slices.SortStableFunc(rules, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), strings.Compare(a.Rule, b.Rule))
	})
	return rules
}

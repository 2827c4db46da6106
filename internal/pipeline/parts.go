package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/xrd"
)

// Part is one of several variants that share a run. Its Sink is not used.
type Part struct {
	// Name is the name of the variant in the Report.
	Name string
	Options
}

// RunParts is Run for several variants, in order of precedence: a definition that an
// earlier one takes is left to it by the others, whichever copies of it they have. Of
// two entities with one name, the one built first is kept. Sources are read one after
// the other, in the order of the parts. to takes the entities of all variants; nil
// writes nothing.
func RunParts(ctx context.Context, parts []Part, to sink.Sink) (*Report, error) {
	c := &claims{taken: map[string]int{}, fallen: map[string]int{}}
	holder := map[string]string{}
	runs := make([]*run, len(parts))
	for i, p := range parts {
		c.names = append(c.names, p.Name)
		runs[i] = newRun(p, i, c, holder)
	}
	for _, r := range runs {
		if err := r.read(ctx); err != nil {
			return merged(runs), err
		}
	}
	c.settle(runs)
	for _, r := range runs {
		r.selects()
	}
	relate(runs)
	for _, r := range runs {
		if err := r.work(ctx); err != nil {
			return merged(runs), err
		}
	}
	for _, r := range runs {
		if err := r.Spill.Err(); err != nil {
			return merged(runs), err
		}
	}
	report := merged(runs)
	entity.Sort(report.Entities)
	finding.Sort(report.Findings)
	if to == nil || len(report.Entities) == 0 {
		return report, nil
	}
	runs[0].Log.Debug("write", "entities", len(report.Entities))
	return report, to.Write(ctx, report.Entities)
}

// claims records which variant takes which definition.
type claims struct {
	// names are the names of the variants.
	names []string
	// taken are the definitions that a variant takes, by name, and fallen those that
	// only a Fallback takes.
	taken, fallen map[string]int
}

// settle determines, in the order of the variants, what each takes. A definition
// without a name cannot be claimed: each variant that has one takes it.
func (c *claims) settle(runs []*run) {
	claim := func(m map[string]int, i int, d *xrd.Definition, takes bool) {
		if _, claimed := m[d.Name]; takes && !claimed && d.Name != "" {
			m[d.Name] = i
		}
	}
	for i, r := range runs {
		for _, d := range r.set.Definitions {
			claim(c.taken, i, d, r.refusal(d) == "")
			claim(c.fallen, i, d, r.Fallback != nil && r.Fallback(d))
		}
	}
}

// of returns the variant that builds the entities of a definition, and whether it
// does so only because of its Fallback.
func (c *claims) of(name string) (part int, fallback, claimed bool) {
	if i, ok := c.taken[name]; ok {
		return i, false, true
	}
	i, ok := c.fallen[name]
	return i, ok, ok
}

// left reports whether a variant leaves a definition to another, which takes it.
func (c *claims) left(part int, name string) bool {
	by, ok := c.taken[name]
	return ok && by != part
}

// merged merges the reports of the variants.
func merged(runs []*run) *Report {
	if len(runs) == 1 {
		return runs[0].report
	}
	out := &Report{Sources: map[string][]engine.Source{}, TakenBy: map[string]string{}, LeftBy: map[string][]string{}}
	why := map[string][]string{}
	var errs []error
	for _, r := range runs {
		p := r.report
		out.Documents += p.Documents
		out.Definitions = append(out.Definitions, p.Definitions...)
		out.Compositions += p.Compositions
		out.Composites += p.Composites
		out.Workloads += p.Workloads
		out.Passed = append(out.Passed, p.Passed...)
		out.Entities = append(out.Entities, p.Entities...)
		out.Withheld = append(out.Withheld, p.Withheld...)
		out.Findings = append(out.Findings, p.Findings...)
		out.Outcomes = append(out.Outcomes, p.Outcomes...)
		for name, by := range p.TakenBy {
			out.TakenBy[name] = by
		}
		for name, by := range p.LeftBy {
			out.LeftBy[name] = append(out.LeftBy[name], by...)
		}
		for name, sources := range p.Sources {
			out.Sources[name] = sources
		}
		for _, refused := range p.Refused {
			why[refused.Name] = append(why[refused.Name], r.name+": "+refused.Why)
		}
		errs = append(errs, p.ReadErr)
	}
	// If two variants read one cluster, both report its problems.
	seen := map[finding.Finding]bool{}
	out.Findings = slices.DeleteFunc(out.Findings, func(f finding.Finding) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	for name, all := range why {
		if !slices.Contains(out.Definitions, name) {
			out.Refused = append(out.Refused, Refusal{Name: name, Why: strings.Join(all, "; ")})
		}
	}
	slices.SortFunc(out.Refused, func(a, b Refusal) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(out.Outcomes, func(a, b Outcome) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(out.Definitions)
	out.ReadErr = errors.Join(errs...)
	return out
}

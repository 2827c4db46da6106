package unit

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Result is the result of transforming a unit.
type Result struct {
	// Variant is the variant that selected the unit, empty if none did; Left are those
	// that would have selected it too.
	Variant string
	Left    []string
	// Withheld are entities that the catalog would refuse.
	Withheld []string
	// Failed is why the unit could not be built; empty if it could.
	Failed   string
	Findings []finding.Finding
	Sources  []engine.Source
}

// Transform lets the first variant that selects a unit build its entities, as found at
// the given time.
func (p *Pass) Transform(ctx context.Context, unit string, from Loaded, found time.Time) ([]*entity.Entity, Result) {
	if strings.HasPrefix(unit, object.UnitWorkload) {
		return p.component(strings.TrimPrefix(unit, object.UnitWorkload), from.Objects, found)
	}
	parts, err := p.variantsOf(unit, from, found)
	if err != nil {
		return nil, Result{Failed: err.Error()}
	}
	report, err := pipeline.RunParts(ctx, parts, nil)
	if err != nil {
		return nil, Result{Failed: err.Error()}
	}
	if len(report.Definitions) == 0 {
		return nil, Result{}
	}
	name := report.Definitions[0]
	m := Result{
		Variant: report.TakenBy[name], Left: report.LeftBy[name], Withheld: report.Withheld, Findings: report.Findings, Sources: report.Sources[name],
	}
	for _, f := range report.Findings {
		if f.Rule == pipeline.RuleInternal {
			m.Failed = f.Message
		}
	}
	return report.Entities, m
}

// variantsOf returns the variants that have seen a unit's definition, each with the
// objects it has seen.
func (p *Pass) variantsOf(unit string, from Loaded, found time.Time) ([]pipeline.Part, error) {
	var out []pipeline.Part
	for _, v := range p.Variants {
		set, err := p.set(v, from.Objects)
		if err != nil {
			return nil, err
		}
		if len(set.Definitions) == 0 || !v.Definitions {
			continue
		}
		maker, transformer := v.NewEngine(found, p.caches.forms())
		if why, fails := p.Failing[unit]; fails {
			transformer = engine.TransformerFunc(func(engine.Input) (engine.Result, error) { return engine.Result{}, errors.New(why) })
		}
		out = append(out, pipeline.Part{Name: v.Name, Options: pipeline.Options{
			Source: source.Func(func(context.Context) (*xrd.Set, error) { return set, nil }),
			Engine: maker, Transformer: transformer, Filter: v.Filter, Words: v.Engine.Words, Parallelism: 1, Panicked: p.panicked(v),
			SkipLint: !p.Lint, Related: from.Parts,
		}})
	}
	return out, nil
}

// panicked returns a function that logs the stack of a panic of the engine, if that is
// configured.
func (b *Builder) panicked(v *variant.Variant) func(definition string, stack []byte) {
	return func(definition string, stack []byte) {
		if v.Stacks && b.Once.Changed("panic "+definition, string(stack)) {
			v.Log.Error("engine panicked", "definition", definition, "stack", string(stack))
		}
	}
}

// set returns the set of those objects that a variant has seen.
func (p *Pass) set(v *variant.Variant, objects []mirror.Object) (*xrd.Set, error) {
	set := &xrd.Set{}
	for i := range objects {
		o := &objects[i]
		if !v.Owns(o.Source) || len(o.Body) == 0 {
			continue
		}
		n, kept, err := p.caches.placed(o)
		if err != nil {
			return nil, err
		}
		before := len(set.Definitions)
		set.Add(n, kept.Origin)
		for _, d := range set.Definitions[before:] {
			at := p.statuses[o.Source]
			for _, kind := range at.UnservedKinds(kept.Kinds) {
				d.NotServed(kind)
			}
		}
	}
	return set, nil
}

// component builds the entity of workloads.
func (p *Pass) component(id string, objects []mirror.Object, at time.Time) ([]*entity.Entity, Result) {
	for _, v := range p.Variants {
		if !v.Workloads {
			continue
		}
		set, err := p.set(v, objects)
		if err != nil {
			return nil, Result{Failed: err.Error()}
		}
		if len(set.Others) == 0 {
			continue
		}
		maker, _ := v.NewEngine(at, nil)
		res, withheld := pipeline.Component(maker, id, set.Others, p.panicked(v))
		m := Result{Variant: v.Name, Findings: res.Findings, Withheld: withheld}
		for _, f := range res.Findings {
			if f.Rule == pipeline.RuleInternal {
				m.Failed = f.Message
			}
		}
		return res.Entities, m
	}
	return nil, Result{}
}

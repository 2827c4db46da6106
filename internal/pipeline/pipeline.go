// Package pipeline runs source, engine and sink: it reads definitions, selects among
// them, checks and transforms them concurrently, and writes the entities. The Report
// says what it did.
package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// RuleInternal is the rule for a definition on which the engine failed.
const RuleInternal = "ENG000"

// Failed is the prefix of the message of RuleInternal.
const Failed = "cannot transform the definition: "

// Rules are all rules about runs.
var Rules = []finding.Rule{{
	ID: RuleInternal, Severity: finding.Error, Title: "definition cannot be transformed",
	Why: "The engine or a hook failed. Other definitions are not affected.",
}}

// Options configure a run.
type Options struct {
	// Source is read once.
	Source source.Source
	// Engine names the entities and builds their surroundings; it also transforms unless
	// Transformer is set.
	Engine      *engine.Engine
	Transformer engine.Transformer
	// Sink takes the entities; nil writes nothing.
	Sink sink.Sink
	// Discard drops entities once they are checked, for runs that only want findings. It
	// requires a nil Sink.
	Discard bool
	// Spill, if not nil, is the one that the Source gives its trees to. It also takes
	// the entities once they are checked: those in the Report are loaded with their
	// method Whole, until the Spill is closed. Sources are not reported.
	Spill *Spill
	// Related are the composites of definitions outside of the Source that have a Resource.
	Related []engine.CompositeKey
	// Chooser selects among the definitions; nil means the engine's profile.
	Chooser *engine.Profile
	// Filter selects among the definitions, after the profile.
	Filter xrd.Filter
	// Fallback, if not nil, reports which of the definitions that profile and Filter
	// refuse are taken anyway, for runs that show what would be built from them. It does
	// not apply to a definition that another variant takes.
	Fallback func(*xrd.Definition) bool
	// SkipValidation skips all checks of definitions and entities.
	SkipValidation bool
	// SkipLint skips only the checks of definitions, for runs that do not need their
	// findings.
	SkipLint bool
	// Composites validates composites and claims against their definitions.
	Composites bool
	// Surroundings adds the System and Domain that the entities belong to, in the chosen
	// vocabulary.
	Surroundings bool
	Words        words.Choice
	// Parallelism is how many definitions are transformed concurrently; 0 means one per
	// processor.
	Parallelism int
	// Progress, if not nil, receives how many definitions are done. It may be called by
	// several goroutines concurrently.
	Progress func(done, total int)
	// Panicked, if not nil, receives a definition on which the engine or a hook
	// panicked, and the stack. It may be called by several goroutines concurrently.
	Panicked func(definition string, stack []byte)
	// Log receives details of the run; nil logs nothing.
	Log *slog.Logger
}

// Report is the result of a run.
type Report struct {
	// Documents counts the documents that were read.
	Documents int
	// Definitions are the names of the selected definitions, Refused those that were not
	// selected.
	Definitions []string
	Refused     []Refusal
	// Compositions and Composites count those that belong to the selected definitions.
	Compositions, Composites int
	// Passed are the kinds of objects from which nothing was built.
	Passed []Passed
	// Entities are in the order in which they were written, Withheld are the references
	// of those that the catalog would refuse.
	Entities []*entity.Entity
	Withheld []string
	Findings []finding.Finding
	// Outcomes are the results for each selected definition, in their order.
	Outcomes []Outcome
	// Sources are, by definition, where values came from.
	Sources map[string][]engine.Source
	// TakenBy is, by definition, the variant that took it, and LeftBy those that would
	// have. A definition taken by a Fallback is in neither.
	TakenBy map[string]string
	LeftBy  map[string][]string
	// Workloads counts the objects from which Components were built.
	Workloads int
	// ReadErr joins the errors of what could not be read; everything else was read.
	ReadErr error
}

// Outcome is the result for one definition.
type Outcome struct {
	Name string
	// Findings are those about the definition, about what belongs to it and about what
	// was built from it. The Report contains them too.
	Findings []finding.Finding
}

// Refusal is a definition that was not selected, and the reason.
type Refusal struct {
	Name, Why string
}

// Passed counts objects of a kind from which nothing was built.
type Passed struct {
	APIVersion, Kind string
	Count            int
	// Why is the reason, unless it is that the kind is unrelated.
	Why string
}

// Run reads, selects, transforms, checks and writes. The error is one that prevented
// it from finishing; problems with the input are in the Report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	return RunParts(ctx, []Part{{Options: opts}}, opts.Sink)
}

// run is the run of one variant.
type run struct {
	Options
	name string
	// index is the index of the variant, claims what all variants take.
	index  int
	claims *claims
	// holder is the definition that has an entity, by the entity's reference. All
	// variants share it.
	holder map[string]string
	set    *xrd.Set
	// inputs and workloads are what entities are built from.
	inputs    []engine.Input
	workloads []*xrd.Object
	// copies are, by definition, composites that are only validated.
	copies map[*xrd.Definition][]*xrd.Composite
	report *Report
}

func newRun(p Part, index int, c *claims, holder map[string]string) *run {
	r := &run{Options: p.Options, name: p.Name, index: index, claims: c, holder: holder}
	if r.Transformer == nil {
		r.Transformer = r.Engine
	}
	if r.Parallelism <= 0 {
		r.Parallelism = runtime.GOMAXPROCS(0)
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	r.report = &Report{Sources: map[string][]engine.Source{}, TakenBy: map[string]string{}, LeftBy: map[string][]string{}}
	return r
}

// read reads the source of the variant.
func (r *run) read(ctx context.Context) error {
	r.set, r.report.ReadErr = r.Source.Read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.report.Documents = r.set.Documents
	r.report.Findings = append(r.report.Findings, r.set.Findings...)
	r.Log.Debug("read", "documents", r.set.Documents, "definitions", len(r.set.Definitions),
		"compositions", len(r.set.Compositions), "others", len(r.set.Others))
	return nil
}

// selects selects the inputs of the variant.
func (r *run) selects() {
	r.workloads, r.inputs = r.set.Workloads, r.choose(r.set)
	r.set = nil
}

// work builds the entities of the variant.
func (r *run) work(ctx context.Context) error {
	workloads, inputs := r.workloads, r.inputs
	// Definitions are large, and are released one by one.
	r.workloads, r.inputs = nil, nil
	if err := r.transform(ctx, inputs); err != nil {
		return err
	}
	r.components(workloads)
	return nil
}

// outcome is the result for a definition, and what is still needed of it.
type outcome struct {
	engine.Result
	withheld []string
	name     string
	origin   xrd.Origin
	at       tree.Pos
	words    words.Vocabulary
}

func newOutcome(res engine.Result, withheld []string, d *xrd.Definition) outcome {
	return outcome{Result: res, withheld: withheld, name: d.Name, origin: d.Origin, at: d.Node.At(), words: d.Words}
}

// transform transforms all inputs concurrently and keeps their order.
func (r *run) transform(ctx context.Context, inputs []engine.Input) error {
	results := make([]outcome, len(inputs))
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(r.Parallelism, len(inputs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(inputs) {
					return
				}
				res, withheld := r.one(ctx, inputs[i])
				results[i] = newOutcome(res, withheld, inputs[i].Definition)
				if r.Discard {
					results[i].Entities = bare(results[i].Entities)
				}
				if r.Spill != nil {
					r.Spill.release(&results[i].Result)
				}
				// A definition is large, and no longer needed.
				inputs[i] = engine.Input{}
				if n := int(done.Add(1)); r.Progress != nil {
					r.Progress(n, len(inputs))
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	systems := words.Upstream
	for i := range results {
		o := &results[i]
		o.Findings = append(o.Findings, r.keep(o)...)
		r.report.Findings = append(r.report.Findings, o.Findings...)
		r.report.Outcomes = append(r.report.Outcomes, Outcome{Name: o.name, Findings: o.Findings})
		r.report.Sources[o.name] = o.Sources
		r.report.Withheld = append(r.report.Withheld, o.withheld...)
		if o.words != words.Upstream {
			systems = words.Portal
		}
	}
	if r.Surroundings && len(results) > 0 {
		around := r.Engine.Surroundings(r.report.Entities, results[0].origin.SourceLocation(), r.Words.For(systems))
		for _, e := range around {
			fs := entity.Check(e)
			if r.SkipValidation || finding.Count(fs, finding.Error) == 0 {
				r.report.Entities = append(r.report.Entities, e)
			}
			if !r.SkipValidation {
				r.report.Findings = append(r.report.Findings, fs...)
			}
		}
	}
	return nil
}

// keep adds entities to the report. Of two with the same reference the first is kept;
// definitions are sorted by name, so that the result is deterministic. The other is
// reported.
func (r *run) keep(o *outcome) (clashes []finding.Finding) {
	for _, e := range o.Entities {
		key := e.Key()
		first, taken := r.holder[key]
		if !taken {
			r.holder[key] = o.name
			if e.Spec != nil {
				r.report.Entities = append(r.report.Entities, e)
			}
			continue
		}
		clashes = append(clashes, finding.Finding{
			Rule: entity.RuleDuplicate, Severity: finding.Error, Object: key, Path: "metadata.name",
			File: o.origin.File, Pos: o.at,
			Message: fmt.Sprintf("entity %s of definition %q skipped: definition %q has an entity of that name", key, o.name, first),
			Hint:    "rename one of the two",
		})
	}
	return clashes
}

// lint returns the findings about a definition and its Compositions.
func (r *run) lint(d *xrd.Definition, compositions []*xrd.Composition) []finding.Finding {
	var required []string
	if l := r.Engine.Profile().RequiredLabel; l != "" {
		required = append(required, l)
	}
	found := lint.Definition(d, lint.Options{RequiredLabels: required, Schemas: structural.Checker{}})
	for _, c := range compositions {
		found = append(found, lint.Composition(c)...)
	}
	return found
}

// one checks and transforms one definition. A definition on which the engine fails
// does not affect the others.
func (r *run) one(ctx context.Context, in engine.Input) (res engine.Result, withheld []string) {
	d := in.Definition
	defer func() {
		if p := recover(); p != nil {
			if r.Panicked != nil {
				r.Panicked(d.Name, debug.Stack())
			}
			res = engine.Result{Findings: []finding.Finding{failure(d, fmt.Sprint(p))}}
		}
	}()
	copies := r.copies[d]
	in = whole(in)
	d = in.Definition
	res, err := r.Transformer.Transform(in)
	if err != nil {
		res.Findings = append(res.Findings, failure(d, err.Error()))
	}
	if r.SkipValidation {
		return res, nil
	}
	if !r.SkipLint {
		res.Findings = append(res.Findings, r.lint(d, in.Compositions)...)
	}
	if r.Composites {
		all := slices.Clip(in.Composites)
		for _, c := range copies {
			all = append(all, c.Whole(d))
		}
		res.Findings = append(res.Findings, structural.CheckComposites(ctx, d, all)...)
	}
	return checked(res, d.Origin.File, d.Node.At())
}

// checked removes entities that the catalog would refuse, and reports why. The
// findings have the position of the object that the entities were built from.
func checked(res engine.Result, file string, at tree.Pos) (kept engine.Result, withheld []string) {
	good := res.Entities[:0]
	for _, e := range res.Entities {
		fs := entity.Check(e)
		for i := range fs {
			fs[i].File, fs[i].Pos = file, at
		}
		res.Findings = append(res.Findings, fs...)
		if finding.Count(fs, finding.Error) > 0 {
			withheld = append(withheld, e.Key())
			continue
		}
		good = append(good, e)
	}
	res.Entities = good
	return res, withheld
}

// bare returns entities with only what is needed to compare their references.
func bare(es []*entity.Entity) []*entity.Entity {
	out := make([]*entity.Entity, len(es))
	for i, e := range es {
		out[i] = &entity.Entity{Kind: e.Kind, Metadata: entity.Metadata{Name: strings.Clone(e.Metadata.Name), Namespace: strings.Clone(e.Metadata.Namespace)}}
	}
	return out
}

func failure(d *xrd.Definition, message string) finding.Finding {
	return finding.Finding{
		Rule: RuleInternal, Severity: finding.Error, Object: d.Name, File: d.Origin.File, Pos: d.Node.At(),
		Message: Failed + message,
		Hint:    "other definitions are not affected",
	}
}

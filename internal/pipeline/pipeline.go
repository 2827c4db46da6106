// Package pipeline runs source, engine and sink: it reads definitions,
// chooses among them, has them checked and transformed side by side, and
// hands the entities on. What it did is in its Report.
package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
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

// RuleInternal is a definition that made the engine fail.
const RuleInternal = "ENG000"

// Failed is what the message of RuleInternal begins with.
const Failed = "cannot transform the definition: "

// Rules are all rules about runs.
var Rules = []finding.Rule{{
	ID: RuleInternal, Severity: finding.Error, Title: "definition cannot be transformed",
	Why: "The engine, or a hook, failed on it. The other definitions are not affected.",
}}

// Options are the parts of a run.
type Options struct {
	// Source is read once.
	Source source.Source
	// Engine names and surrounds; it also transforms unless Transformer is
	// set.
	Engine      *engine.Engine
	Transformer engine.Transformer
	// Sink takes the entities; nil writes nothing.
	Sink sink.Sink
	// Discard lets go of entities once they are checked, for runs that only
	// want to know what is wrong. It needs a nil Sink.
	Discard bool
	// Spill, if not nil, is what the Source gives its trees to, and takes the
	// entities once they are checked: those of the Report are read back with
	// their method Whole, until the Spill is closed. Sources are not reported.
	Spill *Spill
	// Chooser chooses among the definitions; nil means the engine's profile.
	Chooser *engine.Profile
	// Filter chooses among the definitions, after the profile has.
	Filter xrd.Filter
	// Fallback, if not nil, says which of the definitions that profile and
	// Filter refuse are taken all the same, for runs that show what would be made
	// of them. A definition that another part takes is not asked for.
	Fallback func(*xrd.Definition) bool
	// SkipValidation leaves out all checks of definitions and entities.
	SkipValidation bool
	// SkipLint leaves out the checks of definitions alone, for runs in which
	// nobody asks what is wrong with them.
	SkipLint bool
	// Surroundings adds the System and Domain the entities belong to, in the
	// vocabulary chosen.
	Surroundings bool
	Words        words.Choice
	// Parallelism is how many definitions are worked on at once; 0 means one
	// for each processor.
	Parallelism int
	// Progress, if not nil, is told how many definitions are done. It may be
	// called by several goroutines at once.
	Progress func(done, total int)
	// Panicked, if not nil, is told of a definition on which the engine or a
	// hook panicked, and where. It may be called by several goroutines at once.
	Panicked func(definition string, stack []byte)
	// Log is for details of the run; nil logs nothing.
	Log *slog.Logger
}

// Report is what a run did.
type Report struct {
	// Documents counts the documents that were read.
	Documents int
	// Definitions are the names of those that were chosen, Refused those that
	// were not.
	Definitions []string
	Refused     []Refusal
	// Compositions and Composites count those that belong to the chosen
	// definitions.
	Compositions, Composites int
	// Passed are the kinds of objects nothing was made of.
	Passed []Passed
	// Entities are in the order they were written, Withheld the references of
	// those that the catalog would refuse.
	Entities []*entity.Entity
	Withheld []string
	Findings []finding.Finding
	// Outcomes are what became of each chosen definition, in their order.
	Outcomes []Outcome
	// Sources say, by definition, where values came from.
	Sources map[string][]engine.Source
	// TakenBy says, by definition, which part took it, and LeftBy which others
	// would have. One that was taken by a Fallback is in neither.
	TakenBy map[string]string
	LeftBy  map[string][]string
	// Workloads counts the objects that Components were made of.
	Workloads int
	// ReadErr joins what could not be read; everything else was.
	ReadErr error
}

// Outcome is what became of one definition.
type Outcome struct {
	Name string
	// Findings are those about the definition, about what belongs to it and
	// about what was made of it. They are among the Report's.
	Findings []finding.Finding
}

// Refusal is a definition that was not chosen, and why.
type Refusal struct {
	Name, Why string
}

// Passed counts objects of a kind that nothing was made of.
type Passed struct {
	APIVersion, Kind string
	Count            int
	// Why says why, if it is not that the kind is a foreign one.
	Why string
}

// Run reads, chooses, transforms, checks and writes. The error is one that
// kept it from finishing; what is wrong with the input is in the Report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	return RunParts(ctx, []Part{{Options: opts}}, opts.Sink)
}

// run is the run of one part.
type run struct {
	Options
	name string
	// index is the part's place among all, claims what they take.
	index  int
	claims *claims
	// holder is the definition that has an entity, by the entity's reference. All
	// parts share it.
	holder map[string]string
	set    *xrd.Set
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

// read reads the part's source.
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

// work makes the part's entities.
func (r *run) work(ctx context.Context) error {
	workloads, inputs := r.set.Workloads, r.choose(r.set)
	// Definitions are large, and go one by one.
	r.set = nil
	if err := r.transform(ctx, inputs); err != nil {
		return err
	}
	r.components(workloads)
	return nil
}

// outcome is what became of a definition, and what is still needed of it.
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

// transform works on all inputs side by side and keeps their order.
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
				res, withheld := r.one(inputs[i])
				results[i] = newOutcome(res, withheld, inputs[i].Definition)
				if r.Discard {
					results[i].Entities = bare(results[i].Entities)
				}
				if r.Spill != nil {
					r.Spill.release(&results[i].Result)
				}
				// A definition is large, and not needed any more.
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

// keep adds entities to the report. Of two with the same reference the first
// stays; definitions come in the order of their names, so that it is always
// the same one. The other is reported.
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
			Message: fmt.Sprintf("entity %s of definition %q is left out: definition %q has one of that name", key, o.name, first),
			Hint:    "give one of the two another name",
		})
	}
	return clashes
}

// lint returns what is wrong with a definition and its Compositions.
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

// one checks and transforms one definition. A definition that makes the
// engine fail costs no other its place.
func (r *run) one(in engine.Input) (res engine.Result, withheld []string) {
	d := in.Definition
	defer func() {
		if p := recover(); p != nil {
			if r.Panicked != nil {
				r.Panicked(d.Name, debug.Stack())
			}
			res = engine.Result{Findings: []finding.Finding{failure(d, fmt.Sprint(p))}}
		}
	}()
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
	return checked(res, d.Origin.File, d.Node.At())
}

// checked takes out what the catalog would refuse, and says why. What is wrong
// is told of the place that the entities were made of.
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

// bare returns entities without what makes them large: their references are
// still to be compared.
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
		Hint:    "the other definitions are not affected",
	}
}

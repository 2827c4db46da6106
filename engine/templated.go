package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// TemplateOptions are what a caller may choose about templates. The zero value
// gives the defaults.
type TemplateOptions struct {
	// Values override those of the folder's metadata.yaml, key by key. They are
	// what tree.From takes.
	Values map[string]any
	// OnError says what is done when a template cannot be used.
	OnError folder.OnError
}

// Templated is a Transformer that makes entities with a template folder. It is
// safe for use by several goroutines at once, as far as the engine's hooks are.
type Templated struct {
	engine *Engine
	folder *folder.Folder
	opts   TemplateOptions
	// dayTwo adds Templates for resources that are there to those that the
	// folder makes, instead of to the engine's own.
	dayTwo bool
}

// Templated returns a Transformer that makes entities with the templates of f.
// The engine settles names, owners and forms, which templates ask it for, and
// its hooks are called around them. One set of entities is made of a
// definition, for the version a single Template is made for.
func (e *Engine) Templated(f *folder.Folder, opts TemplateOptions) *Templated {
	own := *e
	own.profile.EveryVersion, own.opts.DayTwo = false, false
	return &Templated{engine: &own, folder: f, opts: opts, dayTwo: e.opts.DayTwo}
}

// Transform makes the entities of one definition. A template that cannot be
// used is a *folder.Error; entities that a catalog would refuse are findings.
func (x *Templated) Transform(in Input) (Result, error) {
	return x.TransformContext(context.Background(), in)
}

// TransformContext is Transform that ends early with its context.
func (x *Templated) TransformContext(ctx context.Context, in Input) (Result, error) {
	r, err := x.begin(in)
	if err != nil {
		return Result{}, err
	}
	choice, found, err := x.folder.Choose(r.t.def, x.opts.OnError)
	if err != nil {
		return Result{}, err
	}
	r.t.out.Findings = append(r.t.out.Findings, found...)
	out, err := r.render(ctx, choice)
	if err != nil {
		return Result{}, err
	}
	r.t.out.Findings = append(r.t.out.Findings, out.Findings...)
	r.t.out.Findings = append(r.t.out.Findings, out.DropUnsafeURLs(r.t.def)...)
	r.t.out.Entities = nil
	for _, doc := range out.Documents {
		r.complete(doc.Entity)
		r.t.out.Entities = append(r.t.out.Entities, doc.Entity)
	}
	if x.dayTwo && r.version != nil {
		r.addDayTwo()
	}
	r.t.out.Findings = append(r.t.out.Findings, out.Check(r.t.def)...)
	if err := r.t.finish(); err != nil {
		return Result{}, err
	}
	return r.t.out, nil
}

// Choose returns the files that are used for a definition.
func (x *Templated) Choose(in Input) (folder.Choice, []finding.Finding, error) {
	in, err := x.engine.preProcess(in)
	if err != nil {
		return folder.Choice{}, nil, err
	}
	return x.folder.Choose(in.Definition, x.opts.OnError)
}

// See returns what the templates see that are used for a definition: xrd,
// metadata, and the names of the helpers.
func (x *Templated) See(in Input) (*tree.Node, error) {
	r, choice, err := x.chosen(in)
	if err != nil {
		return nil, err
	}
	return x.folder.See(choice, r.context())
}

// Text returns what the templates make of a definition before it is read.
func (x *Templated) Text(ctx context.Context, in Input) (string, error) {
	r, choice, err := x.chosen(in)
	if err != nil {
		return "", err
	}
	return x.folder.Text(ctx, choice, r.context())
}

func (x *Templated) chosen(in Input) (*rendering, folder.Choice, error) {
	r, err := x.begin(in)
	if err != nil {
		return nil, folder.Choice{}, err
	}
	choice, _, err := x.folder.Choose(r.t.def, x.opts.OnError)
	return r, choice, err
}

// rendering is one definition on its way through templates.
type rendering struct {
	*Templated
	t *transformation
	// own are the entities the engine makes without templates.
	own []*entity.Entity
	// template is the Template among them, nil if nobody could create a
	// resource of the definition; version is what it was made for.
	template *entity.Entity
	version  *xrd.Version
}

// begin lets the engine settle everything that templates may ask for.
func (x *Templated) begin(in Input) (*rendering, error) {
	in, err := x.engine.preProcess(in)
	if err != nil {
		return nil, err
	}
	r := &rendering{Templated: x, t: newTransformation(x.engine, in)}
	r.t.run()
	r.own = r.t.out.Entities
	if i := slices.IndexFunc(r.own, func(e *entity.Entity) bool { return e.Kind == entity.KindTemplate }); i >= 0 {
		r.template, r.version = r.own[i], r.t.def.Preferred()
	}
	return r, nil
}

// render renders the chosen files. If they fail and the options say so, the
// default is rendered instead.
func (r *rendering) render(ctx context.Context, choice folder.Choice) (folder.Rendered, error) {
	in := r.context()
	out, err := r.folder.Render(ctx, choice, in)
	fallback := r.folder.Fallback()
	var failed *folder.Error
	if errors.As(err, &failed) && r.opts.OnError == folder.UseDefault && choice != fallback && ctx.Err() == nil {
		out, err = r.folder.Render(ctx, fallback, in)
		if err == nil {
			f := failed.Finding
			f.Rule, f.Severity = folder.RuleFallback, finding.Warning
			f.Message += ", so " + fallback.Portal.Path + " is used"
			out.Findings = append(out.Findings, f)
		}
	}
	if err != nil {
		return folder.Rendered{}, err
	}
	if r.template == nil && len(out.Documents) == 0 {
		// Nobody could create a resource of it, which is said already.
		out.Findings = slices.DeleteFunc(out.Findings, func(f finding.Finding) bool { return f.Rule == folder.RuleEntity })
	}
	return out, nil
}

// complete adds to an entity what a catalog needs of every one and a template
// need not write: its namespace, and where its definition was found.
func (r *rendering) complete(e *entity.Entity) {
	if e.Metadata.Namespace == "" {
		e.Metadata.Namespace = r.t.namespace
	}
	added := r.t.annotations(r.t.def.Origin)
	// What the template says goes before, in either vocabulary.
	maps.Copy(added, e.Metadata.Annotations)
	e.Metadata.Annotations = added
}

// addDayTwo adds Templates for resources that are there to those the templates
// made. One that they made themselves goes before.
func (r *rendering) addDayTwo() {
	all := r.t.out.Entities
	for _, e := range all {
		if e.Kind != entity.KindTemplate {
			continue
		}
		for _, more := range r.t.dayTwo(e, e.Metadata.Name, r.version, r.t.fixed) {
			if !slices.ContainsFunc(all, func(o *entity.Entity) bool { return o.Key() == more.Key() }) {
				r.t.out.Entities = append(r.t.out.Entities, more)
			}
		}
	}
}

// Request is one definition to transform with templates.
type Request struct {
	// XRD is the definition, as an extract record has it.
	XRD *tree.Node
	// Templates are folders that lie over each other, the lowest first; none
	// means the engine's own entities.
	Templates []fs.FS
	// Context says where the definition was found, such as its path or cluster.
	Context map[string]string
	// Values override those of the folder's metadata.yaml.
	Values map[string]any
	// OnError says what is done when a template cannot be used.
	OnError folder.OnError
	// Options are the engine's.
	Options Options
}

// Transform makes entities of one definition with a template folder, in one
// call. Whoever has several definitions opens the folder once and uses
// Templated, which compiles each template once.
func Transform(ctx context.Context, q Request) (Result, error) {
	if !q.XRD.IsMap() {
		return Result{}, errors.New("cannot transform: there is no definition")
	}
	record := xrd.Record{Source: q.Context["source"], XRD: q.XRD, Metadata: q.Context}
	d := xrd.NewDefinition(q.XRD, record.Origin(xrd.Origin{File: q.Context["path"]}))
	e := New(Concept, q.Options, Hooks{})
	in := Input{Definition: d, Context: q.Context}
	if d.Origin.Cluster != "" {
		in.Clusters = []string{d.Origin.Cluster}
	}
	if len(q.Templates) == 0 {
		return e.Transform(in)
	}
	f, err := folder.Open(q.Templates...)
	if err != nil {
		return Result{}, fmt.Errorf("cannot open the templates: %w", err)
	}
	return e.Templated(f, TemplateOptions{Values: q.Values, OnError: q.OnError}).TransformContext(ctx, in)
}

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

// TemplateOptions are the caller's options for templates. The zero value gives the
// defaults.
type TemplateOptions struct {
	// Values override the values of the folder's metadata.yaml, key by key. Their types are
	// those that tree.From accepts.
	Values map[string]any
	// OnError says what to do when a template cannot be used.
	OnError folder.OnError
}

// Templated is a Transformer that makes entities with a template folder. It is safe for
// concurrent use if the engine's hooks are.
type Templated struct {
	engine *Engine
	folder *folder.Folder
	opts   TemplateOptions
	// dayTwo adds Templates for existing resources to the folder's Templates instead of to
	// the engine's own.
	dayTwo bool
}

// Templated returns a Transformer that makes entities with the templates of f. The
// engine provides names, owners and forms to the templates and calls its hooks around
// them. A definition gets one set of entities, for the version that a single Template is
// made for.
func (e *Engine) Templated(f *folder.Folder, opts TemplateOptions) *Templated {
	own := *e
	own.profile.EveryVersion, own.opts.DayTwo = false, false
	return &Templated{engine: &own, folder: f, opts: opts, dayTwo: e.opts.DayTwo}
}

// Transform makes the entities of one definition. An unusable template gives a
// *folder.Error; entities that a catalog would reject are reported as findings.
func (x *Templated) Transform(in Input) (Result, error) {
	return x.TransformContext(context.Background(), in)
}

// TransformContext is Transform with a context that can cancel it.
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

// Choose returns the files to use for a definition.
func (x *Templated) Choose(in Input) (folder.Choice, []finding.Finding, error) {
	in, err := x.engine.preProcess(in)
	if err != nil {
		return folder.Choice{}, nil, err
	}
	return x.folder.Choose(in.Definition, x.opts.OnError)
}

// See returns the data that the templates used for a definition see: xrd, metadata, and
// the names of the helpers.
func (x *Templated) See(in Input) (*tree.Node, error) {
	r, choice, err := x.chosen(in)
	if err != nil {
		return nil, err
	}
	return x.folder.See(choice, r.context())
}

// Text returns the output of the templates for a definition before it is parsed.
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

// rendering is the state of rendering one definition with templates.
type rendering struct {
	*Templated
	t *transformation
	// own are the entities that the engine makes without templates.
	own []*entity.Entity
	// template is the Template among own, nil if no resource of the definition can be
	// created; version is the version it was made for.
	template *entity.Entity
	version  *xrd.Version
}

// begin computes everything that templates may ask the engine for.
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

// render renders the chosen files. If they fail and the options allow it, render uses
// the default files instead.
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
		// No resource of the definition can be created, which is already reported.
		out.Findings = slices.DeleteFunc(out.Findings, func(f finding.Finding) bool { return f.Rule == folder.RuleEntity })
	}
	return out, nil
}

// complete adds to an entity what a catalog requires and a template need not write: its
// namespace and the origin of its definition.
func (r *rendering) complete(e *entity.Entity) {
	if e.Metadata.Namespace == "" {
		e.Metadata.Namespace = r.t.namespace
	}
	added := r.t.annotations(r.t.def.Origin)
	// Annotations of the template override these, in either vocabulary.
	maps.Copy(added, e.Metadata.Annotations)
	e.Metadata.Annotations = added
}

// addDayTwo adds Templates for existing resources to the Templates that the folder made.
// Templates of the same name made by the folder take precedence.
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
	// Templates are layered folders, the lowest first; none means the engine's own
	// entities.
	Templates []fs.FS
	// Context says where the definition was found, such as its path or cluster.
	Context map[string]string
	// Values override the values of the folder's metadata.yaml.
	Values map[string]any
	// OnError says what to do when a template cannot be used.
	OnError folder.OnError
	// Options are the options of the engine.
	Options Options
}

// Transform makes entities from one definition with a template folder, in one call. For
// several definitions, open the folder once and use Templated, which compiles each
// template once.
func Transform(ctx context.Context, q Request) (Result, error) {
	if !q.XRD.IsMap() {
		return Result{}, errors.New("cannot transform: no definition given")
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
		return Result{}, fmt.Errorf("cannot open templates: %w", err)
	}
	return e.Templated(f, TemplateOptions{Values: q.Values, OnError: q.OnError}).TransformContext(ctx, in)
}

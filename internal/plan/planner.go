package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
	"example.dev/ingestor/xrd/structural"
)

// Options configure a Planner.
type Options struct {
	// Render renders composites; nil means that plans are off.
	Render *render.Renderer
	// Functions are the functions whose endpoints are configured.
	Functions []Endpoint
}

// Planner makes plans. It is safe for concurrent use.
type Planner struct{ opts Options }

// New returns a Planner.
func New(opts Options) *Planner { return &Planner{opts} }

// HowToTurnOn says how plans are turned on.
const HowToTurnOn = "set plan.program to the path of the program crossplane"

// On reports whether plans can be made.
func (p *Planner) On() bool { return p.opts.Render != nil }

// Request is what to plan.
type Request struct {
	// Cluster is the name of the cluster; empty if everything is read from files.
	Cluster string
	// Manifest is a composite or claim, which may exist.
	Manifest *tree.Node
	// Merge keeps fields of the live object that the manifest leaves out. Otherwise those
	// are removed that only people and their tools have set.
	Merge   bool
	Source  Source
	Machine Machine
	// Authorize returns an error unless the caller may read the objects that a reference
	// stands for, which a function asks for; its name may be empty. Nil means that the
	// source decides alone.
	Authorize func(ctx context.Context, ref composed.Ref) error
}

const (
	// mostDepth and mostComposites limit nested composites, and mostObjects the objects of
	// a plan.
	mostDepth      = 8
	mostComposites = 25
	mostObjects    = 1000
	// mostRead limits the objects that are read for a plan, in bytes.
	mostRead = 64 << 20
)

// job is one plan that is made.
type job struct {
	planner *Planner
	Request
	source  Source
	machine Machine
	session *render.Session
	plan    *Plan
	// found are the functions, and definitions the definitions of kinds, that were looked up.
	found       map[string]render.Function
	definitions map[string]*xrd.Definition
	// kinds are the kinds whose schemas were compiled.
	kinds map[kindKey]*structural.Kind
	// generated maps names and uids that are invented for the renderer to what is shown
	// instead, and invented replaces them. usesUID reports that a value has an invented uid.
	generated map[string]string
	invented  *strings.Replacer
	usesUID   bool
	// composites counts those that were rendered, and read the bytes of the objects that
	// were read for them.
	composites int
	read       atomic.Int64
}

// Plan makes a plan. The error is an *Error, a *cluster.Error, or that of the context.
func (p *Planner) Plan(ctx context.Context, req Request) (*Plan, error) {
	if !p.On() {
		return nil, &Error{Reason: Off, Err: errors.New("plans are not configured"), Hint: "ask the operators of the portal", Operator: HowToTurnOn}
	}
	session, err := p.opts.Render.Begin(ctx)
	if err != nil {
		return nil, explain(err)
	}
	defer session.Close()
	j := &job{
		planner: p, Request: req, source: req.Source, machine: req.Machine, session: session,
		plan:  &Plan{Cluster: req.Cluster, Objects: []Object{}, Results: []Result{}, Conditions: []Condition{}, Unknown: []Unknown{}},
		found: map[string]render.Function{}, definitions: map[string]*xrd.Definition{}, kinds: map[kindKey]*structural.Kind{}, generated: map[string]string{},
	}
	c, err := j.begin(session.Context())
	if err == nil {
		err = j.compose(session.Context(), c)
	}
	if err != nil {
		_, rendered := errors.AsType[*render.Error](err)
		if !rendered && ctx.Err() == nil && session.Context().Err() != nil {
			// The cause is more precise than what a canceled read says.
			return nil, explain(session.Err())
		}
		return nil, explain(err)
	}
	j.finish()
	return j.plan, nil
}

// kindKey names a kind of a definition.
type kindKey struct {
	definition, version string
	claim               bool
}

// kind returns a kind of a definition, whose schema is compiled once.
func (j *job) kind(d *xrd.Definition, version string, claim bool) (*structural.Kind, error) {
	key := kindKey{d.Label(), version, claim}
	if k := j.kinds[key]; k != nil {
		return k, nil
	}
	k, err := structural.NewKind(d, version, claim)
	if err == nil {
		j.kinds[key] = k
	}
	return k, err
}

// unknown adds something that cannot be known before.
func (j *job) unknown(subject, format string, args ...any) {
	u := Unknown{Subject: subject, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(j.plan.Unknown, u) {
		j.plan.Unknown = append(j.plan.Unknown, u)
	}
}

// definition returns the definition of the composites of a kind, nil if there is none.
func (j *job) definition(ctx context.Context, apiVersion, kind string) (*xrd.Definition, error) {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok || !strings.Contains(group, ".") {
		return nil, nil
	}
	key := group + "/" + kind
	if d, ok := j.definitions[key]; ok {
		return d, nil
	}
	plural, _, err := j.source.Kind(ctx, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	n, err := j.source.Get(ctx, composed.Ref{APIVersion: extensions, Kind: kindDefinition, Name: plural + "." + group})
	if isAbsent(err) {
		// The cluster has no Crossplane.
		err = nil
	}
	if err != nil {
		return nil, err
	}
	var d *xrd.Definition
	if n != nil {
		d = xrd.NewDefinition(n, xrd.Origin{})
	}
	j.definitions[key] = d
	return d, nil
}

// definitionOf returns the definition of the kind of the manifest, and whether it is that
// of a claim.
func (j *job) definitionOf(ctx context.Context, apiVersion, kind string) (d *xrd.Definition, claim bool, err error) {
	if d, err = j.definition(ctx, apiVersion, kind); err != nil || d != nil {
		return d, false, err
	}
	all, err := j.source.List(ctx, extensions, kindDefinition, "", nil, mostDefinitions)
	if isAbsent(err) {
		return nil, false, refuse(NotComposite, "install Crossplane in the cluster, or select another cluster", "cluster %s has no Crossplane", j.Cluster)
	}
	if err != nil {
		return nil, false, err
	}
	group, _, _ := strings.Cut(apiVersion, "/")
	for _, n := range all {
		if d := xrd.NewDefinition(n, xrd.Origin{}); d.Group == group && d.Claim.Kind == kind {
			return d, true, nil
		}
	}
	return nil, false, refuse(NotComposite, "write the manifest of a composite resource or claim", "%s of %s is defined by no XRD", kind, apiVersion)
}

func isAbsent(err error) bool {
	e, ok := errors.AsType[*cluster.Error](err)
	return ok && e.Reason == cluster.Absent
}

// finish replaces invented names, counts and sorts.
func (j *job) finish() {
	p := j.plan
	// A name may begin with another one: the longest comes first.
	var pairs []string
	for _, from := range slices.SortedFunc(maps.Keys(j.generated), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	}) {
		pairs = append(pairs, from, j.generated[from])
	}
	j.invented = strings.NewReplacer(pairs...)
	for i := range p.Objects {
		j.show(&p.Objects[i])
		switch p.Objects[i].Action {
		case Create:
			p.Counts.Create++
		case Change:
			p.Counts.Change++
		case Delete:
			p.Counts.Delete++
		case Unchanged:
			p.Counts.Unchanged++
		case Uncertain:
			p.Counts.Uncertain++
		case Blocked:
			p.Counts.Blocked++
		}
	}
	j.show(&p.Composite)
	for i := range p.Results {
		p.Results[i].Message = j.rename(p.Results[i].Message)
	}
	for i := range p.Conditions {
		p.Conditions[i].Message = j.rename(p.Conditions[i].Message)
	}
	for i := range p.Unknown {
		p.Unknown[i].Subject = j.rename(p.Unknown[i].Subject)
	}
	p.Fatal = j.rename(p.Fatal)
	n := 0
	for _, o := range p.Objects {
		if o.Name == "" {
			n++
		}
	}
	if n > 0 {
		j.unknown("metadata.name", "the names of %d objects are generated when they are created", n)
	}
	if j.usesUID {
		j.unknown("metadata.uid", "values with %s contain the uid that the composite gets when it is created", uidMark)
	}
}

// show replaces invented names in an object.
func (j *job) show(o *Object) {
	if to, ok := j.generated[o.Name]; ok {
		o.Name, o.GenerateName = "", strings.TrimSuffix(to, generatedMark)
	}
	o.GenerateName = j.rename(o.GenerateName)
	for i, w := range o.Within {
		o.Within[i] = j.rename(w)
	}
	if o.Manifest != nil {
		o.Manifest = &Manifest{j.renamed(o.Manifest.Node)}
	}
	for i := range o.Fields {
		if v := o.Fields[i].New; v != nil {
			o.Fields[i].New = &Manifest{j.renamed(v.Node)}
		}
	}
}

// generatedMark stands for the part of a name that is generated.
const generatedMark = "(generated)"

// rename replaces invented names in a text, in one pass: what it inserts is not replaced
// again.
func (j *job) rename(text string) string {
	out := j.invented.Replace(text)
	j.usesUID = j.usesUID || out != text && strings.Contains(out, uidMark)
	return out
}

// uidMark stands for the uid of a composite that does not exist.
const uidMark = "(uid)"

// inventUID returns a uid for a composite that does not exist.
func (j *job) inventUID() string {
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", j.composites)
	j.generated[uid] = uidMark
	return uid
}

// renamed replaces invented names in a value.
func (j *job) renamed(n *tree.Node) *tree.Node {
	switch {
	case n.IsString():
		if text := j.rename(n.Str()); text != n.Str() {
			return tree.Str(text)
		}
	case n.IsMap():
		out := tree.Obj()
		for _, f := range n.Fields {
			out.Fields = append(out.Fields, tree.F(f.Key, j.renamed(f.Value)))
		}
		return out
	case n.IsList():
		out := tree.Arr()
		for _, item := range n.Items {
			out.Items = append(out.Items, j.renamed(item))
		}
		return out
	}
	return n
}

package plan

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

const (
	// atOnce is how many objects are read at once.
	atOnce = 8
	// mostRounds is how often functions may ask for further objects, and mostRequired how
	// many they get.
	mostRounds   = 5
	mostRequired = 500
	// paused is the annotation of composites that Crossplane does not reconcile.
	paused = "crossplane.io/paused"
)

// compose plans a composite and, below it, what it composes.
func (j *job) compose(ctx context.Context, c *composite) error {
	j.composites++
	if c.desired.Get("metadata", "annotations", paused).Str() == "true" {
		j.warn(c, refOf(c.desired).String()+" is paused: Crossplane applies nothing until its annotation "+paused+" is removed")
		return nil
	}
	if c.live.Get("metadata", "deletionTimestamp").Str() != "" {
		j.warn(c, refOf(c.live).String()+" is being deleted: Crossplane applies nothing")
		return nil
	}
	node, used, err := j.composition(ctx, c.definition, c.desired)
	if err != nil {
		return err
	}
	comp := xrd.NewComposition(node, xrd.Origin{})
	if err := checkMode(comp); err != nil {
		return err
	}
	j.use(c, used)
	functions, err := j.functions(ctx, comp)
	if err != nil {
		return err
	}
	observed, hidden, err := j.observe(ctx, c)
	if err != nil {
		return err
	}
	in := render.Input{
		Composite: j.rendered(c), Composition: node, Definition: c.definition.Node, Functions: functions,
		Credentials: j.credentials(node), Observed: bare(observed),
	}
	out, err := j.render(ctx, in)
	if err != nil {
		return err
	}
	j.tell(c, out)
	if out.Fatal != "" {
		j.fail(c, out.Fatal)
		return nil
	}
	j.leftOut(node, out)
	return j.collect(ctx, c, out, observed, hidden)
}

// full reports whether a composite is one too many, or too deep below the root.
func (j *job) full(within []string) bool {
	return j.composites >= mostComposites || len(within) > mostDepth
}

// use notes the Composition of a composite.
func (j *job) use(c *composite, used Composition) {
	if len(c.within) == 0 {
		j.plan.Composition = used
		return
	}
	for i := range j.plan.Objects {
		o := &j.plan.Objects[i]
		if slices.Equal(append(slices.Clone(o.Within), o.Resource), c.within) {
			o.Composition = &used
		}
	}
}

// rendered returns the composite for the renderer.
func (j *job) rendered(c *composite) *tree.Node {
	drop := []string{"managedFields"}
	if c.isNew() {
		drop = append(drop, "uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences")
	}
	meta := without(c.desired.Get("metadata"), drop...)
	if !c.isNew() {
		return with(c.desired, "metadata", meta)
	}
	return without(with(c.desired, "metadata", with(meta, "uid", tree.Str(j.inventUID()))), "status")
}

// observe reads what the composite composes so far. hidden are the references to what the
// caller may not read.
func (j *job) observe(ctx context.Context, c *composite) (observed []*tree.Node, hidden []composed.Ref, err error) {
	if c.isNew() {
		return nil, nil, nil
	}
	refs := composed.References(composed.Object{Ref: refOf(c.live), State: composed.Present, Node: c.live})
	if len(refs) > mostObjects {
		return nil, nil, refuse(Failed, "", "%s composes more than %d objects", refOf(c.live), mostObjects)
	}
	uid := c.live.Get("metadata", "uid").Str()
	found, errs := make([]*tree.Node, len(refs)), make([]error, len(refs))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, ref := range refs {
		group.Go(func() error {
			found[i], errs[i] = j.observed(ctx, ref, uid)
			return nil
		})
	}
	_ = group.Wait()
	for i, n := range found {
		e, ok := errors.AsType[*cluster.Error](errs[i])
		switch {
		case ok && (e.Reason == cluster.Forbidden || e.Reason == cluster.Unreadable) || errors.Is(errs[i], errHidden):
			hidden = append(hidden, refs[i])
			j.unknown(refs[i].String(), "you may not read it, so it cannot be compared")
		case ok && e.Reason == cluster.Absent:
			// Its kind is not served any more.
		case errs[i] != nil:
			return nil, nil, errs[i]
		case n != nil:
			observed = append(observed, n)
		}
	}
	j.notPassed(append([]*tree.Node{c.live}, observed...))
	return observed, hidden, nil
}

// errHidden means that the caller may not read an object.
var errHidden = errors.New("not allowed")

// observed reads an object that a composite with a uid refers to. It is nil if another
// controller has it, because Crossplane leaves such objects alone. Who may read the
// composite may read what it controls, but not what it only refers to.
func (j *job) observed(ctx context.Context, ref composed.Ref, uid string) (*tree.Node, error) {
	n, err := j.source.Get(ctx, ref)
	if n == nil || err != nil {
		return nil, err
	}
	owner := controller(n)
	switch {
	case owner != nil && (uid == "" || owner.Get("uid").Str() != uid):
		return nil, nil
	case owner == nil && j.Authorize != nil && j.Authorize(ctx, ref) != nil:
		return nil, errHidden
	}
	return n, j.count(n)
}

// count adds an object to the bytes that were read.
func (j *job) count(n *tree.Node) error {
	if j.read.Add(int64(len(tree.AppendJSON(nil, n, "")))) > mostRead {
		return refuse(Failed, "", "the composed objects have more than %d MiB", mostRead>>20)
	}
	return nil
}

// notPassed notes what functions do not get, although Crossplane would pass it.
func (j *job) notPassed(all []*tree.Node) {
	for _, n := range all {
		if n.Get("spec", "writeConnectionSecretToRef").IsMap() {
			j.unknown(refOf(n).String(), "its connection details are not passed to functions")
		}
		if isSecret(n) {
			j.unknown(refOf(n).String(), "its data is neither compared nor passed to functions")
		}
	}
}

// controller returns the owner reference of the controller of an object; nil if it has
// none.
func controller(n *tree.Node) *tree.Node {
	for _, o := range n.Get("metadata", "ownerReferences").List() {
		if o.Get("controller").IsTrue() {
			return o
		}
	}
	return nil
}

// bare returns objects without the bookkeeping of the API server.
func bare(all []*tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, n := range all {
		out = append(out, with(n, "metadata", without(n.Get("metadata"), "managedFields")))
	}
	return out
}

// credentials returns the Secrets that the steps of a pipeline name, without their data:
// a plan does not pass credentials to functions.
func (j *job) credentials(composition *tree.Node) []*tree.Node {
	var all []*tree.Node
	for _, step := range composition.Get("spec", "pipeline").List() {
		for _, c := range step.Get("credentials").List() {
			ref := c.Get("secretRef")
			if !ref.IsMap() {
				continue
			}
			j.unknown("pipeline step "+step.Get("step").Str(), "credentials %s are not passed to the function", c.Get("name").Str())
			all = append(all, tree.Obj(tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str("Secret")),
				tree.F("metadata", tree.Obj(tree.F("namespace", ref.Get("namespace")), tree.F("name", ref.Get("name"))))))
		}
	}
	return all
}

// render renders a composite, again with the objects that functions ask for.
func (j *job) render(ctx context.Context, in render.Input) (*render.Output, error) {
	var asked []render.Selector
	for round := 0; ; round++ {
		out, err := j.session.Render(in)
		if err != nil {
			return nil, err
		}
		if out.Schemas > 0 {
			j.unknown("required schemas", "a function asks for schemas of kinds, which a plan does not pass")
		}
		before := len(in.Required)
		for _, s := range out.Selectors {
			if slices.ContainsFunc(asked, s.Equal) {
				continue
			}
			if asked = append(asked, s); len(asked) > render.MostSelectors {
				return nil, refuse(Failed, "let the function ask for fewer objects", "functions ask for objects in more than %d ways", render.MostSelectors)
			}
			found, err := j.require(ctx, s)
			if err != nil {
				return nil, err
			}
			for _, n := range found {
				if !slices.ContainsFunc(in.Required, func(o *tree.Node) bool { return refOf(o) == refOf(n) }) {
					in.Required = append(in.Required, n)
				}
			}
			if len(in.Required) > mostRequired {
				return nil, refuse(Failed, "let the function select fewer objects", "functions ask for more than %d objects", mostRequired)
			}
		}
		if len(in.Required) == before {
			return out, nil
		}
		if round == mostRounds {
			j.unknown("required resources", "functions still ask for further objects after %d rounds", mostRounds)
			return out, nil
		}
	}
}

// require reads the objects that a function asks for. What the caller may not read is
// left out, and listed.
func (j *job) require(ctx context.Context, s render.Selector) ([]*tree.Node, error) {
	ref := composed.Ref{APIVersion: s.APIVersion, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	what := "required " + strings.TrimSpace(ref.String())
	if s.APIVersion == "v1" && s.Kind == "Secret" {
		j.unknown(what, "a function asks for Secrets, which a plan does not read")
		return nil, nil
	}
	found, all, err := j.find(ctx, s, ref)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(found) < all {
		j.unknown(what, "a function asks for %d objects that you may not read", all-len(found))
	}
	e, ok := errors.AsType[*cluster.Error](err)
	switch {
	case errors.Is(err, errHidden) || ok && e.Reason == cluster.Forbidden:
		j.unknown(what, "a function asks for it, and you may not read it")
	case ok && (e.Reason == cluster.Absent || e.Reason == cluster.Unreadable):
		j.unknown(what, "a function asks for it, and it cannot be read: %v", e.Err)
	case err != nil:
		return nil, err
	case all == 0:
		j.unknown(what, "a function asks for it, and it does not exist")
	}
	for _, n := range found {
		if err := j.count(n); err != nil {
			return nil, err
		}
	}
	return bare(found), nil
}

// find returns those of the objects that a function asks for which the caller may read, and
// how many there are. Whether a named object exists is told only if the caller may read it.
func (j *job) find(ctx context.Context, s render.Selector, ref composed.Ref) (found []*tree.Node, all int, err error) {
	if s.Name == "" {
		found, err = j.source.List(ctx, s.APIVersion, s.Kind, s.Namespace, s.Labels, mostRequired)
		return j.authorized(ctx, found), len(found), err
	}
	if j.Authorize != nil {
		switch err := j.Authorize(ctx, ref); {
		case isAbsent(err):
			return nil, 0, err
		case err != nil:
			return nil, 0, errHidden
		}
	}
	n, err := j.source.Get(ctx, ref)
	if n == nil || err != nil {
		return nil, 0, err
	}
	return []*tree.Node{n}, 1, nil
}

// authorized returns the objects that the caller may read.
func (j *job) authorized(ctx context.Context, all []*tree.Node) []*tree.Node {
	if j.Authorize == nil {
		return all
	}
	may := make([]bool, len(all))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, n := range all {
		group.Go(func() error {
			may[i] = j.Authorize(ctx, refOf(n)) == nil
			return nil
		})
	}
	_ = group.Wait()
	var out []*tree.Node
	for i, n := range all {
		if may[i] {
			out = append(out, n)
		}
	}
	return out
}

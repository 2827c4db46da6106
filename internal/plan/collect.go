package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/xrd/composed"
)

// part is a composed object that would be applied.
type part struct {
	resource string
	desired  *tree.Node
	live     *tree.Node
}

// collect adds the composed objects of a composite to the plan, and plans those that are
// composites themselves.
func (j *job) collect(ctx context.Context, c *composite, out *render.Output, observed []*tree.Node, hidden []composed.Ref) error {
	var parts []part
	for _, n := range out.Composed {
		p := part{resource: nameIn(n), desired: n}
		if i := slices.IndexFunc(observed, func(o *tree.Node) bool { return sameObject(o, n) }); i >= 0 {
			p.live = observed[i]
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.resource, b.resource) })
	for _, p := range parts {
		if len(j.plan.Objects) >= mostObjects {
			return refuse(Failed, "", "the plan has more than %d objects", mostObjects)
		}
		if err := j.add(ctx, c, p, hidden); err != nil {
			return err
		}
	}
	return j.deleted(ctx, c, out.Deleted)
}

// nameIn returns the name of an object in the Composition.
func nameIn(n *tree.Node) string { return n.Get("metadata", "annotations", resourceName).Str() }

func sameObject(a, b *tree.Node) bool {
	x, y := refOf(a), refOf(b)
	// Versions may differ: an object is read in any.
	return x.Kind == y.Kind && x.Name == y.Name && x.Namespace == y.Namespace && groupOf(x) == groupOf(y)
}

// groupOf returns the group of a reference, and the version if that has none.
func groupOf(r composed.Ref) string {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return group
}

// leastGenerated is how many characters at least are generated of a name.
const leastGenerated = 5

// add adds a composed object and, if it is a composite, what that composes.
func (j *job) add(ctx context.Context, c *composite, p part, hidden []composed.Ref) error {
	ref := refOf(p.desired)
	_, namespaced, err := j.source.Kind(ctx, ref.APIVersion, ref.Kind)
	var special Action
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isAbsent(err):
		special = Blocked
		j.warn(c, fmt.Sprintf("the cluster does not serve kind %s of %s, so Crossplane cannot apply %s", ref.Kind, ref.APIVersion, p.resource))
	case err != nil:
		return err
	case !namespaced && p.live == nil && c.desired.Get("metadata", "namespace").Str() != "":
		special = Blocked
		j.fail(c, fmt.Sprintf("a namespaced composite cannot compose %s, which is a cluster-scoped kind", ref.Kind))
	}
	served := err == nil
	// A name that Crossplane derives from the uid of a composite is known only if that exists.
	if prefix := p.desired.Get("metadata", "generateName").Str(); prefix != "" && p.live == nil && c.isNew() && strings.HasPrefix(ref.Name, prefix) && len(ref.Name) >= len(prefix)+leastGenerated {
		j.generated[ref.Name] = prefix + generatedMark
	}
	if p.live == nil && j.generated[ref.Name] == "" && special == "" {
		if special, err = j.taken(ctx, c, &p); err != nil {
			return err
		}
	}
	o := j.describe(p.desired, p.live, c.isNew())
	o.Resource, o.Within = p.resource, slices.Clone(c.within)
	o.Action = cmp.Or(special, o.Action)
	if o.Action == Create && slices.ContainsFunc(hidden, func(r composed.Ref) bool { return r.Kind == ref.Kind && r.APIVersion == ref.APIVersion }) {
		o.Action = Uncertain
	}
	j.plan.Objects = append(j.plan.Objects, o)
	if !served {
		return nil
	}
	d, err := j.definition(ctx, ref.APIVersion, ref.Kind)
	if err != nil || d == nil || d.Names.Kind != ref.Kind {
		return err
	}
	_, version, _ := strings.Cut(ref.APIVersion, "/")
	within := append(slices.Clone(c.within), p.resource)
	if j.full(within) {
		j.unknown(ref.String(), "its objects are not planned: the plan has more than %d composites, or more than %d levels", mostComposites, mostDepth)
		return nil
	}
	// What the parent does not set any more is removed from the nested composite.
	base := p.live
	if base != nil {
		base = unauthored(base, byComposites)
	}
	desired, err := j.settle(ctx, d, version, false, overlay(base, p.desired), p.live, j.noting(strings.Join(within, "/")))
	if err != nil {
		j.warn(c, fmt.Sprintf("%s: %v", p.resource, err))
		return nil
	}
	err = j.compose(ctx, &composite{definition: d, desired: referenceable(d, desired), live: p.live, within: within})
	if e, ok := errors.AsType[*Error](err); ok && (e.Reason == NoComposition || e.Reason == Mode) {
		// The composite itself would be applied all the same.
		j.warn(c, fmt.Sprintf("%s composes nothing: %v", p.resource, e))
		return nil
	}
	return err
}

// taken looks whether an object with a fixed name exists already. Crossplane would take it
// over, or fail if another composite controls it. The action is empty unless the object
// cannot be applied, or is not known.
func (j *job) taken(ctx context.Context, c *composite, p *part) (Action, error) {
	ref := refOf(p.desired)
	if j.Authorize != nil && j.Authorize(ctx, ref) != nil {
		j.unknown(ref.String(), "you may not read it, so the plan cannot tell whether it exists")
		return Uncertain, nil
	}
	n, err := j.source.Get(ctx, ref)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		j.unknown(ref.String(), "it cannot be read, so the plan cannot tell whether it exists")
		return Uncertain, nil //nolint:nilerr // The plan goes on without it, and says so.
	}
	if n == nil {
		return "", nil
	}
	if owner := controller(n); owner != nil && owner.Get("uid").Str() != c.live.Get("metadata", "uid").Str() {
		j.warn(c, fmt.Sprintf("%s exists and belongs to %s %s: Crossplane cannot apply it", ref, owner.Get("kind").Str(), owner.Get("name").Str()))
		return Blocked, nil
	}
	j.warn(c, fmt.Sprintf("%s exists already: Crossplane would take it over", ref))
	p.live = n
	return "", nil
}

// deleted adds the objects that would be deleted, with what they compose.
func (j *job) deleted(ctx context.Context, c *composite, gone []*tree.Node) error {
	slices.SortFunc(gone, func(a, b *tree.Node) int { return strings.Compare(nameIn(a), nameIn(b)) })
	for _, n := range gone {
		if len(j.plan.Objects) >= mostObjects {
			return refuse(Failed, "", "the plan has more than %d objects", mostObjects)
		}
		ref := refOf(n)
		o := Object{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Resource: nameIn(n), Within: slices.Clone(c.within), Action: Delete}
		j.plan.Objects = append(j.plan.Objects, o)
		below := &composite{live: n, desired: n, within: append(slices.Clone(c.within), o.Resource)}
		if len(below.within) > mostDepth || len(composed.References(composed.Object{Ref: ref, State: composed.Present, Node: n})) == 0 {
			continue
		}
		children, _, err := j.observe(ctx, below)
		if err != nil {
			return err
		}
		if err := j.deleted(ctx, below, children); err != nil {
			return err
		}
	}
	return nil
}

// fail notes that Crossplane applies nothing of a composite.
func (j *job) fail(c *composite, message string) {
	if len(c.within) > 0 {
		j.warn(c, message+": Crossplane applies nothing of this composite")
		return
	}
	j.plan.Fatal = cmp.Or(j.plan.Fatal, message)
}

// warn adds a warning that the renderer cannot give, because it knows no cluster.
func (j *job) warn(c *composite, message string) { j.noting(strings.Join(c.within, "/"))(message) }

// noting returns a function that adds warnings about a composite.
func (j *job) noting(within string) func(message string) {
	return func(message string) {
		j.plan.Results = append(j.plan.Results, Result{Warning: true, Reason: "Plan", Message: message, Within: within})
	}
}

// bookkeeping are the reasons of events that say what a plan shows in other ways.
var bookkeeping = []string{"SelectComposition", "CompositionSelection", "PublishConnectionSecret"}

// tell adds what functions and Crossplane say, and the conditions of the root.
func (j *job) tell(c *composite, out *render.Output) {
	for _, e := range out.Events {
		if slices.Contains(bookkeeping, e.Reason) || e.Type == "Normal" && !strings.HasPrefix(e.Message, "Pipeline step") {
			continue
		}
		j.plan.Results = append(j.plan.Results, Result{Warning: e.Type == "Warning", Reason: e.Reason, Message: e.Message, Within: strings.Join(c.within, "/")})
	}
	if len(c.within) > 0 {
		return
	}
	for _, n := range out.Composite.Get("status", "conditions").List() {
		j.plan.Conditions = append(j.plan.Conditions, Condition{
			Type: n.Get("type").Str(), Status: n.Get("status").Str(), Reason: n.Get("reason").Str(), Message: n.Get("message").Str(),
		})
	}
	slices.SortFunc(j.plan.Conditions, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
}

// leftOut lists the resources of patch-and-transform that are not part of the result:
// patches need values that others do not have so far.
func (j *job) leftOut(composition *tree.Node, out *render.Output) {
	for _, step := range composition.Get("spec", "pipeline").List() {
		in := step.Get("input")
		if in.Get("kind").Str() != "Resources" || !strings.HasPrefix(in.Get("apiVersion").Str(), "pt.fn.crossplane.io/") {
			continue
		}
		for _, r := range in.Get("resources").List() {
			name := r.Get("name").Str()
			if !slices.ContainsFunc(out.Composed, func(n *tree.Node) bool { return nameIn(n) == name }) {
				j.unknown("resource "+name, "it is left out until the values that its patches require exist, such as the status of another resource")
			}
		}
	}
}

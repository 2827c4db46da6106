package plan

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

// machinery returns the fields of Crossplane in a composite: spec.crossplane or, for
// legacy composites, spec.
func machinery(d *xrd.Definition, n *tree.Node) *tree.Node {
	if d.Modern() {
		return n.Get("spec", "crossplane")
	}
	return n.Get("spec")
}

// composition returns the Composition that Crossplane would use for a composite, as its
// revision has it.
func (j *job) composition(ctx context.Context, d *xrd.Definition, xr *tree.Node) (*tree.Node, Composition, error) {
	m := machinery(d, xr)
	name := d.EnforcedComposition
	if name == "" {
		name = m.Get("compositionRef", "name").Str()
	}
	if name == "" && !m.Get("compositionSelector").IsMap() {
		name = d.DefaultComposition
	}
	if name == "" {
		var err error
		if name, err = j.choose(ctx, d, xr, m.Get("compositionSelector", "matchLabels").StringMap()); err != nil {
			return nil, Composition{}, err
		}
	}
	if m.Get("compositionUpdatePolicy").Str() == "Manual" && m.Get("compositionRevisionRef", "name").Str() != "" {
		return j.pinned(ctx, d, xr, name, m.Get("compositionRevisionRef", "name").Str())
	}
	c, err := j.source.Get(ctx, composed.Ref{APIVersion: extensions, Kind: xrd.KindComposition, Name: name})
	if err != nil {
		return nil, Composition{}, explain(err)
	}
	if c == nil {
		return nil, Composition{}, refuse(NoComposition, "create it, or select another one", "cannot find Composition %s", name)
	}
	if of := c.Get("spec", "compositeTypeRef"); !isFor(c, d, xr) {
		return nil, Composition{}, refuse(NoComposition, "select a Composition for "+xr.Get("apiVersion").Str()+" "+d.Names.Kind,
			"Composition %s is for %s of %s", name, of.Get("kind").Str(), of.Get("apiVersion").Str())
	}
	return j.latest(ctx, d, m, c)
}

// choose returns the Composition that matches labels. If several match, Crossplane takes
// any of them.
func (j *job) choose(ctx context.Context, d *xrd.Definition, xr *tree.Node, labels map[string]string) (string, error) {
	all, err := j.source.List(ctx, extensions, xrd.KindComposition, "", labels, mostCompositions)
	if err != nil {
		return "", explain(err)
	}
	var names []string
	for _, c := range all {
		if isFor(c, d, xr) {
			names = append(names, c.Get("metadata", "name").Str())
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return "", refuse(NoComposition, "create a Composition for it, or correct the labels of compositionSelector", "no Composition matches %s of %s", d.Names.Kind, xr.Get("apiVersion").Str())
	case 1:
		return names[0], nil
	}
	j.unknown("Composition", "%d Compositions match and Crossplane selects one at random; this plan uses %s", len(names), names[0])
	return names[0], nil
}

// pinned returns the Composition of a revision that a composite names.
func (j *job) pinned(ctx context.Context, d *xrd.Definition, xr *tree.Node, name, revision string) (*tree.Node, Composition, error) {
	r, err := j.source.Get(ctx, composed.Ref{APIVersion: extensions, Kind: kindRevision, Name: revision})
	if err != nil {
		return nil, Composition{}, explain(err)
	}
	if r == nil {
		return nil, Composition{}, refuse(NoComposition, "correct compositionRevisionRef", "cannot find CompositionRevision %s", revision)
	}
	// A composite may name any revision; those of other kinds are not for its author.
	if !isFor(r, d, xr) || r.Get("metadata", "labels", labelComposition).Str() != name {
		return nil, Composition{}, refuse(NoComposition, "correct compositionRevisionRef", "CompositionRevision %s is not one of Composition %s for %s", revision, name, d.Names.Kind)
	}
	return ofRevision(name, r), Composition{Name: name, Revision: revision}, nil
}

// isFor reports whether a Composition or revision is for a composite.
func isFor(c *tree.Node, d *xrd.Definition, xr *tree.Node) bool {
	of := c.Get("spec", "compositeTypeRef")
	return of.Get("kind").Str() == d.Names.Kind && of.Get("apiVersion").Str() == xr.Get("apiVersion").Str()
}

// latest returns a Composition as its latest revision has it.
func (j *job) latest(ctx context.Context, d *xrd.Definition, m, c *tree.Node) (*tree.Node, Composition, error) {
	name := c.Get("metadata", "name").Str()
	labels := map[string]string{}
	if policy := m.Get("compositionUpdatePolicy").Str(); policy != "Manual" {
		selected := m.Get("compositionRevisionSelector", "matchLabels")
		if !selected.IsMap() {
			selected = d.Node.Get("spec", "defaultCompositionRevisionSelector", "matchLabels")
		}
		maps.Copy(labels, selected.StringMap())
	}
	chosen := len(labels) > 0
	labels[labelComposition] = name
	all, err := j.source.List(ctx, extensions, kindRevision, "", labels, mostRevisions)
	if err != nil {
		return nil, Composition{}, explain(err)
	}
	var last *tree.Node
	for _, r := range all {
		if last == nil || number(r) > number(last) {
			last = r
		}
	}
	if last == nil {
		if chosen {
			return nil, Composition{}, refuse(NoComposition, "correct the labels of compositionRevisionSelector", "no revision of Composition %s matches", name)
		}
		return c, Composition{Name: name}, nil
	}
	return ofRevision(name, last), Composition{Name: name, Revision: last.Get("metadata", "name").Str()}, nil
}

func number(revision *tree.Node) int64 {
	n, _ := strconv.ParseInt(revision.Get("spec", "revision").Scalar(), 10, 64)
	return n
}

// ofRevision returns the Composition that a revision was made of.
func ofRevision(name string, r *tree.Node) *tree.Node {
	spec := tree.Obj(slices.DeleteFunc(slices.Clone(r.Get("spec").Fields), func(f tree.Field) bool { return f.Key == "revision" })...)
	return tree.Obj(tree.F("apiVersion", tree.Str(extensions)), tree.F("kind", tree.Str(xrd.KindComposition)),
		tree.F("metadata", tree.Obj(tree.F("name", tree.Str(name)))), tree.F("spec", spec))
}

// checkMode returns an error for a Composition that Crossplane 2 does not run.
func checkMode(c *xrd.Composition) error {
	if c.Mode == xrd.ModePipeline {
		return nil
	}
	return refuse(Mode, "convert it with crossplane beta convert pipeline-composition FILE, and apply the result",
		"Composition %s has mode %s, which Crossplane 2 does not run", c.Name, c.Mode)
}

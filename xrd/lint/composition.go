package lint

import (
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// composition checks a Composition.
func (l *linter) composition(c *xrd.Composition) {
	n := c.Node
	if missing(n.Get("metadata", "name")) {
		l.report(RuleCompositionName, "metadata", fieldPos(n.Field("metadata"), n), "write metadata.name", "the Composition has no name")
	}
	spec := n.Field("spec")
	if spec == nil || !spec.Value.IsMap() {
		l.report(RuleCompositionType, "spec", fieldPos(spec, n), "write compositeTypeRef and a pipeline under spec", "the Composition has no spec")
		return
	}
	l.push("spec")
	defer l.pop()
	ref := spec.Value.Field("compositeTypeRef")
	pos := fieldPosOr(ref, spec.Pos)
	l.push("compositeTypeRef")
	for _, key := range []string{"apiVersion", "kind"} {
		if v := spec.Value.Get("compositeTypeRef", key); !v.IsString() || v.Text == "" {
			l.report(RuleCompositionType, key, pos, "write the composite's "+key, "compositeTypeRef has no %s", key)
		}
	}
	l.pop()
	l.mode(c, spec)
	l.steps(spec.Value.Field("pipeline"))
}

// mode checks that a Composition has what its mode needs, and nothing else.
func (l *linter) mode(c *xrd.Composition, spec *tree.Field) {
	pipeline, resources := spec.Value.Field("pipeline"), spec.Value.Field("resources")
	if pipeline != nil && pipeline.Value.Len() == 0 {
		pipeline = nil
	}
	if resources != nil && resources.Value.Len() == 0 {
		resources = nil
	}
	if m := spec.Value.Get("mode"); !m.IsNull() && m.Str() != xrd.ModePipeline && m.Str() != xrd.ModeResources {
		l.report(RuleCompositionMode, "mode", m.At(), "write Pipeline", "mode %q is not a mode", shorten(m.Scalar()))
		return
	}
	switch {
	case pipeline == nil && resources == nil:
		l.report(RuleCompositionEmpty, "", spec.Pos, "write a pipeline with at least one step", "the Composition has neither pipeline nor resources")
		return
	case c.Mode == xrd.ModePipeline && pipeline == nil:
		l.report(RuleCompositionEmpty, "pipeline", spec.Pos, "write a pipeline, or remove mode", "mode is Pipeline, but there is no pipeline")
	case c.Mode == xrd.ModePipeline && resources != nil:
		l.report(RuleModeMix, "resources", resources.Pos, "move the resources into a patch-and-transform step", "mode is Pipeline, so resources has no effect")
	case c.Mode == xrd.ModeResources && pipeline != nil:
		l.report(RuleModeMix, "pipeline", pipeline.Pos, "write mode: Pipeline", "mode is Resources, so pipeline has no effect")
	}
	if c.Mode == xrd.ModeResources && resources != nil {
		l.report(RuleNativeMode, "resources", resources.Pos, "move the resources into a patch-and-transform step of a pipeline",
			"resources are composed by Crossplane 1 only")
	}
}

// steps checks the steps of a pipeline.
func (l *linter) steps(pipeline *tree.Field) {
	if pipeline == nil {
		return
	}
	l.push("pipeline")
	defer l.pop()
	var before seen
	for i, s := range pipeline.Value.List() {
		l.pushIndex(i)
		name := s.Get("step")
		switch {
		case !name.IsString() || name.Text == "":
			l.report(RuleStepName, "step", fieldPosOr(s.Field("step"), s.At()), "write step", "a step has no name")
		case before.add(name.Text):
			l.report(RuleStepName, "step", name.At(), "give every step a unique name", "two steps have the name %s", shorten(name.Text))
		}
		if s.Get("functionRef", "name").Str() == "" {
			l.report(RuleStepFunction, "functionRef", fieldPosOr(s.Field("functionRef"), s.At()), "write the function's name under functionRef.name",
				"step %s calls no function", shorten(name.Scalar()))
		}
		l.pop()
	}
}

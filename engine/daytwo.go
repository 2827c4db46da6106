package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// dayTwo derives from a Template that creates a resource the Templates that update and
// delete it, with the same delivery. It returns none if no step applies or proposes the
// resource, because then the delivery is unknown.
func (t *transformation) dayTwo(create *entity.Entity, base string, v *xrd.Version, fixed bool) []*entity.Entity {
	steps := t.deliveries(create.Spec.Get("steps"))
	if len(steps) == 0 {
		return nil
	}
	t.source("day-two", "true", FromOption, "day-two")
	create.Metadata.Annotations[words.AnnotationTemplatePurpose] = words.PurposeCreate
	x := form.Existing{
		Kind: t.target.Kind, Pages: create.Spec.Get("parameters"), Manifest: steps[0].Get("input", "manifest"), Fixed: fixed,
	}
	api := " (" + t.def.Group + "/" + v.Name + ")"
	update := t.existing(create, base, v, words.PurposeUpdate)
	update.Metadata.Description = "Update existing " + t.target.Kind + " resources" + api
	setSpec(update, x.Update(), updateSteps(steps, x.Kind), create.Spec.Get("output"))
	remove := t.existing(create, base, v, words.PurposeDelete)
	remove.Metadata.Description = "Delete " + t.target.Kind + " resources and the objects they compose" + api
	setSpec(remove, x.Delete(), deleteSteps(steps, x.Kind), t.output())
	return []*entity.Entity{update, remove}
}

// deliveries returns the steps that apply or propose the resource.
func (t *transformation) deliveries(steps *tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, s := range steps.List() {
		manifest := s.Get("input", "manifest")
		group, _, _ := strings.Cut(manifest.Get("apiVersion").Str(), "/")
		if !applies(s) && !proposes(s) || group != t.def.Group || manifest.Get("kind").Str() != t.target.Kind {
			continue
		}
		out = append(out, s)
	}
	return out
}

func applies(step *tree.Node) bool {
	return words.In(words.Action, step.Get("action").Str()) == words.ActionApply
}

func proposes(step *tree.Node) bool {
	return words.In(words.Action, step.Get("action").Str()) == words.ActionChangeRequest
}

// existing starts a Template for existing resources.
func (t *transformation) existing(create *entity.Entity, base string, v *xrd.Version, purpose string) *entity.Entity {
	name, changed := entity.NameWithSuffix(base, "-"+purpose)
	if changed {
		t.note(RuleName, t.def.Node.Get("metadata", "name").At(),
			fmt.Sprintf("%s name %q is not valid in the catalog and becomes %q", entity.KindTemplate, base+"-"+purpose, name), "")
	}
	e := *create
	e.Metadata.Name = name
	e.Metadata.Title = strings.ToUpper(purpose[:1]) + purpose[1:] + " " + t.target.Kind
	if t.profile.EveryVersion && len(t.def.Served) > 1 {
		e.Metadata.Title += " " + v.Name
	}
	if v.Deprecated {
		e.Metadata.Title += " (deprecated)"
	}
	e.Metadata.Labels = maps.Clone(create.Metadata.Labels)
	e.Metadata.Annotations = maps.Clone(create.Metadata.Annotations)
	e.Metadata.Annotations[words.AnnotationTemplatePurpose] = purpose
	e.Metadata.Links = slices.Clone(create.Metadata.Links)
	// The tags that name the producer come first; the others are sorted.
	var first, rest []string
	for _, tag := range create.Metadata.Tags {
		switch words.In(words.Tag, tag) {
		case words.TagComposer, words.TagSource:
			first = append(first, tag)
		default:
			rest = append(rest, tag)
		}
	}
	e.Metadata.Tags = entity.Tags(first, append(rest, purpose))
	return &e
}

// setSpec sets the form, steps and output of a Template and keeps the rest of the spec
// of the Template it was derived from.
func setSpec(e *entity.Entity, pages *tree.Node, steps []*tree.Node, output *tree.Node) {
	spec := tree.Obj()
	for _, f := range e.Spec.Fields {
		switch f.Key {
		case "parameters", "steps", "output":
		default:
			spec.Fields = append(spec.Fields, f)
		}
	}
	spec.Fields = append(spec.Fields, tree.F("parameters", pages), tree.F("steps", tree.Arr(steps...)))
	if output != nil {
		spec.Fields = append(spec.Fields, tree.F("output", output))
	}
	e.Spec = spec
}

// updateSteps returns steps that update the resource, each with its original delivery.
func updateSteps(steps []*tree.Node, kind string) []*tree.Node {
	observed := "parameters." + form.ParamObserved
	out := make([]*tree.Node, len(steps))
	for i, s := range steps {
		input := shallow(s.Get("input"))
		name := "Update " + kind
		if applies(s) {
			input.Set("update", tree.Boolean(true))
			input.Set("observed", tree.Str("${{ "+observed+" }}"))
		}
		if proposes(s) {
			name = "Propose the update of " + kind
			retitle(input, "Update "+kind)
			// A form that was not filled from the resource holds only the changes.
			input.Set("merge", tree.Str("${{ not "+observed+" }}"))
		}
		out[i] = restep(s, s.Get("id").Str(), name, s.Get("action"), input)
	}
	return out
}

// deleteSteps returns steps that delete the resource, each with its original delivery.
func deleteSteps(steps []*tree.Node, kind string) []*tree.Node {
	out := make([]*tree.Node, len(steps))
	for i, s := range steps {
		given := s.Get("input")
		meta := given.Get("manifest", "metadata")
		if applies(s) {
			out[i] = restep(s, "delete", "Delete "+kind, tree.Str(words.ActionDelete), tree.Obj(
				tree.F("apiVersion", given.Get("manifest", "apiVersion")),
				tree.F("kind", given.Get("manifest", "kind")),
				tree.F("name", meta.Get("name")),
				tree.F("namespace", meta.Get("namespace")),
				tree.F("cluster", given.Get("cluster")),
				tree.F("takeOver", given.Get("takeOver")),
				tree.F("propagation", tree.Str("${{ parameters."+form.ParamPropagation+" }}")),
				tree.F("wait", tree.Boolean(true)),
			))
			continue
		}
		input := shallow(given)
		retitle(input, "Remove "+kind)
		input.Set("manifest", tree.Obj(
			tree.F("apiVersion", given.Get("manifest", "apiVersion")),
			tree.F("kind", given.Get("manifest", "kind")),
			tree.F("metadata", tree.Obj(tree.F("name", meta.Get("name")), tree.F("namespace", meta.Get("namespace")))),
		))
		input.Set("remove", tree.Boolean(true))
		// Only the plan of a proposed resource needs it.
		input.Delete("cluster")
		out[i] = restep(s, s.Get("id").Str(), "Propose to remove "+kind, s.Get("action"), input)
	}
	return out
}

// retitle replaces the texts and branch name of a change request by a new title.
func retitle(input *tree.Node, does string) {
	name := input.Get("manifest", "metadata", "name").Str()
	for _, key := range []string{"description", "body", "commitMessage", "gitCommitMessage", "branchName"} {
		input.Delete(key)
	}
	input.Set("title", tree.Str(does+" "+cmp.Or(name, "${{ parameters.name }}")))
}

// restep returns a new step with the condition of step s.
func restep(s *tree.Node, id, name string, action, input *tree.Node) *tree.Node {
	return tree.Obj(
		tree.F("id", tree.Str(id)), tree.F("name", tree.Str(name)), tree.F("action", action),
		tree.F("input", input), tree.F("if", s.Get("if")),
	)
}

// shallow returns a shallow copy of an object.
func shallow(n *tree.Node) *tree.Node { return tree.Obj(slices.Clone(n.Fields)...) }

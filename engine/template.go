package engine

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/engine/openapi"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// template makes the Template of one version.
func (t *transformation) template(base string, v *xrd.Version, f *form.Form) *entity.Entity {
	e := t.entity(entity.KindTemplate, base, "")
	e.APIVersion = words.TemplateVersion
	e.Metadata.Title, e.Metadata.Description = t.title(v), t.description(v)
	e.Metadata.Tags = t.tags()
	if v.Deprecated {
		e.Metadata.Title += " (deprecated)"
		e.Metadata.Tags = t.tags("deprecated")
	}
	a := e.Metadata.Annotations
	a[words.AnnotationXRDVersion] = v.Name
	a[words.AnnotationTemplateOrigin] = words.OriginIngestor
	t.compositionAnnotation(a)
	e.Spec = tree.Obj(
		tree.F("type", tree.Str(t.templateType())),
		tree.F("owner", tree.Str(t.owner)),
		tree.F("parameters", f.Pages),
		tree.F("steps", t.steps(f)),
		tree.F("output", t.output()),
	)
	if t.opts.Stock != "" {
		e.Spec.Set("steps", t.stockSteps(f))
		e.Spec.Set("output", t.stockOutput())
	}
	return e
}

// title returns the title of the annotation, else the definition's kind.
func (t *transformation) title(v *xrd.Version) string {
	title := t.value("title", t.def.Annotations, words.AnnotationTitle, "", "")
	if title == "" {
		title = t.def.Names.Kind
		if title == "" {
			title = t.target.Kind
		}
		t.source("title", title, FromDefinition, "spec.names.kind")
	}
	if t.profile.EveryVersion && len(t.def.Served) > 1 {
		title += " " + v.Name
	}
	return title
}

// description returns the description of an annotation, else of the schema, else a
// default phrase.
func (t *transformation) description(v *xrd.Version) string {
	text := t.value("description", t.def.Annotations, words.AnnotationDescription, "", "")
	if text == "" {
		text = t.value("description", t.def.Annotations, words.AnnotationPlainDescription, "", "")
	}
	if text == "" {
		text = strings.TrimSpace(v.Schema.Get("description").Str())
		if text != "" {
			t.source("description", text, FromDefinition, "schema.openAPIV3Schema.description")
		}
	}
	if text == "" {
		text = "Create " + t.target.Kind + " resources (" + t.def.Group + "/" + v.Name + ")"
		t.source("description", text, FromDefault, "")
	}
	if v.Deprecated {
		text = strings.TrimSpace(text + "\n\nDeprecated. " + v.DeprecationWarning)
	}
	return text
}

func (t *transformation) templateType() string {
	if label := t.def.Labels[words.LabelTemplateType]; t.profile.TypeFromLabel && label != "" {
		t.source("type", label, FromLabel, t.def.Words.Out(words.Key, words.LabelTemplateType))
		return label
	}
	t.source("type", t.profile.TemplateType, FromDefault, "")
	return t.profile.TemplateType
}

// compositionAnnotation sets the annotation with the definition's enforced or default
// Composition.
func (t *transformation) compositionAnnotation(a map[string]string) {
	switch {
	case t.def.EnforcedComposition != "":
		a[words.AnnotationCompositionRef] = t.def.EnforcedComposition
	case t.def.DefaultComposition != "":
		a[words.AnnotationCompositionRef] = t.def.DefaultComposition
	}
}

// steps returns the steps that apply the manifest or propose it as a change request.
func (t *transformation) steps(f *form.Form) *tree.Node {
	param := func(name string) *tree.Node { return tree.Str("${{ parameters." + name + " }}") }
	input := tree.Obj(tree.F("manifest", f.Manifest))
	if len(t.opts.Clusters) > 1 {
		input.Set("cluster", param(form.ParamCluster))
	}
	apply := tree.Obj(
		tree.F("id", tree.Str("apply")),
		tree.F("name", tree.Str("Apply "+t.target.Kind)),
		tree.F("action", tree.Str(words.ActionApply)),
		tree.F("input", input),
	)
	if !t.opts.GitOps {
		return tree.Arr(apply)
	}
	when := func(delivery string) *tree.Node {
		return tree.Str(`${{ parameters.` + form.ParamDelivery + ` == "` + delivery + `" }}`)
	}
	apply.Set("if", when(form.DeliverApply))
	proposal := tree.Obj(
		tree.F("host", param(form.ParamGitHost)),
		tree.F("repository", param(form.ParamGitRepository)),
		tree.F("path", param(form.ParamGitPath)),
		tree.F("branch", param(form.ParamGitBranch)),
		tree.F("title", tree.Str("Add "+t.target.Kind+" ${{ parameters.name }}")),
		tree.F("manifest", f.Manifest),
		tree.F("cluster", input.Get("cluster")),
	)
	propose := tree.Obj(
		tree.F("id", tree.Str("propose")),
		tree.F("name", tree.Str("Propose "+t.target.Kind)),
		tree.F("action", tree.Str(words.ActionChangeRequest)),
		tree.F("input", proposal),
		tree.F("if", when(form.DeliverChange)),
	)
	return tree.Arr(apply, propose)
}

// output returns the template output: what was created, and links to it.
func (t *transformation) output() *tree.Node {
	content := t.target.Kind + " ${{ parameters.name }}"
	if t.target.Namespaced {
		content += " in namespace ${{ parameters.namespace }}"
	}
	if len(t.opts.Clusters) > 1 {
		content += " of cluster ${{ parameters." + form.ParamCluster + " }}"
	}
	out := tree.Obj(tree.F("text", tree.Arr(tree.Obj(
		tree.F("title", tree.Str(t.target.Kind)),
		tree.F("content", tree.Str(content)),
	))))
	if t.opts.GitOps {
		out.Set("links", tree.Arr(tree.Obj(
			tree.F("if", tree.Str(`${{ parameters.`+form.ParamDelivery+` == "`+form.DeliverChange+`" }}`)),
			tree.F("title", tree.Str("Change request")),
			tree.F("url", tree.Str("${{ steps.propose.output.remoteUrl }}")),
		)))
	}
	return out
}

// api makes the API of one version.
func (t *transformation) api(base string, v *xrd.Version) *entity.Entity {
	e := t.entity(entity.KindAPI, base, "-api")
	kind := t.value("api-kind", t.def.Annotations, words.AnnotationAPIKind, "", "")
	version := t.value("api-version", t.def.Annotations, words.AnnotationAPIVersion, "", v.Name)
	e.Metadata.Title = t.title(v) + " API"
	e.Metadata.Description = strings.TrimSpace(kind+" API") + " to create " + t.target.Kind + " resources (" + t.def.Group + "/" + v.Name + ")"
	e.Metadata.Tags = t.tags()
	if v.Deprecated {
		e.Metadata.Title += " (deprecated)"
		e.Metadata.Tags = t.tags("deprecated")
	}
	e.Metadata.Annotations[words.AnnotationXRDVersion] = v.Name
	if kind != "" {
		e.Metadata.Annotations[words.AnnotationAPIKind] = kind
	}
	document := openapi.Text(t.def, v, openapi.Info{
		Title: e.Metadata.Title, Description: t.description(v), Version: version, Kind: kind,
	})
	e.Spec = tree.Obj(
		tree.F("type", tree.Str("openapi")),
		tree.F("lifecycle", tree.Str(t.lifecycle())),
		tree.F("owner", tree.Str(t.owner)),
		tree.F("system", tree.Str(t.system)),
		tree.F("definition", tree.Str(document)),
	)
	return e
}

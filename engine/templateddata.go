package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/eta"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// context returns the context in which the templates of a definition are rendered.
func (r *rendering) context() folder.Context {
	return folder.Context{
		Definition: r.t.def,
		Found:      r.found(),
		Facts:      r.facts(),
		Values:     r.opts.Values,
		Functions: map[string]eta.Func{
			"parameters": r.parameters,
			"pages":      r.pages,
			"manifest":   r.manifest,
			"steps":      r.steps,
			"output":     r.output,
			"template":   func([]any) (any, error) { return r.document(entity.KindTemplate), nil },
			"api":        func([]any) (any, error) { return r.document(entity.KindAPI), nil },
			"resource":   func([]any) (any, error) { return r.document(entity.KindResource), nil },
			"entities":   func([]any) (any, error) { return tree.Arr(r.others()...), nil },
			"documents":  func([]any) (any, error) { return folder.Documents(r.others()), nil },
		},
	}
}

// found returns where the definition was found: the origin, overridden by the record.
func (r *rendering) found() map[string]string {
	out := map[string]string{
		"source":   cmp.Or(r.t.def.Origin.Source, xrd.SourceFile),
		"location": r.t.def.Origin.SourceLocation(),
	}
	if c := r.t.def.Origin.Cluster; c != "" {
		out["cluster"] = c
	}
	maps.Copy(out, r.t.in.Context)
	return out
}

// facts returns the values that the engine computed. Values about the form are missing
// if there is no form.
func (r *rendering) facts() *tree.Node {
	t := r.t
	e := r.template
	if e == nil {
		name, _ := entity.Name(t.base)
		e = &entity.Entity{Metadata: entity.Metadata{
			Name: name, Namespace: t.namespace, Title: t.def.Label(), Description: "Definition of " + cmp.Or(t.def.Names.Kind, "an unnamed kind"),
			Labels: t.labels(), Annotations: t.annotations(t.def.Origin), Tags: t.tags(),
		}}
	}
	m := &e.Metadata
	labels, annotations := tree.StrMap(m.Labels), tree.StrMap(m.Annotations)
	if labels == nil {
		labels = tree.Obj()
	}
	out := tree.Obj(
		tree.F("name", tree.Str(m.Name)),
		tree.F("namespace", tree.Str(m.Namespace)),
		tree.F("title", tree.Str(m.Title)),
		tree.F("description", tree.Str(m.Description)),
		tree.F("owner", tree.Str(t.owner)),
		tree.F("system", tree.Str(t.system)),
		tree.F("type", tree.Str(t.templateType())),
		tree.F("lifecycle", tree.Str(t.lifecycle())),
		tree.F("tags", tree.Strs(m.Tags)),
		tree.F("labels", labels),
		tree.F("annotations", annotations),
		tree.F("gitops", r.gitops()),
	)
	if r.version == nil {
		return out
	}
	out.Fields = append(out.Fields,
		tree.F("version", tree.Str(r.version.Name)),
		tree.F("kind", tree.Str(t.target.Kind)),
		tree.F("group", tree.Str(t.def.Group)),
		tree.F("namespaced", tree.Boolean(t.target.Namespaced)),
	)
	return out
}

// gitops returns where changes are proposed: the location in the annotations, else in
// the values. Unknown and unusable fields are missing. The fields are copied into steps
// as they are, where an expression in an annotation would be evaluated, so annotations
// with expressions are ignored.
func (r *rendering) gitops() *tree.Node {
	var values *tree.Node
	if own, err := tree.From(r.opts.Values["gitops"]); err == nil {
		values = own
	}
	if values.IsNull() {
		values = r.folder.Values().Get("gitops")
	}
	// settle returns the first valid of the two values; wrong returns what is wrong with a
	// value.
	settle := func(key, annotation, hint string, wrong func(string) string) string {
		if v := strings.TrimSpace(r.t.def.Annotations[annotation]); v != "" && !r.passOver(annotation, v) {
			problem := wrong(v)
			if problem == "" {
				return v
			}
			r.t.noteDelivery(annotation, problem, false, hint)
		}
		v := strings.TrimSpace(values.Get(key).Str())
		if v == "" || strings.Contains(v, "${{") {
			// The platform operator sets these values and may use an expression deliberately.
			return v
		}
		if problem := wrong(v); problem != "" {
			r.t.noteValue(key, problem, hint)
			return ""
		}
		return v
	}
	address := settle("repository", words.AnnotationGitOpsRepo, hintRepository, func(s string) string {
		usable, wrong := checkRepository(s)
		if usable {
			// The template knows the default host.
			return ""
		}
		return wrong
	})
	path := settle("path", words.AnnotationGitOpsPath, hintPath, func(s string) string {
		if isFolder(s) {
			return ""
		}
		return "is not a path in a repository"
	})
	branch := settle("branch", "", hintBranch, func(s string) string {
		if isBranch(s) {
			return ""
		}
		return "is not a branch name"
	})
	host, repository := form.SplitRepository(address)
	return tree.Obj(
		tree.F("host", tree.OptStr(host)),
		tree.F("repository", tree.OptStr(repository)),
		tree.F("path", tree.OptStr(strings.Trim(path, "/"))),
		tree.F("branch", tree.OptStr(branch)),
	)
}

// passOver reports whether an annotation contains an expression, and adds a finding if
// so.
func (r *rendering) passOver(annotation, value string) bool {
	if !strings.Contains(value, "${{") {
		return false
	}
	own := folder.WrittenKey(r.t.def, annotation)
	f := finding.Finding{
		Rule: folder.RuleExpression, Severity: finding.Warning, Object: r.t.def.Label(), File: r.t.def.Origin.File,
		Pos: annotationPos(r.t.def.Node, own), Message: fmt.Sprintf("annotation %s contains an expression and is ignored", own),
		Hint: "write the value instead of an expression",
	}
	if !slices.Contains(r.t.out.Findings, f) {
		r.t.out.Findings = append(r.t.out.Findings, f)
	}
	return true
}

// errNoForm is returned to a template that asks for a form where there is none.
var errNoForm = errors.New("the definition has no form, because no resource of it can be created; check metadata.version first")

// pages returns the pages of the form as text, a YAML list.
func (r *rendering) pages(args []any) (any, error) {
	pages, err := r.form(args)
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return folder.Items(pages.Items), nil
}

// parameters returns the pages of the form.
func (r *rendering) parameters(args []any) (any, error) {
	pages, err := r.form(args)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	return pages, nil
}

func (r *rendering) form(args []any) (*tree.Node, error) {
	if r.template == nil {
		return nil, errNoForm
	}
	gitops, required := r.t.opts.GitOps, false
	if len(args) > 0 && args[0] != nil {
		n, err := tree.From(args[0])
		if err != nil || !n.IsMap() {
			return nil, errors.New("argument must be options, such as { gitops: true }")
		}
		for _, f := range n.Fields {
			if f.Value.Kind != tree.Bool && !f.Value.IsNull() {
				return nil, fmt.Errorf("option %q must be true or false", f.Key)
			}
			switch f.Key {
			case "gitops":
				gitops = f.Value.IsTrue() || r.t.opts.GitOps
			case "required":
				required = f.Value.IsTrue()
			default:
				return nil, fmt.Errorf("unknown option %q; use gitops or required", f.Key)
			}
		}
	}
	pages := r.template.Spec.Get("parameters")
	if gitops && !r.t.opts.GitOps {
		o := r.t.formOptions()
		at := r.gitops()
		o.GitOps, o.Path = true, at.Get("path").Str()
		o.Repository = at.Get("repository").Str()
		host := at.Get("host").Str()
		switch {
		case host != "":
			o.Repository = "https://" + host + "/" + o.Repository
		case o.Repository == "":
			r.t.noRepository()
		}
		pages = r.t.form(r.version, o).Pages
	}
	if required {
		pages = requiredOnly(pages)
	}
	return pages, nil
}

// requiredOnly returns the pages reduced to required fields and the fields those depend
// on.
func requiredOnly(pages *tree.Node) *tree.Node {
	out := tree.Arr()
	for _, page := range pages.Items {
		wanted := map[string]bool{}
		for _, name := range page.Get("required").Strings() {
			wanted[name] = true
		}
		kept := tree.Obj()
		for _, f := range page.Fields {
			if f.Key != "properties" && f.Key != "title" && f.Key != "description" {
				mentioned(f.Value, wanted)
			}
			kept.Fields = append(kept.Fields, f)
		}
		props := tree.Obj()
		for _, f := range page.Get("properties").Fields {
			if wanted[f.Key] {
				props.Fields = append(props.Fields, f)
			}
		}
		if len(props.Fields) == 0 {
			continue
		}
		kept.Set("properties", props)
		out.Items = append(out.Items, kept)
	}
	return out
}

// mentioned adds every string and key in n to into.
func mentioned(n *tree.Node, into map[string]bool) {
	if n.IsString() {
		into[n.Text] = true
	}
	for _, it := range n.List() {
		mentioned(it, into)
	}
	for _, f := range n.Fields {
		into[f.Key] = true
		mentioned(f.Value, into)
	}
}

// manifest returns the resource with expressions in place of the form's values.
func (r *rendering) manifest([]any) (any, error) {
	if r.template == nil {
		return nil, fmt.Errorf("manifest: %w", errNoForm)
	}
	return r.template.Spec.Get("steps").Items[0].Get("input", "manifest"), nil
}

// output returns the template output, as the developer sees it at the end.
func (r *rendering) output([]any) (any, error) {
	if r.template == nil {
		return nil, fmt.Errorf("output: %w", errNoForm)
	}
	return r.t.output(), nil
}

// steps returns the engine's own steps: apply, change-request, or both, in which case
// each has a condition on the form's delivery.
func (r *rendering) steps(args []any) (any, error) {
	if r.template == nil {
		return nil, fmt.Errorf("steps: %w", errNoForm)
	}
	kind := "apply"
	if len(args) > 0 && args[0] != nil {
		kind, _ = args[0].(string)
	}
	manifest := r.template.Spec.Get("steps").Items[0].Get("input", "manifest")
	own := *r.t.Engine
	own.opts.GitOps = true
	t := *r.t
	t.Engine = &own
	both := t.steps(&form.Form{Manifest: manifest})
	switch kind {
	case "both":
		return both, nil
	case "apply":
		both.Items[0].Delete("if")
		return tree.Arr(both.Items[0]), nil
	case "change-request":
		both.Items[1].Delete("if")
		return tree.Arr(both.Items[1]), nil
	}
	return nil, fmt.Errorf("steps: unknown kind %q; use apply, change-request or both", kind)
}

// document returns the first of the engine's own entities of a kind, or nil.
func (r *rendering) document(kind string) any {
	for _, e := range r.own {
		if e.Kind == kind {
			return e.Node()
		}
	}
	return nil
}

// others returns the engine's own entities except for the Template.
func (r *rendering) others() []*tree.Node {
	var out []*tree.Node
	for _, e := range r.own {
		if e.Kind != entity.KindTemplate {
			out = append(out, e.Node())
		}
	}
	return out
}

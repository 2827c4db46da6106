package task

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/words"
)

// Order is what somebody asks a Template to do.
type Order struct {
	// Template is the entity, Values what its form was filled with.
	Template, Values *tree.Node
	// By is who asks, and where the Template comes from.
	By Requester
	// Read says that the catalog has read the Template where its annotations
	// say. Whoever pushes one writes them as they please.
	Read    bool
	Secrets map[string]secret.Text
	// Budget bounds the checking of Values together with what the caller has
	// checked with it already; nil is a budget of its own.
	Budget *validation.Budget
	// User is the reference of whoever asks, and UserEntity their entity, nil
	// if the catalog has none.
	User       string
	UserEntity *tree.Node
}

// spec is what a task holds of its Template, which may change or go meanwhile.
type spec struct {
	node *tree.Node
	json []byte
	// template is the reference of the Template.
	template string
}

// spec makes the spec of an order, once its values are found to fit.
func (o Order) spec(ctx context.Context) (*spec, error) {
	t := o.Template
	name := t.Get("metadata", "name").Str()
	if !strings.EqualFold(t.Get("kind").Str(), entity.KindTemplate) {
		return nil, refuse("Cannot run %q: it is no Template", name)
	}
	if v := t.Get("apiVersion").Str(); words.APIVersionIn(v) != words.TemplateVersion {
		return nil, refuse("Cannot run the Template %q: its apiVersion is %q and must be %s or %s", name, v,
			words.TemplateVersion, words.Upstream.APIVersionOut(words.TemplateVersion))
	}
	steps, err := steps(t)
	if err != nil {
		return nil, err
	}
	given := o.Values
	if given == nil {
		given = tree.Obj()
	}
	if err := o.check(ctx, given); err != nil {
		return nil, err
	}
	output := t.Get("spec", "output")
	if !output.IsMap() {
		output = tree.Obj()
	}
	s := &spec{template: entity.RefOf(t).String()}
	s.node = tree.Obj(
		tree.F("apiVersion", t.Get("apiVersion")),
		tree.F("steps", steps),
		tree.F("EXPERIMENTAL_recovery", t.Get("spec", "EXPERIMENTAL_recovery")),
		tree.F("output", output),
		tree.F("parameters", given),
		tree.F("user", tree.Obj(tree.F("entity", o.UserEntity), tree.F("ref", tree.OptStr(o.User)))),
		tree.F("templateInfo", tree.Obj(
			tree.F("entityRef", tree.Str(s.template)),
			tree.F("baseUrl", tree.OptStr(Base(o.Template, o.Read))),
			tree.F("entity", tree.Obj(tree.F("metadata", t.Get("metadata")))),
		)),
	)
	s.json = tree.AppendJSON(nil, s.node, "")
	return s, nil
}

// check holds the values against every page of the form. All pages share one
// budget. A form that takes more than that is refused.
func (o Order) check(ctx context.Context, given *tree.Node) error {
	budget := o.Budget
	if budget == nil {
		budget = validation.NewBudget()
	}
	var problems []validation.Problem
	for i, page := range validation.Pages(o.Template.Get("spec", "parameters")) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		found, err := validation.Check(page, given, budget)
		if err != nil {
			return refuse("cannot validate the form: page %d: %s", i+1, err)
		}
		problems = append(problems, found...)
	}
	if len(problems) > 0 {
		return &Invalid{Problems: problems}
	}
	return nil
}

// steps returns the steps of a Template, each with an id and a name.
func steps(t *tree.Node) (*tree.Node, error) {
	name, given := t.Get("metadata", "name").Str(), t.Get("spec", "steps")
	if !given.IsList() {
		return nil, refuse("Cannot run the Template %q: it has no steps", name)
	}
	out := tree.Arr()
	for i, s := range given.Items {
		if s.Get("action").Str() == "" {
			return nil, refuse("Cannot run the Template %q: step %d has no action", name, i+1)
		}
		s = shallow(s)
		if s.Get("id").Scalar() == "" {
			s.Set("id", tree.Str("step-"+strconv.Itoa(i+1)))
		}
		if s.Get("name").Scalar() == "" {
			s.Set("name", s.Get("action"))
		}
		out.Items = append(out.Items, s)
	}
	return out, nil
}

// shallow returns a copy of a map whose fields can be set.
func shallow(n *tree.Node) *tree.Node {
	c := *n
	c.Fields = append([]tree.Field(nil), n.Fields...)
	return &c
}

// Base returns where a Template was read from, empty if that is nowhere others
// can be read from. The Template says itself where its source is, so that an
// address of this machine counts only if the catalog has read the Template there.
func Base(template *tree.Node, read bool) string {
	annotations := words.KeysIn(template.Get("metadata", "annotations").StringMap())
	at := annotations[words.AnnotationSourceLocation]
	if !strings.HasPrefix(at, "url:") {
		at = annotations[words.AnnotationManagedBy]
	}
	kind, target, _ := strings.Cut(at, ":")
	switch {
	case kind == "url" && isWeb(target):
		return target
	case kind == "file" && read:
		return "file://" + target
	}
	return ""
}

// isWeb reports whether an address is of a web server: any other, such as a
// file's, would lead to what is on this machine.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

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

// Order is a request to run a Template.
type Order struct {
	// Template is the entity, Values are the values of its form.
	Template, Values *tree.Node
	// By is the requester, with the origin of the Template.
	By Requester
	// Read says that the catalog has read the Template from the location in its
	// annotations. The annotations of a pushed Template can say anything.
	Read    bool
	Secrets map[string]secret.Text
	// Budget limits the validation of Values together with what the caller has already
	// validated with it; nil is a new budget.
	Budget *validation.Budget
	// User is the reference of the requesting user, and UserEntity the user's entity,
	// nil if the catalog has none.
	User       string
	UserEntity *tree.Node
}

// spec is the copy of a Template that a task keeps, since the Template may change or
// be removed.
type spec struct {
	node *tree.Node
	json []byte
	// template is the reference of the Template.
	template string
}

// spec returns the spec of an order, after validating its values.
func (o Order) spec(ctx context.Context) (*spec, error) {
	t := o.Template
	name := t.Get("metadata", "name").Str()
	if !strings.EqualFold(t.Get("kind").Str(), entity.KindTemplate) {
		return nil, refuse("cannot run %q: not a Template", name)
	}
	if v := t.Get("apiVersion").Str(); words.APIVersionIn(v) != words.TemplateVersion {
		return nil, refuse("cannot run the Template %q: apiVersion is %q and must be %s or %s", name, v,
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

// check validates the values against every page of the form. All pages share one
// budget. A form that exceeds it is refused.
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
		return nil, refuse("cannot run the Template %q: no steps", name)
	}
	out := tree.Arr()
	for i, s := range given.Items {
		if s.Get("action").Str() == "" {
			return nil, refuse("cannot run the Template %q: step %d has no action", name, i+1)
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

// shallow returns a copy of a map node whose fields can be set.
func shallow(n *tree.Node) *tree.Node {
	c := *n
	c.Fields = append([]tree.Field(nil), n.Fields...)
	return &c
}

// Base returns the URL that a Template was read from, empty if other files cannot be
// read relative to it. The Template itself declares its source location, so a file
// path of this machine counts only if the catalog has read the Template there.
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

// isWeb reports whether an address is a web URL. Any other address, such as a file
// URL, would give access to files of this machine.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

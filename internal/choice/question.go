package choice

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// question is what a request asks for.
type question struct {
	template *permission.Resource
	choices  xrd.Choices
	// integers says that the field has integers, not texts.
	integers bool
	// cluster may be empty; namespace is that of the objects, empty for all.
	cluster, namespace string
	search             string
	// creates is what the Template creates.
	creates creation
}

// creation is the group and kind of the object that a Template creates; both are empty if
// that is not known.
type creation struct{ group, kind string }

// longestParam is the length limit of a parameter.
const longestParam = 1024

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// question reads a request, if the caller may read the form of its Template.
func (s *Choices) question(r *http.Request) (question, error) {
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return question{}, err
	}
	var given [5]string
	for i, name := range []string{"template", "field", "cluster", "namespace", "search"} {
		if given[i], err = param(params, name, i < 2); err != nil {
			return question{}, err
		}
	}
	t, err := s.template(r.Context(), given[0])
	if err != nil {
		return question{}, err
	}
	q := question{template: t.Resource, search: strings.TrimSpace(given[4]), creates: created(t.Spec)}
	if err := q.readField(t.Spec, given[1]); err != nil {
		return q, err
	}
	if q.cluster, err = clusterIn(t.Spec, given[2]); err != nil {
		return q, err
	}
	q.namespace, err = q.namespaceFor(given[3])
	return q, err
}

func param(params url.Values, name string, required bool) (string, error) {
	value, _, err := rest.One(params, name)
	switch {
	case err != nil:
		return "", err
	case required && value == "":
		return "", rest.Input("request/query must have required property '%s'", name)
	case len(value) > longestParam:
		return "", rest.Input("request/query/%s must NOT have more than %d characters", name, longestParam)
	}
	return value, nil
}

// template returns the Template with a reference, if the caller may read it and its form.
func (s *Choices) template(ctx context.Context, text string) (Template, error) {
	ref, err := entity.ParseRef(text, entity.KindTemplate, entity.DefaultNamespace)
	if err != nil || !strings.EqualFold(ref.Kind, entity.KindTemplate) {
		return Template{}, rest.NotFound("Template %s not found", rest.Short(text))
	}
	t, err := s.opts.Template(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return t, rest.NotFound("Template %s not found", rest.Short(ref.String()))
	}
	if err != nil {
		return t, err
	}
	return t, s.opts.Policy.Require(ctx, permission.TemplateParameterRead, t.Resource)
}

// readField reads the choices of the field at a pointer.
func (q *question) readField(spec *tree.Node, pointer string) error {
	field := form.FieldAt(spec, pointer)
	given := form.ChoicesOf(field)
	if given == nil {
		return rest.NotFound("%s has no field %s with live choices", q.template.Ref, rest.Short(pointer))
	}
	var problems []xrd.ChoicesProblem
	q.choices, problems = xrd.ReadChoices(given)
	typ, _, ok := xrd.ChoosableType(field)
	switch {
	case len(problems) > 0 && problems[0].Secret:
		return rest.NotAllowed("Field %s has choices that are never shown: %s", rest.Short(pointer), problems[0].Message)
	case len(problems) > 0:
		return rest.NotFound("Field %s has no valid choices: %s", rest.Short(pointer), problems[0].Message)
	case !ok:
		return rest.NotFound("Field %s has a type that cannot have choices", rest.Short(pointer))
	}
	q.integers = typ == "integer"
	return nil
}

// plainCluster is the name that Templates often give to the field for the cluster.
// Generated forms use form.ParamCluster: there it is a field of the definition.
const plainCluster = "cluster"

// plainInput matches the input of a step that is the field plainCluster.
var plainInput = regexp.MustCompile(`^\s*\$\{\{\s*parameters\.` + plainCluster + `\s*\}\}\s*$`)

// clusterIn returns the cluster of a request. If the form asks for the cluster, it must be
// one of those that the form offers; otherwise it is the one that its steps use.
func clusterIn(spec *tree.Node, name string) (string, error) {
	field := form.FieldAt(spec, "/"+form.ParamCluster)
	if field == nil && slices.ContainsFunc(spec.Get("steps").List(), func(step *tree.Node) bool {
		return plainInput.MatchString(step.Get("input", "cluster").Str())
	}) {
		field = form.FieldAt(spec, "/"+plainCluster)
	}
	if field == nil {
		return "", nil
	}
	offered := field.Get("enum").Strings()
	switch {
	case name == "":
		return "", rest.Input("Choose a cluster first: request/query must have required property 'cluster'")
	case len(offered) > 0 && !slices.Contains(offered, name):
		return "", rest.NotFound("The form does not offer cluster %s", rest.Short(name))
	}
	return name, nil
}

// namespaceFor returns the namespace whose objects are listed, empty for all.
func (q *question) namespaceFor(chosen string) (string, error) {
	if q.choices.Namespace != xrd.NamespaceOfForm {
		return q.choices.Namespace, nil
	}
	if !dnsLabel.MatchString(chosen) {
		return "", rest.Input("Choose a namespace first: request/query/namespace must be the name of a namespace")
	}
	return chosen, nil
}

// created returns what the steps of a Template create.
func created(spec *tree.Node) creation {
	for _, step := range spec.Get("steps").List() {
		switch words.In(words.Action, step.Get("action").Str()) {
		case words.ActionApply, words.ActionChangeRequest:
		default:
			continue
		}
		manifest := step.Get("input", "manifest")
		if kind := manifest.Get("kind").Str(); kind != "" {
			group, _, ok := strings.Cut(manifest.Get("apiVersion").Str(), "/")
			if !ok {
				group = ""
			}
			return creation{group, kind}
		}
	}
	return creation{}
}

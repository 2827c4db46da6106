package scaffolder

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/template/expression"
)

// Complete returns the suggestions for a form field: values of a resource, such as
// namespaces, that match the values entered so far. Its errors are reported to
// callers like those of Options.Fill.
type Complete func(ctx context.Context, resource string, context map[string]string) ([]Result, error)

// Result is a suggested value of a form field.
type Result struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// autocomplete answers POST /v2/autocomplete/{provider}/{resource}. Its results are
// only for callers who may create tasks. The token that clients of forges send is not
// needed here.
func (s *Scaffolder) autocomplete(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := s.Policy.Require(ctx, permission.TaskCreate, nil); err != nil {
		return err
	}
	var body struct {
		Context map[string]string `json:"context"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	name := r.PathValue("provider")
	complete, ok := s.Autocomplete[name]
	if !ok {
		return rest.NotFound("Unsupported provider: %s", rest.Short(name))
	}
	results, err := complete(ctx, r.PathValue("resource"), body.Context)
	if err != nil {
		return told(err)
	}
	if results == nil {
		results = []Result{}
	}
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Results []Result `json:"results"`
	}{results})
}

// Helpers for the schemas of filters.
func typed(name string) *tree.Node { return tree.Obj(tree.F("type", tree.Str(name))) }

func text(about string) *tree.Node {
	return tree.Obj(tree.F("type", tree.Str("string")), tree.F("description", tree.Str(about)))
}

func texts(names ...string) *tree.Node {
	properties := tree.Obj()
	for _, name := range names {
		properties.Set(name, typed("string"))
	}
	return tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", properties))
}

// filter returns the documentation of a filter.
func filter(description string, input, arguments, output *tree.Node, example string) *tree.Node {
	return tree.Obj(
		tree.F("description", tree.Str(description)),
		tree.F("schema", tree.Obj(tree.F("input", input), tree.F("arguments", arguments), tree.F("output", output))),
		tree.F("examples", tree.Arr(tree.Obj(tree.F("example", tree.Str(example))))),
	)
}

// documented are the documented filters that Templates always have.
var documented = map[string]*tree.Node{
	"parseRepoUrl": filter(
		"Parses the URL of a repository.",
		text("URL in the form host?owner=owner&repo=repository."), nil,
		texts("host", "owner", "repo", "organization", "workspace", "project"),
		"repository: ${{ parameters.repoUrl | parseRepoUrl }}"),
	"projectSlug": filter(
		"Returns owner/repository for the URL of a repository.",
		text("URL in the form host?owner=owner&repo=repository."), nil, typed("string"),
		"slug: ${{ parameters.repoUrl | projectSlug }}"),
	"parseEntityRef": filter(
		"Parses an entity reference.",
		text("Reference in the form kind:namespace/name."),
		tree.Arr(texts("defaultKind", "defaultNamespace")),
		texts("kind", "namespace", "name"),
		"owner: ${{ parameters.owner | parseEntityRef({ defaultKind: 'group' }) }}"),
	"pick": filter(
		"Returns one field of an object.",
		typed("object"), tree.Arr(text("Name of the field.")), tree.Obj(),
		"kind: ${{ parameters.owner | parseEntityRef | pick('kind') }}"),
}

// extensionsOf returns the filters and functions that the portal adds to the template
// language.
func extensionsOf(env *expression.Env) *tree.Node {
	filters, functions := tree.Obj(), tree.Obj()
	for _, name := range slices.Sorted(maps.Keys(env.Filters)) {
		about := documented[name]
		if about == nil {
			about = tree.Obj()
		}
		filters.Set(name, about)
	}
	for _, name := range slices.Sorted(maps.Keys(env.Globals)) {
		functions.Set(name, tree.Obj())
	}
	return tree.Obj(
		tree.F("filters", filters),
		tree.F("globals", tree.Obj(tree.F("functions", functions), tree.F("values", tree.Obj()))),
	)
}

package scaffolder

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/words"
)

// found is a Template with its resource for permissions.
type found struct {
	*tree.Node
	resource *permission.Resource
	// read says that the catalog itself has read the Template from a location.
	read bool
}

// by returns the requester for running the Template.
func (s *Scaffolder) by(ctx context.Context, t found) task.Requester {
	r := task.Requester{Caller: auth.From(ctx), Template: t.resource.Ref, Owners: t.resource.Owners, Origin: t.resource.Origin}
	if permission.Trusted(r.Origin) {
		r.Repositories = repositoriesOf(t.Node, s.Env)
	}
	return r
}

// template returns the Template with a reference, if the caller may read it.
func (s *Scaffolder) template(ctx context.Context, ref entity.Ref) (found, error) {
	e, err := s.Catalog.Find(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return found{}, rest.NotFound("Template %s not found", rest.Short(ref.String()))
	}
	if err != nil {
		return found{}, err
	}
	n, err := wire.Decoder{}.Decode(e.JSON)
	if err != nil {
		return found{}, err
	}
	if !isTemplate(n) {
		return found{}, rest.Input("Unsupported apiVersion field in schema entity, %s", rest.Short(n.Get("apiVersion").Str()))
	}
	resource, err := permission.ResourceOf(e.Ref, e.JSON)
	if err != nil {
		return found{}, err
	}
	resource.Origin = e.Origin
	return found{n, resource, e.Read}, nil
}

// isTemplate reports whether an entity is a Template that the scaffolder supports, in
// either spelling of the apiVersion.
func isTemplate(n *tree.Node) bool {
	return strings.EqualFold(n.Get("kind").Str(), entity.KindTemplate) && words.APIVersionIn(n.Get("apiVersion").Str()) == words.TemplateVersion
}

// untitled is the default title of a page.
const untitled = "Please enter the following information"

// parameterSchema answers GET
// /v2/templates/{namespace}/{kind}/{name}/parameter-schema with the form and, if a
// resource is named, the values of that resource. If a field of the resource is named, it
// says where the form has it.
func (s *Scaffolder) parameterSchema(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	params, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return err
	}
	t, err := s.template(ctx, entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")})
	if err != nil {
		return err
	}
	if err := s.Policy.Require(ctx, permission.TemplateParameterRead, t.resource); err != nil {
		return err
	}
	var live *tree.Node
	if params.Has("name") {
		if live, err = s.fill(ctx, t, params.Get("cluster"), params.Get("namespace"), params.Get("name")); err != nil {
			return err
		}
	}
	opened := formOf(t.Node, live, t.resource.Origin)
	// The field to begin with is not part of the form: a draft of the same form stays valid.
	etag := rest.ETagOf(tree.AppendJSON(nil, opened, ""))
	if at := form.Locate(t.Node.Get("spec"), strings.Split(params.Get("field"), ".")); at != nil {
		opened.Set("focus", tree.Strs(at))
	}
	return rest.Write(w, r, rest.Content{ETag: etag, Body: tree.AppendJSON(nil, opened, "")})
}

// formOf returns the form of a Template with the given origin, filled with the values
// unless they are nil.
func formOf(t, live *tree.Node, origin string) *tree.Node {
	metadata, spec := t.Get("metadata"), t.Get("spec")
	pages := tree.Arr()
	for _, page := range validation.Pages(spec.Get("parameters")) {
		if live != nil {
			page = page.Clone()
			setDefaults(page, live, 0)
		}
		pages.Items = append(pages.Items, tree.Obj(
			tree.F("title", tree.Str(cmp.Or(page.Get("title").Str(), untitled))),
			tree.F("description", page.Get("description")),
			tree.F("schema", page),
		))
	}
	decorators := spec.Get("formDecorators")
	if decorators == nil {
		decorators = spec.Get("EXPERIMENTAL_formDecorators")
	}
	return tree.Obj(
		tree.F("title", tree.Str(cmp.Or(metadata.Get("title").Str(), metadata.Get("name").Str()))),
		tree.F("presentation", spec.Get("presentation")),
		tree.F("description", metadata.Get("description")),
		tree.F("ui:options", metadata.Get("ui:options")),
		tree.F("origin", tree.Str(origin)),
		tree.F("steps", pages),
		tree.F("formDecorators", decorators),
		tree.F("values", live),
	)
}

// maxDepth is the nesting limit of the subschemas of a page.
const maxDepth = 32

// setDefaults makes the values the defaults of a schema's properties, including those
// under conditions. A property with a single permitted value keeps it, because
// conditions depend on it.
func setDefaults(schema, live *tree.Node, depth int) {
	if !schema.IsMap() || depth > maxDepth {
		return
	}
	if properties := schema.Get("properties"); properties.IsMap() {
		for _, f := range properties.Fields {
			fixed := f.Value.Has("const") || f.Value.Get("enum").Len() == 1
			if value := live.Get(f.Key); value != nil && f.Value.IsMap() && !fixed {
				f.Value.Set("default", value)
			}
		}
	}
	for _, key := range []string{"then", "else"} {
		setDefaults(schema.Get(key), live, depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range schema.Get(key).List() {
			setDefaults(part, live, depth+1)
		}
	}
	if dependencies := schema.Get("dependencies"); dependencies.IsMap() {
		for _, f := range dependencies.Fields {
			setDefaults(f.Value, live, depth+1)
		}
	}
}

// fill returns the values for the form of a Template. A live resource is shown only
// to callers who may run the Template on it.
func (s *Scaffolder) fill(ctx context.Context, t found, cluster, namespace, name string) (*tree.Node, error) {
	if err := s.Policy.Require(ctx, permission.TaskCreate, t.resource); err != nil {
		return nil, err
	}
	for _, part := range []struct{ name, value string }{{"cluster", cluster}, {"namespace", namespace}, {"name", name}} {
		if err := rest.CheckText(part.name, part.value); err != nil {
			return nil, err
		}
	}
	var live *tree.Node
	var err error
	if s.Fill != nil {
		live, err = s.Fill(ctx, s.by(ctx, t), t.Node, cluster, namespace, name)
	}
	if err != nil {
		return nil, told(err)
	}
	if live == nil {
		return nil, rest.Input("Template %s does not update anything, so its form cannot be prefilled", t.resource.Ref)
	}
	return live, nil
}

// told converts the error of an action to the fault that the caller sees. Other
// errors are returned unchanged; callers do not see their text.
func told(err error) error {
	if _, ok := errors.AsType[*rest.Fault](err); ok {
		return err
	}
	if denied, ok := errors.AsType[*action.Denied](err); ok {
		return rest.NotAllowed("%s", denied.Message)
	}
	failed, ok := errors.AsType[*action.Error](err)
	if !ok {
		return err
	}
	message := failed.Error()
	if failed.Hint != "" {
		message += "; " + failed.Hint
	}
	return rest.Input("%s", message)
}

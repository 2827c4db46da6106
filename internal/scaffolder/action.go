package scaffolder

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/words"
)

// actionStep is the id of the only step of a task that runs an action, and actionInput the
// parameter with its input.
const (
	actionStep  = "run"
	actionInput = "input"
)

// runAction answers POST /v2/actions/{id}/run: a task with a single step, for a Template
// that another portal runs. With dryRun it answers as POST /v2/dry-run does.
func (s *Scaffolder) runAction(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body struct {
		Input       json.RawMessage `json:"input"`
		TemplateRef string          `json:"templateRef"`
		DryRun      bool            `json:"dryRun"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	create := permission.TaskCreate
	if body.DryRun {
		create = permission.TemplateDryRun
	}
	ref, err := entity.ParseRef(body.TemplateRef, entity.KindTemplate, "")
	if err != nil {
		return rest.Input("request/body/templateRef must have the form [<kind>:][<namespace>/]<name>")
	}
	by, resource, err := s.relayed(ctx, ref)
	if err == nil {
		err = s.mayRun(ctx, create, resource)
	}
	if err != nil {
		return err
	}
	if by.Caller.Via == "" {
		// A user could name any Template, and rules about it would apply to any input.
		return s.Policy.Deny(ctx, create, nil, "Missing permission "+create+": only a Backstage in auth.backstage runs single actions; create a task from a Template")
	}
	id := r.PathValue("id")
	if !slices.ContainsFunc(s.Tasks.Actions(), func(a action.Action) bool { return a.ID == id || slices.Contains(a.Aliases, id) }) {
		return rest.NotFound("No action %s found", rest.Short(id))
	}
	input, err := wire.Decoder{}.Decode(body.Input)
	if err != nil {
		return rest.Input("cannot parse request/body/input: %s", err)
	}
	if !input.IsMap() {
		return rest.Input("request/body/input must be object")
	}
	order := task.Order{Template: actionTemplate(ref, id), Values: tree.Obj(tree.F(actionInput, input)), By: by}
	if c := auth.From(ctx); c.Kind == auth.User || c.Kind == auth.Guest {
		order.User = c.Subject
	}
	if body.DryRun {
		done, err := s.Tasks.DryRun(ctx, task.DryOrder{Order: order})
		s.record(ctx, audit.DryRun, "", ref.String(), err)
		if err != nil {
			return failed(w, r, err)
		}
		return writeDryRun(w, r, done)
	}
	made, err := s.createdTask(ctx, order, ref.String())
	if err != nil {
		return failed(w, r, err)
	}
	return rest.WriteJSON(w, r, http.StatusCreated, made)
}

// relayed returns the requester of a task for a Template that a Backstage runs, and the
// Template of that name in the catalog as a resource; nil if the caller may not read one.
// The portal does not know what the Template of the Backstage does. Unless the operator
// trusts it, rules about the Template of that name do not apply.
func (s *Scaffolder) relayed(ctx context.Context, ref entity.Ref) (task.Requester, *permission.Resource, error) {
	c := auth.From(ctx)
	by := task.Requester{Caller: c, Origin: permission.OriginBackstage + c.Via}
	if c.Via == "" || s.TrustTemplates == nil || !s.TrustTemplates(c.Via) {
		return by, nil, nil
	}
	by.Template, by.Origin = ref.String(), permission.OriginConfig
	known, err := s.template(ctx, ref)
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status < http.StatusInternalServerError {
		return by, nil, nil
	}
	if err != nil {
		return by, nil, err
	}
	by.Owners = known.resource.Owners
	if permission.Trusted(known.resource.Origin) {
		by.Repositories = repositoriesOf(known.Node, s.Env)
	}
	return by, known.resource, nil
}

// actionTemplate returns a Template whose only step runs an action with the input that is
// its parameter: an expression in the input is not evaluated, because the other portal has
// evaluated it already.
func actionTemplate(ref entity.Ref, id string) *tree.Node {
	step := tree.Obj(
		tree.F("id", tree.Str(actionStep)), tree.F("name", tree.Str(id)), tree.F("action", tree.Str(id)),
		tree.F("input", tree.Str("${{ parameters."+actionInput+" }}")),
	)
	return tree.Obj(
		tree.F("apiVersion", tree.Str(words.TemplateVersion)), tree.F("kind", tree.Str(entity.KindTemplate)),
		tree.F("metadata", tree.Obj(tree.F("name", tree.Str(ref.Name)), tree.F("namespace", tree.Str(ref.Namespace)))),
		tree.F("spec", tree.Obj(
			tree.F("steps", tree.Arr(step)),
			tree.F("output", tree.Obj(tree.F(actionStep, tree.Str("${{ steps."+actionStep+".output }}")))),
		)),
	)
}

package scaffolder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/internal/secret"
)

// filled is the submitted data of a form.
type filled struct {
	Values  json.RawMessage    `json:"values"`
	Secrets map[string]*string `json:"secrets"`
}

// values returns the values, an empty object if there are none.
func (f *filled) values() (*tree.Node, error) {
	data := bytes.TrimSpace(f.Values)
	if len(data) == 0 || string(data) == "null" {
		return tree.Obj(), nil
	}
	n, err := wire.Decoder{}.Decode(data)
	if err != nil {
		return nil, rest.Input("cannot parse request/body/values: %s", err)
	}
	if !n.IsMap() {
		return nil, rest.Input("request/body/values must be object")
	}
	return n, nil
}

// secrets returns the secrets, nil if there are none.
func (f *filled) secrets() (map[string]secret.Text, error) {
	if len(f.Secrets) == 0 {
		return nil, nil
	}
	out := make(map[string]secret.Text, len(f.Secrets))
	for name, s := range f.Secrets {
		if s == nil {
			return nil, rest.Input("request/body/secrets/%s must be string", rest.Short(name))
		}
		out[name] = secret.Text(*s)
	}
	return out, nil
}

// order returns the order of the caller for a Template, and the problems with the
// secrets. Services are not users, and have no user reference.
func (s *Scaffolder) order(ctx context.Context, t *tree.Node, f filled) (task.Order, []validation.Problem, error) {
	o := task.Order{Template: t, Budget: validation.NewBudget()}
	var err error
	if o.Values, err = f.values(); err != nil {
		return o, nil, err
	}
	if o.Secrets, err = f.secrets(); err != nil {
		return o, nil, err
	}
	problems, err := checkSecrets(t.Get("spec", "secrets", "schema"), o.Secrets, o.Budget)
	if err != nil || len(problems) > 0 {
		return o, problems, err
	}
	c := auth.From(ctx)
	if c.Kind == auth.User || c.Kind == auth.Guest {
		o.User = c.Subject
	}
	o.UserEntity, err = s.userEntity(ctx, o.User)
	return o, nil, err
}

// checkSecrets validates secrets against the schema of a Template, if it has one. The
// problems do not contain the secrets.
func checkSecrets(schema *tree.Node, secrets map[string]secret.Text, budget *validation.Budget) ([]validation.Problem, error) {
	if schema.IsNull() {
		return nil, nil
	}
	given := map[string]string{}
	for name, s := range secrets {
		given[name] = s.Reveal()
	}
	problems, err := validation.Check(schema, tree.StrMap(given), budget)
	if err != nil {
		return nil, rest.Input("cannot validate the secrets: %s", err)
	}
	for i := range problems {
		problems[i].Instance = nil
	}
	return problems, nil
}

// invalid answers that the submitted data does not fit the form.
func invalid(w http.ResponseWriter, r *http.Request, problems []validation.Problem) error {
	return rest.WriteJSON(w, r, http.StatusBadRequest, struct {
		Errors []validation.Problem `json:"errors"`
	}{problems})
}

// failed answers with the reason why a Template is not run.
func failed(w http.ResponseWriter, r *http.Request, err error) error {
	if e, ok := errors.AsType[*task.Invalid](err); ok {
		return invalid(w, r, e.Problems)
	}
	if e, ok := errors.AsType[*task.Refused](err); ok {
		if e.Wait > 0 {
			return rest.OverLimit(e.Wait, "%s", e.Reason)
		}
		return rest.Input("%s", e.Reason)
	}
	return told(err)
}

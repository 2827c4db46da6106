package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
)

// validate answers POST /validate-entity: with an empty response if the entity is
// valid, else with its problems.
func (in *Providers) validate(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.EntityValidate, nil); err != nil {
		return err
	}
	var body struct {
		Entity   json.RawMessage `json:"entity"`
		Location *string         `json:"location"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	switch {
	case body.Location == nil:
		return rest.Input("request/body must have required property 'location'")
	case body.Entity == nil:
		return rest.Input("request/body must have required property 'entity'")
	}
	typ, target, _ := strings.Cut(*body.Location, ":")
	if typ != location.TypeURL || target == "" {
		return rest.Input("Invalid location ref '%s', only 'url:<target>' is supported, e.g. url:https://host/path", rest.Short(*body.Location))
	}
	n, err := wire.Decoder{}.Decode(bytes.TrimSpace(body.Entity))
	if err != nil {
		return rest.Input("cannot parse request/body/entity: %s", err)
	}
	if !n.IsMap() {
		return rest.Input("request/body/entity must be object")
	}
	location.Annotate(n, *body.Location, *body.Location)
	problems := location.ProblemsOf(n)
	if len(problems) == 0 {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	type flaw struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Cause   *flaw  `json:"cause,omitempty"`
	}
	flaws := make([]flaw, len(problems))
	for i, p := range problems {
		flaws[i] = flaw{Name: p.Name, Message: p.Message}
		if p.Cause != "" {
			flaws[i].Cause = &flaw{Name: "Error", Message: p.Cause}
		}
	}
	return rest.WriteJSON(w, r, http.StatusBadRequest, struct {
		Errors []flaw `json:"errors"`
	}{flaws})
}

package intake

import (
	"net/http"
	"net/url"
	"path"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/portal/location"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/portal/query"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/words"
)

// analyze answers POST /analyze-location: the beginning of an entity for what
// is at an address. Files that are there already would be found in the
// repositories of hosts the portal has an integration with. There are none, so
// that nothing is fetched.
func (in *Intake) analyze(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationAnalyze, nil); err != nil {
		return err
	}
	var body struct {
		Location *locationInput `json:"location"`
	}
	if err := server.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Location == nil {
		return server.Input("request/body must have required property 'location'")
	}
	if err := body.Location.check("request/body/location"); err != nil {
		return err
	}
	if *body.Location.Type != location.TypeURL {
		return server.Input("request/body/location/type must be url, and not '%s'", query.Short(*body.Location.Type))
	}
	if err := inputOf(location.Check(location.TypeURL, *body.Location.Target)); err != nil {
		return err
	}
	u, err := url.Parse(*body.Location.Target)
	if err != nil {
		return server.Input("request/body/location/target is no address")
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		name = u.Hostname()
	}
	name, _ = entity.Name(name)
	type object = map[string]any
	return server.WriteJSON(w, r, http.StatusOK, object{
		"existingEntityFiles": []object{},
		"generateEntities": []object{{
			"entity": object{
				"apiVersion": words.Upstream.APIVersionOut(words.EntityVersion),
				"kind":       entity.KindComponent,
				"metadata":   object{"name": name},
				"spec":       object{"type": "other", "lifecycle": "unknown"},
			},
			"fields": []object{},
		}},
	})
}

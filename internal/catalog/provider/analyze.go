package provider

import (
	"net/http"
	"net/url"
	"path"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// analyze answers POST /analyze-location: a draft of an entity for the content of an
// address. Existing files would be found in the repositories of hosts that the portal
// has an integration with. There are no integrations, so nothing is fetched.
func (in *Providers) analyze(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.LocationAnalyze, nil); err != nil {
		return err
	}
	var body struct {
		Location *locationInput `json:"location"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Location == nil {
		return rest.Input("request/body must have required property 'location'")
	}
	if err := body.Location.check("request/body/location"); err != nil {
		return err
	}
	if *body.Location.Type != location.TypeURL {
		return rest.Input("request/body/location/type must be url, and not '%s'", rest.Short(*body.Location.Type))
	}
	if err := inputOf(location.Check(location.TypeURL, *body.Location.Target)); err != nil {
		return err
	}
	u, err := url.Parse(*body.Location.Target)
	if err != nil {
		return rest.Input("request/body/location/target is not a URL")
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		name = u.Hostname()
	}
	name, _ = entity.Name(name)
	type object = map[string]any
	return rest.WriteJSON(w, r, http.StatusOK, object{
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

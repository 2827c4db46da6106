package provider

import (
	"errors"
	"net/http"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
)

// refresh answers POST /refresh: it reads the location of an entity again immediately.
// Entities that a provider pushed cannot be refreshed.
func (in *Providers) refresh(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body struct {
		EntityRef *string `json:"entityRef"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.EntityRef == nil {
		return rest.Input("request/body must have required property 'entityRef'")
	}
	ref, err := entity.ParseRef(*body.EntityRef, "", "")
	if err != nil {
		return rest.Input("Malformed entity reference '%s', expected <kind>:<namespace>/<name>", rest.Short(*body.EntityRef))
	}
	e, err := in.catalog.Find(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		// A caller without the permission must not learn which entities exist.
		if err := in.policy.Require(ctx, permission.EntityRefresh, nil); err != nil {
			return err
		}
		return rest.NotFound("Entity %s not found", rest.Short(ref.String()))
	}
	if err != nil {
		return err
	}
	resource, err := permission.ResourceOf(e.Ref, e.JSON)
	if err != nil {
		return err
	}
	if err := in.policy.Require(ctx, permission.EntityRefresh, resource); err != nil {
		return err
	}
	if id, ok := strings.CutPrefix(e.Provider, store.LocationProvider("")); ok {
		in.readSoon(id)
	}
	in.recordRefresh(ctx, e.Ref)
	w.WriteHeader(http.StatusOK)
	return nil
}

package catalog

import (
	"errors"
	"net/http"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/internal/store"
)

// refresh answers POST /refresh: the location an entity comes from is read
// again at once. What a provider pushed cannot be asked for.
func (c *Catalog) refresh(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var in struct {
		EntityRef *string `json:"entityRef"`
	}
	if err := server.ReadJSON(r, &in); err != nil {
		return err
	}
	if in.EntityRef == nil {
		return server.Input("request/body must have required property 'entityRef'")
	}
	ref, err := entity.ParseRef(*in.EntityRef, "", "")
	if err != nil {
		return server.Input("Malformed entity reference '%s', expected <kind>:<namespace>/<name>", shorten(*in.EntityRef))
	}
	e, err := c.find(ctx, ref.String(), c.store.Get)
	if errors.Is(err, store.ErrNotFound) {
		// Whoever may refresh nothing is told so rather than what there is.
		if err := c.policy.Require(ctx, permission.EntityRefresh, nil); err != nil {
			return err
		}
		return server.NotFound("Entity %s not found", shorten(ref.String()))
	}
	if err != nil {
		return err
	}
	resource, err := resourceOf(e)
	if err != nil {
		return err
	}
	if err := c.policy.Require(ctx, permission.EntityRefresh, resource); err != nil {
		return err
	}
	if id, ok := strings.CutPrefix(e.Provider, store.LocationProvider("")); ok {
		c.locations.hurry(id)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

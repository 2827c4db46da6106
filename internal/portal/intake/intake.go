package catalog

import (
	"net/http"

	"example.dev/ingestor/internal/portal/server"
)

// writeRoutes are the endpoints that bring entities, or judge them.
func (c *Catalog) writeRoutes() []server.Route {
	return []server.Route{
		{Method: http.MethodGet, Path: "/locations", Handle: c.listLocations},
		{Method: http.MethodPost, Path: "/locations", Handle: c.createLocation},
		{Method: http.MethodPost, Path: "/locations/by-query", Handle: c.queryLocations},
		{Method: http.MethodGet, Path: "/locations/by-entity/{kind}/{namespace}/{name}", Handle: c.locationByEntity},
		{Method: http.MethodGet, Path: "/locations/{id}", Handle: c.getLocation},
		{Method: http.MethodPut, Path: "/locations/{id}", Handle: c.updateLocation},
		{Method: http.MethodDelete, Path: "/locations/{id}", Handle: c.deleteLocation},
		{Method: http.MethodPost, Path: "/refresh", Handle: c.refresh},
		{Method: http.MethodPost, Path: "/validate-entity", Handle: c.validate},
		{Method: http.MethodPost, Path: "/analyze-location", Handle: c.analyze},
		{Method: http.MethodGet, Path: "/providers", Handle: c.listProviders},
		{Method: http.MethodDelete, Path: "/providers/{name}", Handle: c.deleteProvider},
		{Method: http.MethodPut, Path: "/providers/{name}/entities", Handle: c.pushAll, MaxBody: c.pushes.max},
		{Method: http.MethodPost, Path: "/providers/{name}/delta", Handle: c.pushDelta, MaxBody: c.pushes.max},
	}
}

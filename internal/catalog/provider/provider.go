// Package provider brings entities into the portal's catalog: from locations that are
// registered or configured and read periodically, and from providers that push. It also
// validates entities that are not in the catalog yet.
//
// It is one package because registered locations and pushes replace each other's entities,
// and share schedules, limits and validation.
package provider

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/rest"
)

// Options are the options of New.
type Options struct {
	Store *store.Store
	// Queue runs the reading of locations. New registers tasks and schedules, so that the
	// queue must not run yet.
	Queue  *jobs.Queue
	Policy *permission.Policy
	// Catalog finds existing entities that the caller may see, and signs cursors.
	Catalog *catalog.Catalog
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Config says which locations are read, and how often.
	Config config.Catalog
	// Reading says where locations may be.
	Reading config.Reading
	// MaxPush is the maximum size of a push in bytes; 0 means the server's limit.
	MaxPush int64
	// Registry registers the metrics; nil means none.
	Registry prometheus.Registerer
	// Audit records writes; nil records nothing.
	Audit *audit.Log
}

// Providers brings entities into the catalog.
type Providers struct {
	store   *store.Store
	queue   *jobs.Queue
	policy  *permission.Policy
	catalog *catalog.Catalog
	now     func() time.Time
	log     *slog.Logger
	// locations are read by jobs; pushes come from providers.
	locations *locations
	pushes    pushes
	metrics   *metrics
	audit     *audit.Log
}

// New returns the providers of a catalog.
func New(opts Options) *Providers {
	in := &Providers{
		store:   opts.Store,
		queue:   opts.Queue,
		policy:  opts.Policy,
		catalog: opts.Catalog,
		now:     opts.Now,
		log:     opts.Log,
		pushes:  pushes{max: opts.MaxPush},
		audit:   opts.Audit,
	}
	in.locations = newLocations(opts)
	in.metrics = newMetrics(opts.Registry, in)
	in.handle()
	return in
}

// Routes returns the endpoints below /api/catalog that add or validate entities.
func (in *Providers) Routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/locations", Handle: in.listLocations},
		{Method: http.MethodPost, Path: "/locations", Handle: in.createLocation},
		{Method: http.MethodPost, Path: "/locations/by-query", Handle: in.queryLocations},
		{Method: http.MethodGet, Path: "/locations/by-entity/{kind}/{namespace}/{name}", Handle: in.locationByEntity},
		{Method: http.MethodGet, Path: "/locations/{id}", Handle: in.getLocation},
		{Method: http.MethodPut, Path: "/locations/{id}", Handle: in.updateLocation},
		{Method: http.MethodDelete, Path: "/locations/{id}", Handle: in.deleteLocation},
		{Method: http.MethodPost, Path: "/refresh", Handle: in.refresh},
		{Method: http.MethodPost, Path: "/validate-entity", Handle: in.validate},
		{Method: http.MethodPost, Path: "/analyze-location", Handle: in.analyze},
		{Method: http.MethodGet, Path: "/providers", Handle: in.listProviders},
		{Method: http.MethodDelete, Path: "/providers/{name}", Handle: in.deleteProvider},
		{Method: http.MethodPut, Path: "/providers/{name}/entities", Handle: in.pushAll, MaxBody: in.pushes.max},
		{Method: http.MethodPost, Path: "/providers/{name}/delta", Handle: in.pushDelta, MaxBody: in.pushes.max},
	}
}

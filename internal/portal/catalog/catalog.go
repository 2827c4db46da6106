// Package catalog is the portal's catalog over HTTP: entities found by filters
// and names, the locations they are read from, and what providers push.
package catalog

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/internal/store"
)

// Options are what a Catalog works with.
type Options struct {
	Store  *store.Store
	Policy *permission.Policy
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// BaseURL is how the backend is reached from outside.
	BaseURL string
	// Config says which locations are read, and how often.
	Config config.Catalog
	// Reading says where they may be.
	Reading config.Reading
	// MaxPush is the most a provider may push at once, in bytes; 0 means the
	// server's limit.
	MaxPush int64
	// Registry is told what the catalog counts; nil means nobody is.
	Registry prometheus.Registerer
}

// Catalog answers for the catalog.
type Catalog struct {
	store  *store.Store
	policy *permission.Policy
	now    func() time.Time
	log    *slog.Logger
	base   string
	// key signs cursors, once it is known.
	key atomic.Pointer[[]byte]
	// locations are read on schedule, and providers push.
	locations *schedule
	pushes    pushes
	metrics   *metrics
}

// New returns the catalog of a store.
func New(opts Options) *Catalog {
	c := &Catalog{
		store:  opts.Store,
		policy: opts.Policy,
		now:    opts.Now,
		log:    opts.Log,
		base:   opts.BaseURL,
		pushes: pushes{max: opts.MaxPush},
	}
	c.locations = newSchedule(opts)
	c.metrics = newMetrics(opts.Registry, c)
	return c
}

// Plugin returns the catalog's endpoints, below /api/catalog.
func (c *Catalog) Plugin() server.Plugin {
	return server.Plugin{Names: []string{"catalog"}, Routes: append(c.readRoutes(), c.writeRoutes()...)}
}

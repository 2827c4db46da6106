// Package portal is the portal's backend: it puts store, callers, permissions,
// catalog, intake and server together, and starts and stops them.
package portal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/portal/auth"
	"example.dev/ingestor/internal/portal/catalog"
	"example.dev/ingestor/internal/portal/intake"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/internal/store"
)

// Options are what a Portal is made of. All are needed.
type Options struct {
	Config *config.Config
	Now    func() time.Time
	Log    *slog.Logger
}

// Portal is a backend that can be run.
type Portal struct {
	store  *store.Store
	auth   *auth.Auth
	intake *intake.Intake
	server *server.Server
	routes []server.Plugin
}

// New opens the database and puts the parts together. Whoever calls it calls
// Close.
func New(ctx context.Context, opts Options) (*Portal, error) {
	c := opts.Config
	db := c.Backend.Database
	st, err := store.Open(ctx, store.Options{Client: db.Client, Path: db.Path, URL: db.URL.Reveal(), Now: opts.Now})
	if err != nil {
		return nil, err
	}
	p := &Portal{store: st}
	if err := p.assemble(ctx, opts); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return p, nil
}

// Hint says what to do when New fails; empty if that is not known.
func Hint(err error, c *config.Config) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "give yourself the right to it, or choose another place in the configuration"
	case errors.Is(err, store.ErrUnavailable) && c.Backend.Database.Client == config.ClientPostgres:
		return "is PostgreSQL running, is the database made (createdb), and is backend.database.connection right?"
	}
	return ""
}

func (p *Portal) assemble(ctx context.Context, opts Options) error {
	c := opts.Config
	registry := prometheus.NewRegistry()
	who, err := auth.New(ctx, auth.Options{
		Config: c.Auth, External: c.Backend.ExternalAccess, BaseURL: c.Backend.BaseURL, AppURL: c.App.BaseURL,
		Keys: p.store, Now: opts.Now, Log: opts.Log,
	})
	if err != nil {
		return err
	}
	policy := permission.New(c.Permission)
	cat := catalog.New(p.store, policy)
	in := intake.New(intake.Options{
		Store: p.store, Policy: policy, Catalog: cat, Now: opts.Now, Log: opts.Log,
		Config: c.Catalog, Reading: c.Backend.Reading, MaxPush: c.Backend.MaxPush, Registry: registry,
	})
	p.auth, p.intake = who, in
	p.routes = []server.Plugin{
		who.Plugin(), policy.Plugin(cat.Resource),
		{Names: []string{"catalog"}, Routes: slices.Concat(cat.Routes(), in.Routes())},
	}
	p.server = server.New(server.Options{
		Plugins: p.routes,
		Authenticate: func(r *http.Request) (context.Context, error) {
			caller, err := who.Authenticate(r)
			return auth.With(r.Context(), caller), err
		},
		Guest: func(r *http.Request) (context.Context, bool) {
			guest, ok := who.Guest()
			return auth.With(r.Context(), guest), ok
		},
		Caller: func(ctx context.Context) string { return auth.From(ctx).Subject },
		CORS:   c.Backend.CORS, RateLimit: c.Backend.RateLimit, HTTPS: c.Backend.HTTPS,
		BaseURL: c.Backend.BaseURL, MaxBody: c.Backend.MaxBody,
		Log: opts.Log, Now: opts.Now, Registry: registry, Ready: p.store.Ping,
		ShutdownDelay: c.Backend.ShutdownDelay,
	})
	return p.server.Check()
}

// Handler answers the portal's requests.
func (p *Portal) Handler() http.Handler { return p.server.Handler() }

// Plugins are the parts of the portal that answer requests.
func (p *Portal) Plugins() []server.Plugin { return p.routes }

// Run serves connections of l, reads locations and renews keys until the
// context ends; then it finishes what it has begun.
func (p *Portal) Run(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { p.auth.Run(ctx) })
	background.Go(func() { p.intake.Run(ctx) })
	err := p.server.Serve(ctx, l)
	stop()
	background.Wait()
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return nil
}

// Close closes the database, when nothing runs any more.
func (p *Portal) Close() error { return p.store.Close() }

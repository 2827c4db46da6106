// Package server is the portal's backend: it assembles store, queue, authentication,
// permissions, catalog, providers, ingestion, scaffolder and HTTP server, and starts
// and stops them.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/provider"
	"example.dev/ingestor/internal/catalog/provider/definition"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion"
	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/scaffolder/workspace"
	"example.dev/ingestor/internal/settings"
	"example.dev/ingestor/internal/telemetry"
	"example.dev/ingestor/web"
)

// Options configure a Portal. All but Build, Actions, Extension and Stdout are
// required.
type Options struct {
	Config *config.Config
	// Build is the version of the program. Builds of definitions by another version are
	// rebuilt.
	Build string
	Now   func() time.Time
	Log   *slog.Logger
	// Actions are available to steps in addition to the built-in ones.
	Actions []action.Action
	// Extension is third-party code that extends the engine.
	Extension engine.Extension
	// Stdout receives the audit log if that is configured for standard output; otherwise
	// it is not needed.
	Stdout io.Writer
}

// Portal is a backend that can be run.
type Portal struct {
	db        *db.DB
	store     *store.Store
	mirror    *mirror.Mirror
	taskStore *taskstore.Store
	queue     *jobs.Queue
	redis     *marks.Redis
	auth      *auth.Auth
	ingestion *ingestion.Ingestion
	generated *definition.Folder
	tasks     *task.Tasks
	server    *httpd.Server
	routes    []rest.Plugin
	audit     *recorder
	telemetry *telemetry.Telemetry
	// replica is the name of this process, unique among the replicas.
	replica string
}

// New opens the database and assembles the portal. The caller must call Close. A
// process that serves must hold the database's lock before: see Acquire.
func New(ctx context.Context, opts Options) (*Portal, error) {
	c := opts.Config
	at := c.Backend.Database
	d, err := db.Open(ctx, db.Options{Client: at.Client, Path: at.Path, URL: at.URL.Reveal(), Now: opts.Now})
	if err != nil {
		return nil, err
	}
	p := &Portal{
		db: d, store: store.New(d, store.Options{UIDRetention: c.Catalog.UIDRetention}),
		mirror: mirror.New(d), taskStore: taskstore.New(d), replica: replica(),
	}
	if err := p.assemble(ctx, opts); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open opens the queue, Redis and the audit log.
func (p *Portal) open(ctx context.Context, opts Options, registry *prometheus.Registry) (err error) {
	at := opts.Config.Backend.Database
	p.queue, err = jobs.Open(ctx, jobs.Options{
		Client: at.Client, Path: at.JobsPath(), URL: at.URL.Reveal(), Log: opts.Log, Now: opts.Now, Registry: registry,
		Tracer: p.telemetry.Tracer(),
	})
	if err != nil {
		return err
	}
	if cache := opts.Config.Backend.Cache; cache.Store == config.CacheRedis {
		if p.redis, err = marks.OpenRedis(marks.RedisOptions{URL: cache.Connection.Reveal()}); err != nil {
			return err
		}
	}
	log, err := audit.New(audit.Options{Config: opts.Config.Audit, Stdout: opts.Stdout, Now: opts.Now, Log: opts.Log, Registry: registry})
	p.audit = &recorder{log: log}
	return err
}

// Hint returns what to do when Acquire or New fails; empty if unknown.
func Hint(err error, c *config.Config) string {
	if open, ok := errors.AsType[*audit.OpenError](err); ok {
		return open.Hint
	}
	if used, ok := errors.AsType[*InUse](err); ok {
		return used.hint()
	}
	if hint := db.Hint(err); hint != "" {
		return hint
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "grant yourself permission, or set another path in the configuration"
	case errors.Is(err, db.ErrUnavailable) && c.Backend.Database.Client == config.ClientPostgres:
		return "check that PostgreSQL is running, that the database exists (createdb), and that backend.database.connection is right"
	}
	return ""
}

func (p *Portal) assemble(ctx context.Context, opts Options) error {
	c := opts.Config
	registry := prometheus.NewRegistry()
	log, err := p.openTelemetry(ctx, opts, registry)
	if err != nil {
		return err
	}
	opts.Log = log
	if err := p.open(ctx, opts, registry); err != nil {
		return err
	}
	keys := auth.NewStorage(p.db)
	who, err := auth.New(ctx, auth.Options{
		Config: c.Auth, External: c.Backend.ExternalAccess, BaseURL: c.Backend.BaseURL, AppURL: c.App.BaseURL, Title: c.App.Title,
		Keys: keys, Sessions: keys, Membership: p.membership(c.Auth.Membership), Now: opts.Now, Log: opts.Log, Audit: p.audit.caller,
	})
	if err != nil {
		return err
	}
	policy := permission.New(c.Permission, c.Auth.Membership...)
	policy.Refused = p.audit.refused
	cat := catalog.New(p.store, policy)
	if err := cat.Prepare(ctx); err != nil {
		return err
	}
	cat.Audit, cat.Origin, cat.Words = p.audit.log, originOf, c.Words
	in := provider.New(provider.Options{
		Store: p.store, Queue: p.queue, Policy: policy, Catalog: cat, Now: opts.Now, Log: opts.Log,
		Config: c.Catalog, Reading: c.Backend.Reading, MaxPush: c.Backend.MaxPush, Registry: registry, Audit: p.audit.log,
	})
	p.auth = who
	p.ingestion = ingestion.New(ingestion.Options{
		Config: c, Catalog: ingested{p.store}, Entities: ingested{p.store}, Mirror: p.mirror, Queue: p.queue, Redis: p.redis, Policy: policy,
		Build: opts.Build, Extension: opts.Extension, Replica: p.replica, Now: opts.Now, Log: opts.Log, Registry: registry, Audit: p.audit.log,
		Wrap: p.telemetry.Transport, Cluster: clusterOf(p.liveReader(opts)),
	})
	cat.Deleted = func(ctx context.Context, e *store.Entity) error { return p.ingestion.Restore(ctx, e.Provider) }
	p.generated = definition.New(definition.Options{
		Store: p.store, Config: c.Catalog.XRDTemplates, Doubt: variant.MassRemoval(c.Composer.MassRemoval).Is, Settle: ingestion.Settle, Changed: p.folderChanged,
		Now: opts.Now, Log: opts.Log, Registry: registry,
	})
	p.schedule(c.Catalog.XRDTemplates)
	plans, err := p.plans(opts, policy)
	if err != nil {
		return err
	}
	scaffold, err := p.scaffold(opts, policy, cat, in, plans, registry)
	if err != nil {
		return err
	}
	p.routes = append([]rest.Plugin{
		who.Plugin(), policy.Plugin(cat.Resource, scaffold.Resource),
		{Names: []string{"catalog"}, Routes: slices.Concat(cat.Routes(), in.Routes())},
		cat.SearchPlugin(), scaffold.Plugin(), p.resources(opts, policy).Plugin(), p.workloads(opts, cat, policy).Plugin(),
		settings.New(p.db).Plugin(),
	}, p.ingestion.Plugins(append(plans.Routes(), p.choices(opts, cat, policy).Route())...)...)
	p.server = httpd.New(httpd.Options{
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
		BaseURL: c.Backend.BaseURL, AppURL: c.App.BaseURL, AllowedHosts: c.Backend.AllowedHosts, MaxBody: c.Backend.MaxBody,
		Log: opts.Log, Now: opts.Now, Registry: registry, Ready: p.ready, Tracer: p.requestTracer(),
		ShutdownDelay: c.Backend.ShutdownDelay,
		Page:          web.Handler(web.Options{Title: c.App.Title, Logo: logo(c.App.Logo)}),
	})
	return p.server.Check()
}

// logo returns the logo for the pages, nil if there is none.
func logo(l config.Logo) *web.Logo {
	if l.Path == "" {
		return nil
	}
	return &web.Logo{Type: l.Type, Data: l.Data}
}

// ready returns an error if requests should not be sent here: the database is
// unavailable or its disk is full, entities cannot be listed, or tasks have no usable
// workspace folder.
func (p *Portal) ready(ctx context.Context) error {
	if err := p.store.Ping(ctx); err != nil {
		return err
	}
	// A damaged file may have a revision, but no readable entities.
	if _, err := p.store.Query(ctx, store.Query{Limit: 1}); err != nil {
		return err
	}
	if err := p.db.Full(ctx); err != nil {
		return &httpd.NotReady{Reason: "the disk of the database is full", Err: fmt.Errorf("%w; %s", err, db.Hint(err))}
	}
	err := p.tasks.Ready()
	if e, ok := errors.AsType[*workspace.Unusable](err); ok {
		return &httpd.NotReady{Reason: e.Public(), Err: err}
	}
	return err
}

// taskGenerated is the task that reads the folder of generated entities.
const taskGenerated = "xrdTemplates"

// schedule schedules reading of the folder of generated entities. If that is disabled,
// the task still runs once a day, to remove what an earlier run left.
func (p *Portal) schedule(c config.XRDTemplates) {
	p.queue.Handle(jobs.Task{Name: taskGenerated, Run: func(ctx context.Context, _ jobs.Job) error {
		again, err := p.generated.Refresh(ctx)
		if err == nil && again > 0 {
			return jobs.Later(again)
		}
		return err
	}})
	every := c.Frequency
	if !c.Enabled {
		every = 24 * time.Hour
	}
	p.queue.Every(taskGenerated, "", every, jobs.How{Timeout: generatedTimeout})
}

// generatedTimeout is how long reading the folder may take.
const generatedTimeout = 2 * time.Minute

// folderChanged queues reading of the folder of generated entities. Every replica
// notices the change; one of them reads the folder.
func (p *Portal) folderChanged(ctx context.Context) error {
	_, err := p.queue.Add(ctx, taskGenerated, "", jobs.How{Trigger: ingest.TriggerWatch, Timeout: generatedTimeout})
	return err
}

// replica returns a name for this process that is unique among the replicas.
func replica() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + uuid.NewString()[:8]
}

// Handler returns the handler of the portal's requests.
func (p *Portal) Handler() http.Handler { return p.server.Handler() }

// Plugins returns the plugins of the portal with their routes.
func (p *Portal) Plugins() []rest.Plugin { return p.routes }

// Run serves connections of l, ingests, reads locations and rotates keys until the
// context ends; then it finishes running work.
func (p *Portal) Run(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := p.telemetry.Run(ctx); err != nil {
		return err
	}
	var background sync.WaitGroup
	background.Go(func() { p.auth.Run(ctx) })
	background.Go(func() { p.ingestion.Run(ctx) })
	background.Go(func() { p.generated.Watch(ctx) })
	background.Go(func() { p.tasks.Run(ctx) })
	var queue error
	background.Go(func() {
		if queue = p.queue.Run(ctx); queue != nil {
			// Without the queue the portal's data would become stale.
			stop()
		}
	})
	err := p.server.Serve(ctx, l)
	stop()
	background.Wait()
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return queue
}

// Close sends the last traces and metrics, and closes the databases. Run must have
// returned before.
func (p *Portal) Close() error {
	var err error
	if p.telemetry != nil {
		// It also collects the metrics of the queue.
		p.telemetry.Shutdown(context.Background())
	}
	if p.queue != nil {
		err = p.queue.Close()
	}
	if p.tasks != nil {
		err = errors.Join(err, p.tasks.Close())
	}
	if p.redis != nil {
		p.redis.Close()
	}
	if p.audit != nil {
		err = errors.Join(err, p.audit.log.Close())
	}
	return errors.Join(err, p.db.Close())
}

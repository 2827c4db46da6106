// Package httpd is the portal's HTTP server: it routes requests to handlers, and does
// what every request needs (ids, log, limits, origins, callers, deadlines).
package httpd

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/cors"
)

// Options configure a Server. Log, Now and Registry are required.
type Options struct {
	Plugins []rest.Plugin
	// Authenticate returns the request's context with its caller in it, or the error to
	// respond with. It is called for every route that is not public. Without it there are
	// no callers, and every such route responds with 401.
	Authenticate func(*http.Request) (context.Context, error)
	// Guest returns the request's context with a guest in it, and false where guests are
	// not allowed. Nil means that they are not.
	Guest func(*http.Request) (context.Context, bool)
	// Caller returns the name of a context's caller in the access log.
	Caller func(context.Context) string

	CORS      config.CORS
	RateLimit config.RateLimit
	HTTPS     config.HTTPS
	// BaseURL is how the server is reached from outside, and AppURL where users open the
	// portal; empty means BaseURL.
	BaseURL, AppURL string
	// AllowedHosts are the allowed hosts of requests, in addition to those of BaseURL and
	// AppURL and this machine's own names: names, with :port for one port only; a leading
	// "*." matches any subdomain. A request for another host is answered with 421.
	AllowedHosts []string
	// MaxBody is the maximum size of a body, in bytes; 0 means DefaultMaxBody.
	MaxBody int64

	Log *slog.Logger
	// Now is the clock. Deadlines of connections are computed from it, so that it must be
	// close to the real time.
	Now func() time.Time
	// Registry gets the server's metrics, including those of the process and of Go, and is
	// served at /metrics.
	Registry *prometheus.Registry
	// PublicMetrics serves /metrics to all clients. Otherwise clients on other machines
	// need a token, as for any endpoint.
	PublicMetrics bool
	// Tracer makes a span of every request, except of probes, monitoring and pages. Nil
	// means none.
	Tracer trace.Tracer
	// ShutdownDelay is how long the server continues to serve after it was told to stop,
	// while it reports not ready, so that load balancers can notice.
	ShutdownDelay time.Duration
	// Ready returns why the portal cannot serve; nil means that it always can.
	Ready func(context.Context) error

	// Extra are handlers besides the plugins, by pattern of http.ServeMux. They are
	// public, and set their own content security policy.
	Extra map[string]http.Handler
	// Page handles a GET that matches nothing else, unless it is for the API, probes or
	// monitoring: the portal in the browser does its own routing. It is public, and sets
	// its own content security policy. Nil means that there is none.
	Page http.Handler
}

// DefaultMaxBody is the default maximum size of a body.
const DefaultMaxBody = 5 << 20

// Server serves the portal's requests. All methods may be called concurrently.
type Server struct {
	opts     Options
	mux      *http.ServeMux
	plugins  map[string]plugin
	none     *endpoint
	page     *endpoint
	metrics  *metrics
	limit    *limiter
	cors     cors.Policy
	hosts    hosts
	headers  []header
	draining atomic.Bool
	// leaving ends when the server stops, by a call of leave.
	leaving context.Context
	leave   context.CancelFunc
	// writeTimeout is the constant, except in tests.
	writeTimeout time.Duration
}

// noRoute is the route label in metrics for requests that match no route.
const noRoute = "none"

// plugin is used for requests below a plugin that match none of its routes.
type plugin struct {
	name string
	// guarded reports that unauthenticated clients must not learn which routes exist.
	guarded bool
	none    *endpoint
}

// New returns a Server. It panics if two routes are the same, as http.ServeMux does.
func New(opts Options) *Server {
	if opts.MaxBody == 0 {
		opts.MaxBody = DefaultMaxBody
	}
	s := &Server{
		opts:    opts,
		mux:     http.NewServeMux(),
		plugins: map[string]plugin{},
		metrics: newMetrics(opts.Registry),
		limit:   newLimiter(opts.RateLimit),
		cors:    cors.New(opts.CORS),
		hosts:   newHosts([]string{opts.BaseURL, opts.AppURL}, opts.AllowedHosts),

		writeTimeout: writeTimeout,
	}
	s.leaving, s.leave = context.WithCancel(context.Background())
	s.headers, s.none = s.fixedHeaders(), s.endpoint("", rest.Route{Path: noRoute})
	for _, p := range opts.Plugins {
		s.mount(p)
	}
	s.mountHealth()
	if opts.Page != nil {
		s.page = s.extra("page", opts.Page)
	}
	for pattern, h := range opts.Extra {
		s.mux.Handle(pattern, s.extra(pattern, h))
	}
	return s
}

func (s *Server) mount(p rest.Plugin) {
	if len(p.Names) == 0 {
		return
	}
	name := p.Names[0]
	guarded := slices.ContainsFunc(p.Routes, func(r rest.Route) bool { return !r.Public })
	for _, alias := range p.Names {
		s.plugins[alias] = plugin{name: name, guarded: guarded, none: s.endpoint(name, rest.Route{Path: noRoute})}
		for _, r := range p.Routes {
			s.mux.Handle(r.Method+" /api/"+alias+r.Path, s.endpoint(name, r))
		}
	}
}

// pluginOf returns the plugin that a path belongs to.
func (s *Server) pluginOf(path string) (plugin, bool) {
	below, ok := strings.CutPrefix(path, rest.APIPrefix)
	if !ok {
		return plugin{}, false
	}
	alias, _, _ := strings.Cut(below, "/")
	p, ok := s.plugins[alias]
	return p, ok
}

// Handler returns the server as an http.Handler, for tests and other listeners.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

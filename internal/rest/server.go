// Package rest is the portal's HTTP: routes, what happens around every
// request (ids, log, limits, origins, callers), and errors in the shape the
// portal's clients know.
package rest

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
)

// Handler answers a request, or returns the error to answer with: a *Fault, or
// any other for "something went wrong here". A handler that returns an error
// has written nothing, or aborts a response that it has begun.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one endpoint of a plugin.
type Route struct {
	Method string
	// Path is below the plugin's, in the syntax of http.ServeMux, such as
	// "/entities/by-name/{kind}/{namespace}/{name}".
	Path   string
	Handle Handler
	// Public says that callers need not say who they are.
	Public bool
	// Guests says that callers who do not say who they are count as guests,
	// where guests are let in: what reads for another portal has no token.
	Guests bool
	// MaxBody is the most a body may have, in bytes; 0 means the server's
	// default.
	MaxBody int64
	// Timeout is how long the request may take; 0 means a minute, or longer
	// if MaxBody is large, and less than 0 until the server stops: what would not
	// end by itself is not waited for.
	Timeout time.Duration
}

// Plugin is a part of the portal, below /api/<name>.
type Plugin struct {
	// Names are its name and what it is called besides.
	Names  []string
	Routes []Route
}

// Options are what a Server is made of. Log, Now and Registry are needed.
type Options struct {
	Plugins []Plugin
	// Authenticate returns the request's context with its caller in it, or the
	// error to answer with. It is called for every route that is not public.
	// Without it there are no callers, and every such route answers 401.
	Authenticate func(*http.Request) (context.Context, error)
	// Guest returns the request's context with a guest in it, and false where
	// guests are not let in. Nil means that they are not.
	Guest func(*http.Request) (context.Context, bool)
	// Caller returns what the access log calls the caller of a context.
	Caller func(context.Context) string

	CORS      config.CORS
	RateLimit config.RateLimit
	HTTPS     config.HTTPS
	// BaseURL is how the server is reached from outside, and AppURL where people
	// open the portal; empty means BaseURL.
	BaseURL, AppURL string
	// AllowedHosts are the hosts that requests may be for, beside those of
	// BaseURL and AppURL and this machine's own names: names, with :port for one
	// port only; a leading "*." stands for any names before it. A request for
	// another host is answered with 421.
	AllowedHosts []string
	// MaxBody is the most a body may have, in bytes; 0 means DefaultMaxBody.
	MaxBody int64

	Log *slog.Logger
	// Now is the clock. Deadlines of connections are counted from it, so that
	// it must not be far from the truth.
	Now func() time.Time
	// Registry gets the server's metrics, those of the process and of Go
	// among them, and is what /metrics shows.
	Registry *prometheus.Registry
	// PublicMetrics shows /metrics to whoever asks. Otherwise callers from
	// other machines need a token, as for any endpoint.
	PublicMetrics bool
	// ShutdownDelay is how long the server goes on as before once it was told
	// to stop, but for saying that it is not ready, so that whoever sends
	// requests here can notice.
	ShutdownDelay time.Duration
	// Ready says why the portal cannot serve; nil means that it always can.
	Ready func(context.Context) error

	// Extra are handlers beside the plugins, by pattern of http.ServeMux. They
	// are public, and say themselves what their pages may load.
	Extra map[string]http.Handler
	// Page answers a GET that fits nothing else, unless it is for the API or
	// for machines: the portal in the browser finds its way itself. It is
	// public, and says itself what it may load. Nil means that there is none.
	Page http.Handler
}

// DefaultMaxBody is the most a body may have if nobody says otherwise.
const DefaultMaxBody = 5 << 20

// Server answers the portal's requests. It may be used at once by many.
type Server struct {
	opts     Options
	mux      *http.ServeMux
	plugins  map[string]plugin
	none     *endpoint
	page     *endpoint
	metrics  *metrics
	limit    *limiter
	cors     cors
	hosts    hosts
	headers  []header
	draining atomic.Bool
	// leaving ends when the server stops, which leave brings about.
	leaving context.Context
	leave   context.CancelFunc
	// writeTimeout and bodyTimeout are the constants, but in tests.
	writeTimeout, bodyTimeout time.Duration
}

// noRoute stands in metrics for requests that fit no route.
const noRoute = "none"

// plugin is what is known of a plugin when a request fits none of its routes.
type plugin struct {
	name string
	// guarded says that strangers are not told which routes there are.
	guarded bool
	none    *endpoint
}

// New returns a Server. It panics if two routes are the same, as http.ServeMux
// does.
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
		cors:    newCORS(opts.CORS),
		hosts:   newHosts([]string{opts.BaseURL, opts.AppURL}, opts.AllowedHosts),

		writeTimeout: writeTimeout, bodyTimeout: bodyTimeout,
	}
	s.leaving, s.leave = context.WithCancel(context.Background())
	s.headers, s.none = s.fixedHeaders(), s.endpoint("", Route{Path: noRoute})
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

func (s *Server) mount(p Plugin) {
	if len(p.Names) == 0 {
		return
	}
	name := p.Names[0]
	guarded := slices.ContainsFunc(p.Routes, func(r Route) bool { return !r.Public })
	for _, alias := range p.Names {
		s.plugins[alias] = plugin{name: name, guarded: guarded, none: s.endpoint(name, Route{Path: noRoute})}
		for _, r := range p.Routes {
			s.mux.Handle(r.Method+" /api/"+alias+r.Path, s.endpoint(name, r))
		}
	}
}

// pluginOf returns the plugin below which a path lies.
func (s *Server) pluginOf(path string) (plugin, bool) {
	rest, ok := strings.CutPrefix(path, apiPrefix)
	if !ok {
		return plugin{}, false
	}
	alias, _, _ := strings.Cut(rest, "/")
	p, ok := s.plugins[alias]
	return p, ok
}

// Handler returns the server as one handler, for tests and other listeners.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

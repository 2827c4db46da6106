package httpd

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/rest"
)

// endpoint is a mounted Route.
type endpoint struct {
	rest.Route
	server *Server
	plugin string
	// quiet requests are those of probes and monitoring: they are not rate-limited, and
	// logged only at Debug.
	quiet bool
	// page is a handler of Options.Extra.
	page     http.Handler
	duration prometheus.Observer
}

// requestTimeout is how long a request may take, and longest how long one with a large
// body may. Writes of a streamed response have their own deadlines.
const (
	requestTimeout = time.Minute
	longest        = 15 * time.Minute
)

// largeBody is the size above which a body gets the longer timeout.
const largeBody = 16 << 20

func (s *Server) endpoint(plugin string, r rest.Route) *endpoint {
	if r.MaxBody == 0 {
		r.MaxBody = s.opts.MaxBody
	}
	if r.Timeout == 0 {
		if r.Timeout = requestTimeout; r.MaxBody > largeBody {
			r.Timeout = longest
		}
	}
	return &endpoint{Route: r, server: s, plugin: plugin, duration: s.metrics.duration.WithLabelValues(plugin, r.Path)}
}

func (s *Server) extra(pattern string, h http.Handler) *endpoint {
	e := s.endpoint("", rest.Route{Path: pattern, Public: true})
	e.page = h
	return e
}

// ServeHTTP handles a request that the mux routed to the endpoint.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := w.(*response)
	res.endpoint = e
	r = e.server.trace(res, r)
	ctx := rest.NewContext(r.Context(), &res.Request)
	if !e.quiet && !e.admit(res, r.WithContext(ctx)) {
		return
	}
	var cancel context.CancelFunc
	if e.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, e.Timeout)
	} else {
		ctx, cancel = context.WithCancel(ctx)
		defer context.AfterFunc(e.server.leaving, cancel)()
	}
	defer cancel()
	r = r.WithContext(ctx)
	if err := e.bound(res, r); err != nil {
		e.server.fail(res, r, err)
		return
	}
	if e.page != nil {
		delete(res.Header(), contentPolicy)
		e.page.ServeHTTP(res, r)
		return
	}
	if !e.Public {
		ctx, err := e.caller(r)
		if err != nil {
			e.server.fail(res, r, err)
			return
		}
		res.caller = ctx
		r = r.WithContext(ctx)
	}
	if err := e.Handle(res, r); err != nil {
		e.server.fail(res, r, err)
	}
}

// caller returns the context with the caller of the request.
func (e *endpoint) caller(r *http.Request) (context.Context, error) {
	if guest := e.server.opts.Guest; e.Guests && guest != nil && r.Header["Authorization"] == nil {
		if ctx, ok := guest(r); ok {
			return ctx, nil
		}
	}
	return e.server.authenticate(r)
}

// admit reports whether the client is within its rate limit, and responds if not.
func (e *endpoint) admit(res *response, r *http.Request) bool {
	wait := e.server.limit.wait(r.RemoteAddr, res.start)
	if wait <= 0 {
		return true
	}
	var err error = rest.TooMany(wait)
	if e.Refuse != nil {
		err = e.Refuse(res, r, err)
	}
	if err != nil {
		e.server.fail(res, r, err)
	}
	return false
}

func (s *Server) authenticate(r *http.Request) (context.Context, error) {
	if s.opts.Authenticate == nil {
		return nil, rest.Unauthenticated("Missing credentials")
	}
	return s.opts.Authenticate(r)
}

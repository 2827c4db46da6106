package httpd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/text"
)

// clientGone is the status, in the log and in metrics, of a request whose client did
// not wait for the response.
const clientGone = 499

// serve handles a request, with everything around its endpoint.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	res := &response{ResponseWriter: w, server: s, start: s.opts.Now(), Request: rest.Request{ID: requestID(r), Original: r}}
	s.metrics.inFlight.Inc()
	defer s.finish(res)
	s.setHeaders(res, r)
	if !s.hosts.accepts(r) {
		s.misdirect(res, r)
		return
	}
	if s.cors.Preflight(res, r) {
		return
	}
	s.route(res, r)
}

// route passes the request to its endpoint, or responds that there is none.
func (s *Server) route(res *response, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, rest.APIPrefix) {
		path := r.URL.EscapedPath()
		if isCrooked(path) {
			// The mux would redirect, which the portal's clients do not expect, and which loses
			// the request body.
			s.miss(res, r)
			return
		}
		if strings.HasSuffix(path, "/") {
			r = withoutSlash(r)
		}
	}
	s.mux.ServeHTTP(res, r)
	if res.said != 0 {
		s.miss(res, r)
	}
}

// isCrooked reports whether a path has segments that are empty, "." or "..".
func isCrooked(path string) bool {
	return strings.Contains(path, "//") || strings.Contains(path, "/./") || strings.Contains(path, "/../") ||
		strings.HasSuffix(path, "/.") || strings.HasSuffix(path, "/..")
}

// withoutSlash returns the request without the trailing slash of its path: for the
// portal's clients the two are the same.
func withoutSlash(r *http.Request) *http.Request {
	short, u := *r, *r.URL
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	short.URL = &u
	return &short
}

// miss responds to a request that matches no route. Which routes a plugin has is
// revealed only to callers who may use it.
func (s *Server) miss(res *response, r *http.Request) {
	allow := res.Header()["Allow"]
	delete(res.Header(), "Allow")
	wrongMethod := res.said == http.StatusMethodNotAllowed
	res.said = 0
	if s.page != nil && !wrongMethod && forPage(r) {
		delete(res.Header(), "Content-Type")
		s.page.ServeHTTP(res, r)
		return
	}
	e := s.none
	p, known := s.pluginOf(r.URL.Path)
	if known {
		e = p.none
	}
	res.endpoint = e
	r = s.trace(res, r)
	if !e.admit(res, r) {
		return
	}
	if err := e.bound(res, r); err != nil {
		s.fail(res, r, err)
		return
	}
	if known && p.guarded {
		ctx, err := s.authenticate(r.WithContext(rest.NewContext(r.Context(), &res.Request)))
		if err != nil {
			s.fail(res, r, err)
			return
		}
		res.caller = ctx
	}
	if wrongMethod {
		res.Header()["Allow"] = allow
		s.fail(res, r, &rest.Fault{
			Status: http.StatusMethodNotAllowed, Name: "MethodNotAllowedError",
			Message: "Method " + shorten(r.Method) + " is not allowed; use " + strings.Join(allow, ", "),
		})
		return
	}
	s.fail(res, r, rest.NotFound("Nothing found at %s", shorten(rest.URL(res.Original))))
}

// forPage reports whether a request may be that of a browser for a page: a GET of a
// path outside the API, probes and monitoring, by a client that accepts HTML.
func forPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if first == "api" || first == "health" || first == "metrics" || strings.HasPrefix(first, ".") {
		return false
	}
	accept := r.Header["Accept"]
	return len(accept) == 0 || slices.ContainsFunc(accept, func(list string) bool {
		return strings.Contains(list, "text/html") || strings.Contains(list, "*/*") || !strings.Contains(list, "application/json")
	})
}

// fail responds with an error, and logs it if it is a server error. A response that has
// begun is aborted, so that the client does not consider it complete.
func (s *Server) fail(res *response, r *http.Request, err error) {
	ctx := r.Context()
	f := rest.FaultOf(err)
	// An invalid request gets a response even if the client may be gone: a body that does
	// not arrive in time looks the same.
	if res.lost != nil || f.Status >= http.StatusInternalServerError && errors.Is(ctx.Err(), context.Canceled) {
		s.opts.Log.LogAttrs(ctx, slog.LevelDebug, "client disconnected", slog.String("id", res.ID), slog.Any("error", err))
		if res.status == 0 {
			res.status = clientGone
		}
		panic(http.ErrAbortHandler)
	}
	if f.Err != nil && f.Status >= http.StatusInternalServerError || res.status != 0 {
		s.opts.Log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("id", res.ID),
			slog.Int("status", f.Status), slog.Any("error", causeOf(f)))
	}
	if res.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.answer(res, f)
}

// causeOf returns the most specific error of a fault.
func causeOf(f *rest.Fault) error {
	if f.Err != nil {
		return f.Err
	}
	return f
}

// answer writes a fault.
func (s *Server) answer(res *response, f *rest.Fault) {
	if err := f.Write(res, res.Original); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// finish ends a request, whatever its result.
func (s *Server) finish(res *response) {
	cause := recover()
	r := res.Original
	err, isErr := cause.(error)
	aborted := isErr && errors.Is(err, http.ErrAbortHandler)
	if cause != nil && !aborted {
		s.opts.Log.LogAttrs(r.Context(), slog.LevelError, "request panicked", slog.String("id", res.ID),
			slog.String("panic", fmt.Sprint(cause)), slog.String("stack", string(debug.Stack())))
		if aborted = res.status != 0; !aborted {
			aborted = s.answerPanic(res)
		}
	}
	if res.status == 0 {
		res.status = http.StatusOK
		res.part()
	}
	// Buffered data is written after this function returns.
	res.extend()
	took := s.opts.Now().Sub(res.start)
	s.metrics.count(res, took)
	s.logAccess(res, took, aborted)
	res.endSpan(took, aborted)
	if aborted {
		panic(http.ErrAbortHandler)
	}
}

// answerPanic responds to a request whose handler panicked, and reports whether that
// failed too.
func (s *Server) answerPanic(res *response) (aborted bool) {
	defer func() { aborted = recover() != nil }()
	s.answer(res, rest.FaultOf(nil))
	return false
}

// requestID returns the id that a client or proxy gave the request, or a new one.
func requestID(r *http.Request) string {
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && isID(ids[0]) {
		return ids[0]
	}
	return rand.Text()
}

// isID reports whether s can be the id of a request: short, and without characters that
// have a meaning in a log.
func isID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.:/+=@", c) >= 0) {
			return false
		}
	}
	return true
}

// shorten limits how much of a request is repeated.
func shorten(s string) string { return text.Shorten(s, 200) }

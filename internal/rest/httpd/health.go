package httpd

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.dev/ingestor/internal/rest"
)

// health is the response to probes.
type health struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// mountHealth mounts the endpoints of probes and monitoring.
func (s *Server) mountHealth() {
	probes := map[string]rest.Handler{
		"/.backstage/health/v1/liveness":  s.live,
		"/.backstage/health/v1/readiness": s.ready,
		"/health/live":                    s.live,
		"/health/ready":                   s.ready,
		"/metrics":                        s.showMetrics(),
	}
	for path, h := range probes {
		e := s.endpoint("", rest.Route{Path: path, Handle: h, Public: true, Timeout: 10 * time.Second})
		e.quiet = true
		s.mux.Handle(http.MethodGet+" "+path, e)
	}
}

func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteJSON(w, r, http.StatusOK, health{Status: "ok"})
}

// NotReady is why a server is not ready, with a reason that may be public.
type NotReady struct {
	// Reason is for the client, which needs no credentials; Err is for the log.
	Reason string
	Err    error
}

// Error returns the reason for the log.
func (e *NotReady) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotReady) Unwrap() error { return e.Err }

// ready reports whether requests may be sent here. If not, the reason is in the log,
// and in the response only if it may be public: probes need no credentials.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	w.Header()["Cache-Control"] = []string{"no-store"}
	if s.draining.Load() {
		return rest.WriteJSON(w, r, http.StatusServiceUnavailable, health{"error", "The portal is shutting down"})
	}
	if s.opts.Ready != nil {
		if err := s.opts.Ready(r.Context()); err != nil {
			s.opts.Log.LogAttrs(r.Context(), slog.LevelWarn, "not ready", slog.String("id", rest.RequestID(r.Context())), slog.Any("error", err))
			message := "The portal is not ready; see the server log"
			if known, ok := errors.AsType[*NotReady](err); ok {
				message = "The portal is not ready: " + known.Reason
			}
			return rest.WriteJSON(w, r, http.StatusServiceUnavailable, health{"error", message})
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK, health{Status: "ok"})
}

// showMetrics serves metrics to this machine and, unless they are public, to other
// machines only with credentials: they reveal the load of the portal.
func (s *Server) showMetrics() rest.Handler {
	show := promhttp.HandlerFor(s.opts.Registry, promhttp.HandlerOpts{})
	return func(w http.ResponseWriter, r *http.Request) error {
		if !s.opts.PublicMetrics && !isLocal(r) {
			if _, err := s.authenticate(r); err != nil {
				return err
			}
		}
		show.ServeHTTP(w, r)
		return nil
	}
}

// isLocal reports whether a request was made on this machine. A request that a local
// proxy forwards was not.
func isLocal(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header[name] != nil {
			return false
		}
	}
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

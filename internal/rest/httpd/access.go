package httpd

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.dev/ingestor/internal/rest"
)

// header is one that is the same for every response. Its values are shared, and must
// not be changed in place.
type header struct {
	key    string
	values []string
}

var idKey = http.CanonicalHeaderKey("X-Request-Id")

const contentPolicy = "Content-Security-Policy"

// fixedHeaders returns the security headers for browsers.
func (s *Server) fixedHeaders() []header {
	hs := []header{
		{"X-Content-Type-Options", []string{"nosniff"}},
		{"X-Frame-Options", []string{"SAMEORIGIN"}},
		{"Referrer-Policy", []string{"no-referrer"}},
		{"Cross-Origin-Resource-Policy", []string{"same-origin"}},
		// Responses of the API are data: if one were ever shown as a page, that page could do
		// nothing.
		{contentPolicy, []string{"default-src 'none'; frame-ancestors 'none'"}},
	}
	if s.opts.HTTPS.CertFile != "" || strings.HasPrefix(strings.ToLower(s.opts.BaseURL), "https://") {
		hs = append(hs, header{"Strict-Transport-Security", []string{"max-age=15552000; includeSubDomains"}})
	}
	return hs
}

func (s *Server) setHeaders(res *response, r *http.Request) {
	h := res.Header()
	for _, fixed := range s.headers {
		h[fixed.key] = fixed.values
	}
	h[idKey] = []string{res.ID}
	s.cors.Set(h, r)
}

// logAccess writes the log line of a request. The query is left out: it may contain
// secrets, such as the code of a sign-in.
func (s *Server) logAccess(res *response, took time.Duration, aborted bool) {
	level := slog.LevelInfo
	if res.endpoint != nil && res.endpoint.quiet {
		level = slog.LevelDebug
	}
	r := res.Original
	ctx := r.Context()
	if !s.opts.Log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 9)
	attrs = append(attrs,
		slog.String("method", shorten(r.Method)),
		slog.String("path", shorten(r.URL.Path)),
		slog.Int("status", res.status),
		slog.Int64("bytes", res.bytes),
		slog.Float64("milliseconds", float64(took.Microseconds())/1000),
		slog.String("client", rest.WithoutPort(r.RemoteAddr)),
		slog.String("id", res.ID),
	)
	if res.caller != nil && s.opts.Caller != nil {
		attrs = append(attrs, slog.String("caller", s.opts.Caller(res.caller)))
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	s.opts.Log.LogAttrs(ctx, level, "request", attrs...)
}

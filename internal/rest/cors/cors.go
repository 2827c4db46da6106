// Package cors allows pages of other origins to make requests.
package cors

import (
	"net/http"
	"slices"
	"strings"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

// Policy allows requests by pages of other origins. Origins that are not configured get
// no CORS headers, so that browsers do not let them read the response.
type Policy struct {
	origins     []string
	any         bool
	methods     string
	credentials bool
}

const exposed = "ETag, Link, Retry-After, X-Request-Id"

// New returns the policy of a configuration.
func New(c config.CORS) Policy {
	methods := c.Methods
	if len(methods) == 0 {
		methods = []string{"GET", "HEAD", "PATCH", "POST", "PUT", "DELETE"}
	}
	return Policy{
		origins: c.Origins,
		any:     slices.Contains(c.Origins, "*"),
		methods: strings.Join(methods, ","),
		// The wildcard origin must not send requests with the credentials of a signed-in
		// user.
		credentials: c.Credentials && !slices.Contains(c.Origins, "*"),
	}
}

// origin returns the origin of the request if it is allowed, else "".
func (c Policy) origin(r *http.Request) string {
	from := r.Header["Origin"]
	if len(from) != 1 || len(c.origins) == 0 {
		return ""
	}
	if c.any || slices.Contains(c.origins, from[0]) {
		return from[0]
	}
	return ""
}

// Set sets the headers of a response.
func (c Policy) Set(h http.Header, r *http.Request) {
	if len(c.origins) == 0 {
		return
	}
	rest.AddVary(h, "Origin")
	origin := c.origin(r)
	if origin == "" {
		return
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	h["Access-Control-Expose-Headers"] = []string{exposed}
	if c.credentials {
		h["Access-Control-Allow-Credentials"] = []string{"true"}
	}
}

// Preflight responds to a CORS preflight request of an allowed origin. Others are
// handled as any request.
func (c Policy) Preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header["Access-Control-Request-Method"] == nil || c.origin(r) == "" {
		return false
	}
	h := w.Header()
	rest.AddVary(h, "Access-Control-Request-Headers")
	delete(h, "Access-Control-Expose-Headers")
	h["Access-Control-Allow-Methods"] = []string{c.methods}
	if asked := r.Header["Access-Control-Request-Headers"]; len(asked) == 1 && len(asked[0]) <= 1024 {
		h["Access-Control-Allow-Headers"] = asked
	}
	h["Access-Control-Max-Age"] = []string{"600"}
	w.WriteHeader(http.StatusNoContent)
	return true
}

package rest

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// Request is what the contexts of handlers know of their request.
type Request struct {
	ID string
	// Original is the request as the client sent it.
	Original *http.Request
}

type requestKey struct{}

// NewContext returns the context of the handler of a request.
func NewContext(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func requestOf(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// RequestID returns the id of the request that a context belongs to; empty if there is
// none.
func RequestID(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.ID
	}
	return ""
}

// Client returns the IP address of the client whose request a context belongs to; empty
// if there is none. It is the address of the connection: behind a proxy, that of the
// proxy.
func Client(ctx context.Context) string {
	r := requestOf(ctx)
	if r == nil {
		return ""
	}
	if addr, _, ok := ClientAddress(r.Original.RemoteAddr); ok {
		return addr.String()
	}
	return WithoutPort(r.Original.RemoteAddr)
}

// WithoutPort returns the address of a client without its port.
func WithoutPort(remote string) string {
	if i := strings.LastIndexByte(remote, ':'); i >= 0 {
		return remote[:i]
	}
	return remote
}

// ClientAddress returns the address of a client, and the representative of all addresses
// that the client may have: an IPv6 site has a whole /64. It returns false if the client
// has no network address.
func ClientAddress(remote string) (addr, site netip.Addr, ok bool) {
	ap, err := netip.ParseAddrPort(remote)
	addr = ap.Addr().Unmap().WithZone("")
	site = addr
	if addr.Is6() {
		p, _ := addr.Prefix(64)
		site = p.Addr()
	}
	return addr, site, err == nil
}

// ClientKey returns the key by which limits identify the client of a request, empty if
// it has no network address. Behind a proxy, the client is the proxy.
func ClientKey(r *http.Request) string {
	_, site, ok := ClientAddress(r.RemoteAddr)
	if !ok {
		return ""
	}
	return site.String()
}

// APIPrefix is the beginning of the paths of plugins.
const APIPrefix = "/api/"

// URL returns the request's path relative to its plugin, with its query, as the
// portal's clients see it in errors and links.
func URL(r *http.Request) string {
	if known := requestOf(r.Context()); known != nil {
		r = known.Original
	}
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, APIPrefix); ok {
		name, _, _ := strings.Cut(rest, "/")
		if path = rest[len(name):]; path == "" {
			path = "/"
		}
	}
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return path
}

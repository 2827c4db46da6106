package httpd

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"example.dev/ingestor/internal/rest"
)

// hosts are the allowed hosts of requests. A page of another site can have its own name
// resolve to the portal's address (DNS rebinding), and then has the same origin as the
// portal for the browser; its requests have that name in Host.
type hosts struct {
	// ports are the ports of each name: nil means any.
	ports map[string][]string
	// below are suffixes of names, such as ".example.org".
	below []ending
}

// ending is an entry of Options.AllowedHosts that begins with "*.".
type ending struct {
	name string
	// port is empty for any.
	port string
}

// newHosts returns the hosts of addresses, with any port, and those of entries such as
// "example.org", "example.org:8443" and "*.example.org".
func newHosts(addresses, entries []string) hosts {
	h := hosts{ports: map[string][]string{}}
	for _, a := range addresses {
		if u, err := url.Parse(a); err == nil && u.Hostname() != "" {
			h.ports[canonicalName(u.Hostname())] = nil
		}
	}
	for _, e := range entries {
		wild, isWild := strings.CutPrefix(e, "*")
		name, port, ok := splitHost(wild)
		switch {
		case !ok:
			// The configuration has reported the entry; it allows nothing.
		case isWild:
			h.below = append(h.below, ending{name, port})
		default:
			h.add(name, port)
		}
	}
	return h
}

func (h hosts) add(name, port string) {
	ports, known := h.ports[name]
	switch {
	case port == "", known && ports == nil:
		h.ports[name] = nil
	default:
		h.ports[name] = append(ports, port)
	}
}

// accepts reports whether the host of a request is allowed. Probes and Prometheus use
// the portal's IP address, and old load balancers send no host at all.
func (h hosts) accepts(r *http.Request) bool {
	name, port, ok := splitHost(r.Host)
	if !ok {
		return r.Host == "" && isForMachines(r.URL.Path)
	}
	if ports, known := h.ports[name]; known && isPortOf(ports, port) || name == "localhost" {
		return true
	}
	if c := name[0]; '0' <= c && c <= '9' || strings.IndexByte(name, ':') >= 0 {
		if ip, err := netip.ParseAddr(name); err == nil {
			return ip.Unmap().IsLoopback() || isForMachines(r.URL.Path)
		}
	}
	for _, e := range h.below {
		if len(name) > len(e.name) && strings.HasSuffix(name, e.name) && isName(name) && (e.port == "" || isPortOf([]string{e.port}, port)) {
			return true
		}
	}
	return false
}

// isName reports whether a name, in lower case, has only characters of host names.
func isName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return false
		}
	}
	return true
}

// isPortOf reports whether a port is one of ports; nil means any. Clients omit the
// default port of the scheme.
func isPortOf(ports []string, port string) bool {
	for _, p := range ports {
		if p == port || port == "" && (p == "443" || p == "80") {
			return true
		}
	}
	return ports == nil
}

// isForMachines reports whether a path is one of those that mountHealth mounts.
func isForMachines(path string) bool {
	if strings.HasPrefix(path, "/health/") || strings.HasPrefix(path, "/.backstage/health/") {
		return !isCrooked(path)
	}
	return path == "/metrics"
}

// splitHost returns the name and the port of a Host header: the name in lower case, and
// an IPv6 address without its brackets.
func splitHost(host string) (name, port string, ok bool) {
	rest := ""
	if inside, v6 := strings.CutPrefix(host, "["); v6 {
		if name, rest, ok = strings.Cut(inside, "]"); !ok || strings.IndexByte(name, ':') < 0 {
			return "", "", false
		}
	} else if i := strings.IndexByte(host, ':'); i >= 0 {
		name, rest = host[:i], host[i:]
	} else {
		name = host
	}
	if rest != "" {
		if port, ok = strings.CutPrefix(rest, ":"); !ok || port == "" || strings.Trim(port, "0123456789") != "" {
			return "", "", false
		}
	}
	name = canonicalName(name)
	return name, port, name != ""
}

// canonicalName returns a name as it is compared: DNS names are case-insensitive, and a
// trailing dot makes no difference.
func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// misdirect responds to a request for another host.
func (s *Server) misdirect(res *response, r *http.Request) {
	res.endpoint = s.none
	if !s.none.admit(res, r) {
		return
	}
	if err := s.none.bound(res, r); err != nil {
		s.fail(res, r, err)
		return
	}
	s.fail(res, r, &rest.Fault{
		Status: http.StatusMisdirectedRequest, Name: "MisdirectedRequestError",
		Message: fmt.Sprintf("Host %q is not allowed; add it to backend.allowedHosts", shorten(r.Host)),
	})
}

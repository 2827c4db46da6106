package location

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"example.dev/ingestor/internal/config"
)

const maxURL = 4096

// parseURL parses the address of a url location.
func parseURL(target string) (*url.URL, *Problem) {
	if len(target) > maxURL {
		return nil, problemf(nameInput, "Unable to read url, more than %d characters", maxURL)
	}
	u, err := url.Parse(target)
	if err != nil || u.Opaque != "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		// Do not show an invalid address: it may contain a password.
		return nil, problemf(nameInput, "Unable to read url, not an absolute URL that begins with http:// or https://")
	}
	if u.User != nil {
		return nil, problemf(nameInput, "Unable to read url, it contains a user name or password; remove them")
	}
	return u, nil
}

// hostPort returns the host in lower case, and the port to connect to.
func hostPort(u *url.URL) (host, port string) {
	host, port = strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = schemePort(u.Scheme)
	}
	return host, port
}

func schemePort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// splitAllowed splits an entry of the allow list into host and port. The port is empty
// if none is given.
func splitAllowed(s string) (host, port string) {
	s = strings.ToLower(strings.TrimSpace(s))
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ""
}

// allowed reports whether the allow list contains the address.
func (r *Reader) allowed(u *url.URL) bool {
	host, port := hostPort(u)
	return slices.ContainsFunc(r.opts.Config.Allow, func(a config.AllowedHost) bool {
		name, at := splitAllowed(a.Host)
		if at == "" {
			at = schemePort(u.Scheme)
		}
		return at == port && hostFits(name, host) && pathFits(a.Paths, u)
	})
}

func hostFits(name, host string) bool {
	if ending, ok := strings.CutPrefix(name, "*"); ok {
		return strings.HasPrefix(ending, ".") && strings.HasSuffix(host, ending) && len(host) > len(ending)
	}
	return sameHost(name, host)
}

// sameHost compares host names, and IP addresses in any notation.
func sameHost(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return errX == nil && errY == nil && x.Unmap() == y.Unmap()
}

// pathFits reports whether the path is one of the prefixes or below it. An ambiguous
// path, which a server might interpret differently, matches none.
func pathFits(prefixes []string, u *url.URL) bool {
	if len(prefixes) == 0 {
		return true
	}
	escaped, plain := strings.ToLower(u.EscapedPath()), u.Path
	if plain == "" {
		plain = "/"
	}
	ambiguous := strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%5c") ||
		strings.ContainsAny(plain, `\%`) || strings.Contains(plain, "//") ||
		slices.ContainsFunc(strings.Split(plain, "/"), func(s string) bool { return s == ".." || s == "." })
	if ambiguous {
		return false
	}
	return slices.ContainsFunc(prefixes, func(p string) bool {
		p = path.Clean("/" + p)
		return p == "/" || plain == p || strings.HasPrefix(plain, p+"/")
	})
}

// lists reports whether the allow list names host and port explicitly, as an IP address
// or as localhost. Such an entry may be a private address.
func (r *Reader) lists(host, port string) bool {
	_, err := netip.ParseAddr(host)
	if err != nil && host != "localhost" {
		return false
	}
	return slices.ContainsFunc(r.opts.Config.Allow, func(a config.AllowedHost) bool {
		name, at := splitAllowed(a.Host)
		return sameHost(name, host) && (at == port || at == "" && (port == "80" || port == "443"))
	})
}

// checkDial reports whether a connection to address, to which host resolved, is
// allowed. It is called when connecting, so that DNS rebinding does not help an
// attacker.
func (r *Reader) checkDial(host, port, address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("cannot parse address %q", address)
	}
	ip := ap.Addr().WithZone("").Unmap()
	if isPublic(ip) {
		return nil
	}
	host = strings.ToLower(host)
	if r.lists(host, port) && (host == "localhost" && ip.IsLoopback() || sameHost(host, ip.String())) {
		return nil
	}
	return errPrivate
}

// private are networks that are not public, in addition to those netip knows.
var private = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

// carriers are networks whose addresses embed an IPv4 address, with its offset.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

func prefixes(ss ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(ss))
	for i, s := range ss {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// isPublic reports whether the address is a public Internet address.
func isPublic(ip netip.Addr) bool {
	if !ip.IsValid() || ip.IsPrivate() || !ip.IsGlobalUnicast() {
		return false
	}
	if slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return false
	}
	for _, c := range carriers {
		if c.prefix.Contains(ip) {
			b := ip.As16()
			return isPublic(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return true
}

package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
)

// Listen is the address on which connections are accepted.
type Listen struct {
	// Host is empty for all interfaces.
	Host string
	Port int
}

// String returns the address in the format of net.Listen.
func (l Listen) String() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// isLoopback reports whether only this machine can connect. Of names, only localhost is
// known to mean that.
func (l Listen) isLoopback() bool {
	ip, err := netip.ParseAddr(l.Host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(l.Host, "localhost")
}

// HTTPS is the server's certificate, as paths of PEM files; empty means plain HTTP.
type HTTPS struct{ CertFile, KeyFile string }

// address returns the backend's address on this machine.
func (b *Backend) address() string {
	scheme := "http"
	if b.HTTPS.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://localhost:" + strconv.Itoa(b.Listen.Port)
}

// hostName matches the name of a machine.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.\-]*[A-Za-z0-9])?$`)

const maxPort = 1<<16 - 1

// readListen reads an address to listen on: a port, text, or a map of both.
func readListen(m *keys.Map, key string, to *Listen) {
	m.MapOr(m.Get(key), key, "address", tree.Str(to.String()), func(v input.Value) { listenOf(v, to) }, func(m *keys.Map) {
		// The host is listed without its default, which belongs to the whole address.
		var host string
		m.Text("host", &host, wantListenHost)
		if host != "" {
			to.Host = host
		}
		if v := m.Get("port"); v.Node != nil {
			portOf(v, to)
		}
		m.Note("port", "port", nil)
	})
	m.Out.Set(key, tree.Str(to.String()))
}

// wantListenHost returns what a valid host to listen on looks like, "" if s is one.
func wantListenHost(s string) string {
	if _, err := netip.ParseAddr(s); err == nil || hostName.MatchString(s) {
		return ""
	}
	return "an address or the name of a host, such as 127.0.0.1, or 0.0.0.0 for all interfaces"
}

// portOf reads a port, which may be in quotes as in Backstage.
func portOf(v input.Value, to *Listen) {
	n, err := strconv.ParseUint(v.Node.Scalar(), 10, 16)
	if err != nil || v.Node.Kind != tree.Int && v.Node.Kind != tree.String {
		v.Wrong("a port from 0 to "+strconv.Itoa(maxPort), "")
		return
	}
	to.Port = int(n)
}

// listenOf reads an address that is not a map.
func listenOf(v input.Value, to *Listen) {
	const hint = "write it as in :7007 for all interfaces, 127.0.0.1:7007, or 7007"
	if v.Node.Kind != tree.String && v.Node.Kind != tree.Int {
		v.WrongType("an address to listen on", hint)
		return
	}
	text := v.Node.Text
	if !strings.Contains(text, ":") {
		text = net.JoinHostPort(to.Host, text)
	}
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || host != "" && wantListenHost(host) != "" {
		v.Wrong("an address to listen on", hint)
		return
	}
	*to = Listen{Host: host, Port: int(n)}
}

// readHTTPS reads the server's certificate: Backstage's certificate.cert and key, or
// certFile and keyFile.
func readHTTPS(m *keys.Map, key string, to *HTTPS) {
	m.MapOr(m.Get(key), key, "map", nil, func(v input.Value) {
		if v.Node.Kind == tree.Bool && v.Node.Text == "true" {
			v.Report(rule.Unsupported, "write certFile and keyFile", "%s: a self-signed certificate generated at start is not supported", v.Path)
			return
		}
		v.WrongType("a map", "write certFile and keyFile below it")
	}, func(m *keys.Map) {
		var theirs HTTPS
		m.FilePath("certFile", &to.CertFile)
		m.FilePath("keyFile", &to.KeyFile)
		m.Both("certFile", "keyFile")
		m.Map("certificate", func(m *keys.Map) {
			m.PEMFile("cert", &theirs.CertFile)
			m.PEMFile("key", &theirs.KeyFile)
			m.Both("cert", "key")
		})
		if m.Has("certificate") {
			for _, ours := range []string{"certFile", "keyFile"} {
				if m.Has(ours) {
					m.Clash("certificate", ours)
				}
			}
			*to = theirs
		}
	})
	if *to != (HTTPS{}) {
		m.Out.Set(key, tree.Obj(tree.F("certFile", tree.OptStr(to.CertFile)), tree.F("keyFile", tree.OptStr(to.KeyFile))))
	}
}

// readBaseURL reads an address and removes the trailing slash.
func readBaseURL(m *keys.Map, key string, to *string) {
	m.URL(key, to)
	if trimmed := strings.TrimRight(*to, "/"); trimmed != *to {
		*to = trimmed
		m.Out.Set(key, tree.Str(trimmed))
	}
}

// readFolders reads a list of paths, and makes them absolute.
func readFolders(m *keys.Map, key string, to *[]string) {
	for _, item := range m.ItemsOf(m.Get(key)) {
		if text, ok := item.Text(); ok && item.IsPath(text) {
			*to = append(*to, item.At.Absolute(text))
		}
	}
	m.Done(key, "list of path", keys.List(*to))
}

// isLocationURL checks the address of a location, and reports an invalid one. A query
// is allowed.
func isLocationURL(v input.Value, text string) bool {
	u, err := url.Parse(text)
	if err == nil && u.RawQuery != "" && u.User == nil {
		u.RawQuery = ""
		text = u.String()
	}
	return keys.IsURL(v, text)
}

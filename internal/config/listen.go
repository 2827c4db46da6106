package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
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

// listen reads an address to listen on: a port, text, or a map of both.
func (o *object) listen(key string, to *Listen) {
	o.mapOr(o.get(key), key, "address", tree.Str(to.String()), func(v value) { o.r.listenOf(v, to) }, func(o *object) {
		// The host is listed without its default, which belongs to the whole address.
		var host string
		o.text("host", &host, wantListenHost)
		if host != "" {
			to.Host = host
		}
		if v := o.get("port"); v.node != nil {
			o.r.portOf(v, to)
		}
		o.note("port", "port", nil)
	})
	o.out.Set(key, tree.Str(to.String()))
}

// wantListenHost returns what a valid host to listen on looks like, "" if s is one.
func wantListenHost(s string) string {
	if _, err := netip.ParseAddr(s); err == nil || hostName.MatchString(s) {
		return ""
	}
	return "an address or the name of a host, such as 127.0.0.1, or 0.0.0.0 for all interfaces"
}

// portOf reads a port, which may be in quotes as in Backstage.
func (r *reader) portOf(v value, to *Listen) {
	n, err := strconv.ParseUint(v.node.Scalar(), 10, 16)
	if err != nil || v.node.Kind != tree.Int && v.node.Kind != tree.String {
		r.wrong(v, "a port from 0 to "+strconv.Itoa(maxPort), "")
		return
	}
	to.Port = int(n)
}

// listenOf reads an address that is not a map.
func (r *reader) listenOf(v value, to *Listen) {
	const hint = "write it as in :7007 for all interfaces, 127.0.0.1:7007, or 7007"
	if v.node.Kind != tree.String && v.node.Kind != tree.Int {
		r.wrongType(v, "an address to listen on", hint)
		return
	}
	text := v.node.Text
	if !strings.Contains(text, ":") {
		text = net.JoinHostPort(to.Host, text)
	}
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || host != "" && wantListenHost(host) != "" {
		r.wrong(v, "an address to listen on", hint)
		return
	}
	*to = Listen{Host: host, Port: int(n)}
}

// https reads the server's certificate: Backstage's certificate.cert and key, or
// certFile and keyFile.
func (o *object) https(key string, to *HTTPS) {
	o.mapOr(o.get(key), key, "map", nil, func(v value) {
		if v.node.Kind == tree.Bool && v.node.Text == "true" {
			o.r.report(RuleUnsupported, v.at, v.path, "write certFile and keyFile", "%s: a self-signed certificate generated at start is not supported", v.path)
			return
		}
		o.r.wrongType(v, "a map", "write certFile and keyFile below it")
	}, func(o *object) {
		var theirs HTTPS
		o.filePath("certFile", &to.CertFile)
		o.filePath("keyFile", &to.KeyFile)
		o.both("certFile", "keyFile")
		o.object("certificate", func(o *object) {
			o.pemFile("cert", &theirs.CertFile)
			o.pemFile("key", &theirs.KeyFile)
			o.both("cert", "key")
		})
		if o.has("certificate") {
			for _, ours := range []string{"certFile", "keyFile"} {
				if o.has(ours) {
					o.clash("certificate", ours)
				}
			}
			*to = theirs
		}
	})
	if *to != (HTTPS{}) {
		o.out.Set(key, tree.Obj(tree.F("certFile", tree.OptStr(to.CertFile)), tree.F("keyFile", tree.OptStr(to.KeyFile))))
	}
}

// both reports one of two keys that is given without the other.
func (o *object) both(a, b string) {
	if o.has(a) == o.has(b) {
		return
	}
	if o.has(b) {
		a, b = b, a
	}
	o.r.report(RuleMissing, o.keyAt(a), o.pathTo(b), "write both, or none", "%s has %s, but no %s", o.path, a, b)
}

// pemFile reads the path of a PEM file, as text or as { $file: path }, which for other
// keys means the content of the file.
func (o *object) pemFile(key string, to *string) {
	v := value{path: o.pathTo(key), secret: true}
	text, ok := "", false
	if name := includedFile(o.field(key)); name != nil {
		o.known = append(o.known, key)
		v.at = o.r.placeOf(name)
		text, _, ok = o.r.substitute(name.Text, v, o.lenient)
	} else {
		v = o.value(key, true)
		text, ok = o.r.textOf(v)
	}
	switch {
	case !ok:
	case strings.Contains(text, "-----BEGIN"):
		o.r.report(RuleUnsupported, v.at, v.path, "put it into a file and write { $file: path }", "%s: inline PEM is not supported", v.path)
	case o.r.isPath(v, text):
		*to = o.r.beside(text, v.at)
	}
	o.done(key, "path", tree.OptStr(*to))
}

// includedFile returns the name of the file in { $file: name }, or nil for anything
// else.
func includedFile(f *tree.Field) *tree.Node {
	if f == nil || f.Value.Len() != 1 || !f.Value.IsMap() {
		return nil
	}
	if in := f.Value.Fields[0]; in.Key == "$file" && in.Value.IsString() && in.Value.Text != "" {
		return in.Value
	}
	return nil
}

// baseURL reads an address and removes the trailing slash.
func (o *object) baseURL(key string, to *string) {
	o.url(key, to)
	if trimmed := strings.TrimRight(*to, "/"); trimmed != *to {
		*to = trimmed
		o.out.Set(key, tree.Str(trimmed))
	}
}

// absolute returns a path that does not depend on the working directory.
func (r *reader) absolute(name string, at place) string {
	name = r.beside(name, at)
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// folders reads a list of paths, and makes them absolute.
func (o *object) folders(key string, to *[]string) {
	for _, item := range o.itemsOf(o.get(key)) {
		if text, ok := o.r.textOf(item); ok && o.r.isPath(item, text) {
			*to = append(*to, o.r.absolute(text, item.at))
		}
	}
	o.done(key, "list of path", list(*to))
}

// isLocationURL checks the address of a location, and reports an invalid one. A query
// is allowed.
func (r *reader) isLocationURL(v value, text string) bool {
	u, err := url.Parse(text)
	if err == nil && u.RawQuery != "" && u.User == nil {
		u.RawQuery = ""
		text = u.String()
	}
	return r.isURL(v, text)
}

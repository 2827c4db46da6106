package config

import (
	"log/slog"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/source"
)

// Backend is the section backend: how the portal is served.
type Backend struct {
	// BaseURL is how the backend is reached from outside, without a trailing slash.
	BaseURL string
	Listen  Listen
	HTTPS   HTTPS
	CORS    CORS
	// AllowedHosts are the allowed hosts of requests, in addition to those of BaseURL and
	// App.BaseURL and this machine's own names: in lower case, with :port for one port
	// only; a leading "*." matches any subdomain.
	AllowedHosts []string

	Database Database
	Cache    Cache
	// ExternalAccess are the services that may call the API.
	ExternalAccess []ExternalAccess
	Reading        Reading
	RateLimit      RateLimit
	// MaxBody is the maximum size of a request's body, in bytes. For pushes of providers
	// it is MaxPush.
	MaxBody, MaxPush int64
	// LogLevel is the minimum level that is logged.
	LogLevel slog.Level
	// ShutdownDelay is how long requests are still accepted after the program was told to
	// stop.
	ShutdownDelay time.Duration
	Telemetry     Telemetry
}

// CORS defines which origins may send requests. Without origins, none may.
type CORS struct {
	// Origins are as browsers send them, such as https://portal.example.org.
	Origins     []string
	Methods     []string
	Credentials bool
}

// ExternalAccess is a service that may call the API with its own token.
type ExternalAccess struct {
	Token source.Secret
	// Subject is the name of the service in logs and rules.
	Subject string
}

// Reading defines which addresses locations may be read from.
type Reading struct {
	Allow []AllowedHost
	// Roots are the folders that may contain file locations, as absolute paths.
	Roots []string
	// Timeout is that of one read, MaxSize its maximum size in bytes.
	Timeout time.Duration
	MaxSize int64
}

// AllowedHost is a host that may be read from.
type AllowedHost struct {
	// Host is a name in lower case, with :port unless it is the scheme's default; a
	// leading "*." matches any subdomain. A private address must be listed exactly.
	Host string
	// Paths, if not empty, are prefixes of paths of which one must match.
	Paths []string
}

// RateLimit is the maximum request rate of a client.
type RateLimit struct {
	Enabled bool
	// Requests may be made in any Window.
	Requests int
	Window   time.Duration
	// AllowIPs are addresses, or networks such as 10.0.0.0/8, without limit.
	AllowIPs []string
}

func (b *Backend) read(m *keys.Map, first input.Place) {
	readListen(m, "listen", &b.Listen)
	readHTTPS(m, "https", &b.HTTPS)
	if !m.Has("baseUrl") && !m.Describing() {
		b.BaseURL = b.address()
	}
	readBaseURL(m, "baseUrl", &b.BaseURL)
	readHosts(m, "allowedHosts", &b.AllowedHosts)
	m.Map("cors", b.CORS.read)
	m.Map("database", func(m *keys.Map) { b.Database.read(m, first) })
	m.Map("cache", b.Cache.read)
	m.Map("auth", func(m *keys.Map) {
		readExternalAccess(m, "externalAccess", &b.ExternalAccess)
		m.Never("dangerouslyDisableDefaultAuthPolicy", "remove it; auth.providers.guest lets people read without signing in")
		m.NoEffect("keys", "pluginKeyStore")
	})
	m.Map("reading", b.Reading.read)
	b.RateLimit.read(m)
	m.Size("maxBody", &b.MaxBody, 1<<10, 1<<30)
	m.Size("maxPush", &b.MaxPush, 1<<10, 64<<30)
	m.Map("logger", func(m *keys.Map) {
		readLevel(m, "level", &b.LogLevel)
		m.NoEffect("meta", "overrides")
	})
	m.PassOver("csp", "referrer")
	m.Map("lifecycle", func(m *keys.Map) {
		m.Duration("serverShutdownDelay", &b.ShutdownDelay, 0)
		m.NoEffect("startupRequestPauseTimeout")
	})
	m.Map("telemetry", b.Telemetry.read)
	m.NoEffect("trustProxy", "server", "auditor", "actions", "health", "metrics", "tracing", "workingDirectory", "packages")
}

// methods are those that other origins may be allowed.
var methods = []string{"GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"}

func (c *CORS) read(m *keys.Map) {
	m.StringOrList("origin", &c.Origins, wantOrigin)
	m.StringOrList("methods", &c.Methods, func(s string) string {
		if slices.Contains(methods, s) {
			return ""
		}
		return text.Enumerate(methods, "or")
	})
	m.Flag("credentials", &c.Credentials)
	m.NoEffect("allowedHeaders", "exposedHeaders", "maxAge", "preflightContinue", "optionsSuccessStatus")
}

// origin matches a scheme and a host as browsers send them.
var origin = regexp.MustCompile(`^https?://[a-z0-9.\-]+(:\d{1,5})?$|^https?://\[[0-9a-f:]+\](:\d{1,5})?$`)

// wantOrigin returns what a valid CORS origin looks like, "" if s is one.
func wantOrigin(s string) string {
	if origin.MatchString(s) {
		return ""
	}
	return "an origin as browsers send it, such as https://portal.example.org, without a path and without *"
}

// foreignAccess are Backstage's other authentication methods for services.
var foreignAccess = []string{"jwks", "legacy", "azure"}

// accessStatic is the supported one.
const accessStatic = "static"

// readExternalAccess reads the services that may call the API.
func readExternalAccess(m *keys.Map, key string, to *[]ExternalAccess) {
	seen := map[source.Secret]input.Place{}
	m.List(key, func(m *keys.Map) {
		e := ExternalAccess{}
		m.Require("type", "write type: "+accessStatic)
		v, text, ok := m.Str("type")
		m.Done("type", "one of "+accessStatic, tree.OptStr(text))
		switch {
		case slices.Contains(foreignAccess, text):
			v.Report(rule.Unsupported, "write type: "+accessStatic+" with a token; tokens of an issuer are accepted by auth.providers.oidc",
				"%s: %s is not supported", v.Path, text)
			m.IgnoreRest()
			return
		case ok && !v.IsOneOf(text, accessStatic):
			return
		}
		m.Require("options", "write options: { token: ${NAME}, subject: name }")
		m.Map("options", func(m *keys.Map) {
			m.Require("token", "write token: ${NAME}")
			m.Secret("token", &e.Token)
			m.Require("subject", "write the name of the service in logs and rules")
			m.Text("subject", &e.Subject, wantSubject)
			if e.Token != "" {
				checkToken(m, e.Token, seen)
			}
		})
		m.Unsupported("restrict it with permission.rules, with the subject under who", "accessRestrictions")
		*to = append(*to, e)
	})
}

// checkToken reports a token that can be guessed, or that two services share.
func checkToken(m *keys.Map, token source.Secret, seen map[source.Secret]input.Place) {
	m.Strong("token", token)
	at := m.ValueAt("token")
	if first, twice := seen[token]; twice {
		m.Report(rule.Twice, at, m.PathTo("token"), "use a different token for each service", "%s is already used by another service, at %s", m.PathTo("token"), first)
		return
	}
	seen[token] = at
}

// wantSubject returns what a valid name of a service looks like, "" if s is one.
func wantSubject(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return "a name without spaces"
	}
	if slices.Contains(callers, s) {
		return "a name other than " + text.Enumerate(callers, "or") + ", which are kinds of callers"
	}
	return ""
}

func (c *Reading) read(m *keys.Map) {
	m.List("allow", func(m *keys.Map) {
		a := AllowedHost{}
		m.Require("host", "write the name of the host, such as example.org or *.example.org")
		m.Text("host", &a.Host, wantHost)
		if lower := strings.ToLower(a.Host); lower != a.Host {
			a.Host = lower
			m.Out.Set("host", tree.Str(lower))
		}
		m.Strings("paths", &a.Paths, func(s string) string {
			if strings.HasPrefix(s, "/") && !strings.ContainsAny(s, "?#") {
				return ""
			}
			return "a path prefix, such as /catalog/"
		})
		c.Allow = append(c.Allow, a)
	})
	readFolders(m, "roots", &c.Roots)
	m.Duration("timeout", &c.Timeout, 100*time.Millisecond)
	m.Size("maxSize", &c.MaxSize, 1<<10, 1<<30)
}

// hostPattern matches a host that may be read from.
var hostPattern = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.\-]*[A-Za-z0-9_])?(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$`)

// wantHost returns what a valid host looks like, "" if s is one.
func wantHost(s string) string {
	if hostPattern.MatchString(s) {
		return ""
	}
	return "a host such as example.org, *.example.org or example.org:8443, without a scheme and a path"
}

// readHosts reads a list of hosts, and converts them to lower case.
func readHosts(m *keys.Map, key string, to *[]string) {
	m.Strings(key, to, wantHost)
	for i, s := range *to {
		(*to)[i] = strings.ToLower(s)
	}
	m.Out.Set(key, keys.List(*to))
}

func (c *RateLimit) read(m *keys.Map) {
	v := m.Get("rateLimit")
	out := m.MapOr(v, "rateLimit", "boolean", tree.Boolean(c.Enabled), func(v input.Value) { v.Flag(&c.Enabled) }, func(m *keys.Map) {
		m.Duration("window", &c.Window, time.Second)
		m.Number("incomingRequestLimit", &c.Requests, 1, 1_000_000)
		m.Strings("ipAllowList", &c.AllowIPs, wantNetwork)
		m.NoEffect("global", "store", "passOnStoreError", "skipSuccessfulRequests", "skipFailedRequests", "plugin")
	})
	if !c.Enabled {
		out = tree.Boolean(false)
	}
	m.Out.Set("rateLimit", out)
}

// wantNetwork returns what a valid address or network looks like, "" if s is one.
func wantNetwork(s string) string {
	_, err := netip.ParseAddr(s)
	if err != nil {
		_, err = netip.ParsePrefix(s)
	}
	if err == nil {
		return ""
	}
	return "an address or a network, such as 10.0.0.1 or 10.0.0.0/8"
}

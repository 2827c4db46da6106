package config

import (
	"log/slog"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
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

func (b *Backend) read(o *object) {
	o.listen("listen", &b.Listen)
	o.https("https", &b.HTTPS)
	if !o.has("baseUrl") && !o.r.describing {
		b.BaseURL = b.address()
	}
	o.baseURL("baseUrl", &b.BaseURL)
	o.hosts("allowedHosts", &b.AllowedHosts)
	o.object("cors", b.CORS.read)
	o.object("database", b.Database.read)
	o.object("cache", b.Cache.read)
	o.object("auth", func(o *object) {
		o.externalAccess("externalAccess", &b.ExternalAccess)
		o.never("dangerouslyDisableDefaultAuthPolicy", "remove it; auth.providers.guest lets people read without signing in")
		o.noEffect("keys", "pluginKeyStore")
	})
	o.object("reading", b.Reading.read)
	b.RateLimit.read(o)
	o.size("maxBody", &b.MaxBody, 1<<10, 1<<30)
	o.size("maxPush", &b.MaxPush, 1<<10, 64<<30)
	o.object("logger", func(o *object) {
		o.level("level", &b.LogLevel)
		o.noEffect("meta", "overrides")
	})
	o.passOver("csp", "referrer")
	o.object("lifecycle", func(o *object) {
		o.duration("serverShutdownDelay", &b.ShutdownDelay, 0)
		o.noEffect("startupRequestPauseTimeout")
	})
	o.noEffect("trustProxy", "server", "auditor", "actions", "health", "metrics", "tracing", "workingDirectory", "packages")
}

// methods are those that other origins may be allowed.
var methods = []string{"GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"}

func (c *CORS) read(o *object) {
	o.stringOrList("origin", &c.Origins, wantOrigin)
	o.stringOrList("methods", &c.Methods, func(s string) string {
		if slices.Contains(methods, s) {
			return ""
		}
		return enumerate(methods, "or")
	})
	o.flag("credentials", &c.Credentials)
	o.noEffect("allowedHeaders", "exposedHeaders", "maxAge", "preflightContinue", "optionsSuccessStatus")
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

// externalAccess reads the services that may call the API.
func (o *object) externalAccess(key string, to *[]ExternalAccess) {
	seen := map[source.Secret]place{}
	o.list(key, func(o *object) {
		e := ExternalAccess{}
		o.require("type", "write type: "+accessStatic)
		v, text, ok := o.str("type")
		o.done("type", "one of "+accessStatic, tree.OptStr(text))
		switch {
		case slices.Contains(foreignAccess, text):
			o.r.report(RuleUnsupported, v.at, v.path, "write type: "+accessStatic+" with a token; tokens of an issuer are accepted by auth.providers.oidc",
				"%s: %s is not supported", v.path, text)
			o.unchecked = true
			return
		case ok && !o.r.isOneOf(v, text, []string{accessStatic}):
			return
		}
		o.require("options", "write options: { token: ${NAME}, subject: name }")
		o.object("options", func(o *object) {
			o.require("token", "write token: ${NAME}")
			o.secret("token", &e.Token)
			o.require("subject", "write the name of the service in logs and rules")
			o.text("subject", &e.Subject, wantSubject)
			if e.Token != "" {
				o.checkToken(e.Token, seen)
			}
		})
		o.unsupported("restrict it with permission.rules, with the subject under who", "accessRestrictions")
		*to = append(*to, e)
	})
}

// checkToken reports a token that can be guessed, or that two services share.
func (o *object) checkToken(token source.Secret, seen map[source.Secret]place) {
	o.strong("token", token)
	at := o.valueAt("token")
	if first, twice := seen[token]; twice {
		o.r.report(RuleTwice, at, o.pathTo("token"), "use a different token for each service", "%s is already used by another service, at %s", o.pathTo("token"), first)
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
		return "a name other than " + enumerate(callers, "or") + ", which are kinds of callers"
	}
	return ""
}

func (c *Reading) read(o *object) {
	o.list("allow", func(o *object) {
		a := AllowedHost{}
		o.require("host", "write the name of the host, such as example.org or *.example.org")
		o.text("host", &a.Host, wantHost)
		if lower := strings.ToLower(a.Host); lower != a.Host {
			a.Host = lower
			o.out.Set("host", tree.Str(lower))
		}
		o.strings("paths", &a.Paths, func(s string) string {
			if strings.HasPrefix(s, "/") && !strings.ContainsAny(s, "?#") {
				return ""
			}
			return "a path prefix, such as /catalog/"
		})
		c.Allow = append(c.Allow, a)
	})
	o.folders("roots", &c.Roots)
	o.duration("timeout", &c.Timeout, 100*time.Millisecond)
	o.size("maxSize", &c.MaxSize, 1<<10, 1<<30)
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

// hosts reads a list of hosts, and converts them to lower case.
func (o *object) hosts(key string, to *[]string) {
	o.strings(key, to, wantHost)
	for i, s := range *to {
		(*to)[i] = strings.ToLower(s)
	}
	o.out.Set(key, list(*to))
}

func (c *RateLimit) read(o *object) {
	v := o.get("rateLimit")
	out := o.mapOr(v, "rateLimit", "boolean", tree.Boolean(c.Enabled), func(v value) { o.r.flagOf(v, &c.Enabled) }, func(o *object) {
		o.duration("window", &c.Window, time.Second)
		o.number("incomingRequestLimit", &c.Requests, 1, 1_000_000)
		o.strings("ipAllowList", &c.AllowIPs, wantNetwork)
		o.noEffect("global", "store", "passOnStoreError", "skipSuccessfulRequests", "skipFailedRequests", "plugin")
	})
	if !c.Enabled {
		out = tree.Boolean(false)
	}
	o.out.Set("rateLimit", out)
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

// Package production checks whether a configuration is strict enough for a portal that
// several teams use.
package production

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/source"
)

// The ids of the rules for production.
const (
	Guests      = "PROD001"
	PlainURL    = "PROD002"
	Cookie      = "PROD003"
	Predictable = "PROD004"
	DatabaseTLS = "PROD005"
	Permission  = "PROD006"
	NoRules     = "PROD007"
	NoLimit     = "PROD008"
	SkipTLS     = "PROD009"
	RedisTLS    = "PROD010"
	PlainIssuer = "PROD011"
	NoTaskKey   = "PROD012"
	NoAudit     = "PROD013"
	Collector   = "PROD014"
)

// Rules are the rules that Check checks, in the order of their ids.
var Rules = []finding.Rule{
	{ID: Guests, Severity: finding.Error, Title: "guests are let in",
		Why: "Every client that reaches the portal reads the catalog without signing in."},
	{ID: PlainURL, Severity: finding.Error, Title: "the portal is reached over plain HTTP",
		Why: "Tokens can be read in transit. Write https even if a proxy terminates TLS: it is how browsers reach the portal."},
	{ID: Cookie, Severity: finding.Error, Title: "the session cookie is not secure",
		Why: "Browsers also send it over plain HTTP, because backend.baseUrl is not https."},
	{ID: Predictable, Severity: finding.Error, Title: "a token or key can be guessed",
		Why: "It is short, or contains a word or sequence that attackers try first."},
	{ID: DatabaseTLS, Severity: finding.Error, Title: "the connection to PostgreSQL may not be encrypted",
		Why: "The password and all data can be read in transit."},
	{ID: Permission, Severity: finding.Error, Title: "permissions are switched off",
		Why: "Everybody who signs in may do everything."},
	{ID: NoRules, Severity: finding.Error, Title: "permission rules are missing",
		Why: "The defaults may not match what your teams agreed on. Define who may do what."},
	{ID: NoLimit, Severity: finding.Error, Title: "the rate limit is off",
		Why: "One client can keep the portal busy for all others."},
	{ID: SkipTLS, Severity: finding.Error, Title: "a certificate is not verified",
		Why: "Another machine can impersonate the server and get the credentials."},
	{ID: RedisTLS, Severity: finding.Error, Title: "the connection to Redis is not encrypted",
		Why: "The password and cached data can be read and changed in transit."},
	{ID: PlainIssuer, Severity: finding.Error, Title: "an issuer is reached over plain HTTP",
		Why: "Its responses about who signs in can be changed in transit."},
	{ID: NoTaskKey, Severity: finding.Error, Title: "task secrets have no key",
		Why: "Without scaffolder.secretKey a portal on PostgreSQL refuses tasks with secrets."},
	{ID: NoAudit, Severity: finding.Error, Title: "audit log is off",
		Why: "Sign-ins, refusals and changes are not recorded."},
	{ID: Collector, Severity: finding.Error, Title: "credentials are sent to the collector over plain HTTP",
		Why: "The headers of backend.telemetry can be read in transit."},
}

// Check returns the settings that are too weak for a portal that several teams use, in
// reading order. The configuration must have no errors.
func Check(c *config.Config) []finding.Finding {
	p := &checker{c: c}
	p.reach()
	p.signIn()
	p.secrets()
	p.connections()
	p.permission()
	p.walk(c.Effective(), "")
	finding.Sort(p.found)
	return p.found
}

// checker collects weak settings.
type checker struct {
	c     *config.Config
	found []finding.Finding
}

// report adds a finding about a key, at the position of the key or of the nearest map
// that would contain it.
func (p *checker) report(rule, key, hint, format string, args ...any) {
	path, at := p.c.Locate(key)
	f := finding.Finding{
		Rule: rule, Severity: finding.Error, Path: path, File: at.File, Pos: at.Pos,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
	if f.File == "" {
		f.Object = "defaults"
	}
	p.found = append(p.found, f)
}

// reach checks how the portal is reached.
func (p *checker) reach() {
	b := p.c.Backend
	for _, a := range []struct{ key, address string }{{"backend.baseUrl", b.BaseURL}, {"app.baseUrl", p.c.App.BaseURL}} {
		if strings.HasPrefix(a.address, "http://") {
			p.report(PlainURL, a.key, "write "+a.key+" with https://, also if a proxy terminates TLS", "%s is plain HTTP", a.key)
		}
	}
	if !b.RateLimit.Enabled {
		p.report(NoLimit, "backend.rateLimit", "remove it, or write a map with window and incomingRequestLimit", "backend.rateLimit is off")
	}
}

// signIn checks how users sign in.
func (p *checker) signIn() {
	a := p.c.Auth
	if a.Guest.Enabled {
		p.report(Guests, "auth.providers.guest", "remove auth.providers.guest, and write auth.providers.oidc", "guests are let in without signing in")
	}
	if !a.OIDC.Enabled {
		return
	}
	if strings.HasPrefix(p.c.Backend.BaseURL, "http://") {
		p.report(Cookie, "auth.providers.oidc", "write backend.baseUrl with https://", "the session cookie is sent without Secure, because backend.baseUrl is plain HTTP")
	}
	if strings.HasPrefix(a.OIDC.Issuer, "http://") {
		key := "auth.providers.oidc.issuer"
		if !p.c.Written(key) {
			key = "auth.providers.oidc.metadataUrl"
		}
		p.report(PlainIssuer, key, "use https", "%s is plain HTTP", key)
	}
}

// secrets checks the tokens of services and the keys of the portal.
func (p *checker) secrets() {
	check := func(key string, s source.Secret) {
		if want := secret.Predictable(s.Reveal()); s != "" && want != "" {
			p.report(Predictable, key, keys.MakeSecret, "%s can be guessed: want %s", key, want)
		}
	}
	for i, e := range p.c.Backend.ExternalAccess {
		check(fmt.Sprintf("backend.auth.externalAccess[%d].options.token", i), e.Token)
	}
	check("auth.session.secret", p.c.Auth.SessionSecret)
	check("scaffolder.secretKey", p.c.Scaffolder.SecretKey)
	if p.c.Scaffolder.SecretKey == "" && p.c.Backend.Database.Client == config.ClientPostgres {
		p.report(NoTaskKey, "scaffolder.secretKey", "write scaffolder: { secretKey: ${NAME} }, the same for all replicas; "+keys.MakeSecret, "the key for task secrets is missing")
	}
}

// connections checks the connections to the database, the cache and the collector.
func (p *checker) connections() {
	b := p.c.Backend
	if b.Database.Client == config.ClientPostgres && !isEncrypted(b.Database.URL.Reveal()) {
		p.report(DatabaseTLS, "backend.database.connection.ssl", "write ssl: true, or sslmode=verify-full in the URL",
			"backend.database.connection does not require encryption")
	}
	if u, err := url.Parse(b.Cache.Connection.Reveal()); err == nil && u.Scheme == "redis" && !keys.IsThisMachine(u.Hostname()) {
		p.report(RedisTLS, "backend.cache.connection", "write rediss:// in place of redis://", "backend.cache.connection is not encrypted")
	}
	if len(b.Telemetry.Headers) > 0 && keys.IsPlain(b.Telemetry.Endpoint) {
		p.report(Collector, "backend.telemetry.endpoint", "write https:// in place of http://, or remove headers", "backend.telemetry.headers are sent over plain HTTP")
	}
}

// isEncrypted reports whether a connection to PostgreSQL is always encrypted,
// independent of the server, or stays on this machine.
func isEncrypted(connection string) bool {
	u, err := url.Parse(connection)
	if err != nil {
		return false
	}
	q := u.Query()
	switch q.Get("sslmode") {
	case "require", "verify-ca", "verify-full":
		return true
	}
	hosts := u.Hostname()
	if given := q.Get("host"); given != "" {
		hosts = given
	}
	return !slices.ContainsFunc(strings.Split(hosts, ","), func(host string) bool {
		// A path is the folder of a Unix socket.
		return !strings.HasPrefix(host, "/") && !keys.IsThisMachine(host)
	})
}

// permission checks that there are permission rules, that they are enabled, and that
// there is an audit log.
func (p *checker) permission() {
	switch {
	case !p.c.Permission.Enabled:
		p.report(Permission, "permission.enabled", "remove it, or write true", "permission.enabled is false")
	case len(p.c.Permission.Rules) == 0:
		p.report(NoRules, "permission.rules", "write permission.rules; docs/sign-in.md has an example", "permission rules are missing")
	}
	if p.c.Audit.To == config.AuditNone {
		p.report(NoAudit, "audit.to", "write audit: { to: stdout }, or to: file with file: the path", "audit log is off")
	}
}

// walk checks settings that may occur in several sections.
func (p *checker) walk(n *tree.Node, path string) {
	if n == nil {
		return
	}
	for _, f := range n.Fields {
		key := keys.Join(path, f.Key)
		switch {
		case f.Key == "skipTLSVerify" && f.Value.Text == "true":
			p.report(SkipTLS, key, "remove it, and write caFile if the certificate authority is private", "%s is true: the certificate is not verified", key)
		case f.Key == "issuer" && !strings.HasPrefix(key, "auth.") && strings.HasPrefix(f.Value.Text, "http://"):
			p.report(PlainIssuer, key, "use https", "%s is plain HTTP", key)
		}
		p.walk(f.Value, key)
	}
	for i, item := range n.Items {
		p.walk(item, fmt.Sprintf("%s[%d]", path, i))
	}
}

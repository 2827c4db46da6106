package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
)

// portal sets each key of the portal to a value that is not the default.
const portal = `app:
  title: Platform
  baseUrl: https://portal.example.org/
  logo: logo.svg
  analytics: { ga4: { measurementId: x } }
backend:
  baseUrl: https://api.example.org/
  listen: { host: 0.0.0.0, port: 8080 }
  https: { certFile: tls/cert.pem, keyFile: tls/key.pem }
  allowedHosts: [Portal.svc, "*.example.org:8443", 10.0.0.1]
  cors: { origin: "https://portal.example.org", methods: [GET, POST], credentials: true }
  database:
    client: pg
    connection:
      host: db.example.org
      port: 6432
      user: me@here
      password: ${PASSWORD}
      database: catalog
      ssl: { ca: { $file: tls/ca.pem }, rejectUnauthorized: true }
  cache: { store: redis, connection: { $env: REDIS } }
  auth:
    externalAccess:
      - type: static
        options: { token: "${CI}", subject: ci }
  reading:
    allow:
      - { host: "*.Example.org", paths: [/catalog/] }
      - host: 127.0.0.1:8080
    roots: [entities, /srv/entities]
    timeout: 5s
    maxSize: 1MiB
  rateLimit: { window: { minutes: 1 }, incomingRequestLimit: 60, ipAllowList: [10.0.0.0/8] }
  maxBody: 2MB
  maxPush: 1073741824
  logger: { level: warn }
  telemetry:
    endpoint: http://collector:4318/
    headers: { Authorization: "Bearer ${OTLP}", X-Tenant: one }
    traces: false
    metrics: false
    sampleRatio: 0.25
    interval: 10s
    serviceName: portal-staging
auth:
  environment: production
  session: { secret: "${SESSION}" }
  backstageTokenExpiration: { minutes: 30 }
  providers:
    guest:
      userEntityRef: user:default/Visitor
      ownershipEntityRefs: [visitors, user:default/visitor]
      dangerouslyAllowOutsideDevelopment: true
    oidc:
      development: { clientId: "${NOT_SET}" }
      production:
        metadataUrl: https://login.example.org/realms/x/.well-known/openid-configuration
        clientId: portal
        clientSecret: ${OIDC}
        additionalScopes: groups offline_access
        audience: api
        authorizedParties: [cli, ci]
        userClaim: email
        groupsClaim: roles
        userNamespace: people
        groupNamespace: teams
        caFile: tls/ca.pem
permission:
  enabled: false
  rules:
    - { who: [user, ci, "Group:default/Platform"], permissions: [catalog.entity.*, scaffolder.task.read], kinds: [Component], namespaces: [default], owners: [own, platform], result: allow }
    - result: deny
audit: { to: file, file: log/audit.jsonl }
catalog:
  rules:
    - allow: [Component]
    - allow: [API]
  locations:
    - { type: file, target: "../entities/**/*.yaml" }
    - { type: url, target: "https://example.org/feed.yaml?filter=kind=api", rules: [ { allow: [User, Group] } ] }
  processingInterval: PT5M
  locationTypes: [url]
  providers:
    xrdTemplates: { enabled: false, sourceDirectory: xrds, watchForChanges: true, schedule: { frequency: { minutes: 3 } } }
`

// portalURL sets some keys in their other forms.
const portalURL = `backend:
  listen: ":7008"
  database: { client: pg, connection: "${PG}" }
  cache: { store: redis, connection: "redis://localhost" }
  rateLimit: false
auth: { providers: { oidc: { issuer: "https://login.example.org", clientId: portal } } }
catalog: { locationTypes: [] }
`

var portalSecrets = vars{"PASSWORD": "p@ss word/?#", "CI": "0123456789abcdef", "OIDC": "s-oidc", "SESSION": "s-session-0123456", "OTLP": "s-otlp", "REDIS": "rediss://me:pw@redis:6380/2", "PG": "postgres://me:pw@db/portal?sslmode=disable"}

// absolute returns a path relative to the working directory.
func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// loadPortal loads the sections of the portal from conf/a.yaml.
func loadPortal(t *testing.T, text string) *Config {
	t.Helper()
	c, fs := Load([]string{"conf/a.yaml"}, Options{Lookup: portalSecrets.lookup, ReadFile: disk{"conf/a.yaml": text, "conf/logo.svg": svg}.read, Sections: PortalSections})
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("findings are %q in\n%s", found, text)
	}
	return c
}

func TestPortal(t *testing.T) {
	want := defaults()
	want.App = App{Title: "Platform", BaseURL: "https://portal.example.org", Logo: Logo{"conf/logo.svg", typeSVG, []byte(svg)}}
	want.Backend = Backend{
		BaseURL: "https://api.example.org",
		Listen:  Listen{Host: "0.0.0.0", Port: 8080},
		HTTPS:   HTTPS{CertFile: "conf/tls/cert.pem", KeyFile: "conf/tls/key.pem"},
		CORS:    CORS{Origins: []string{"https://portal.example.org"}, Methods: []string{"GET", "POST"}, Credentials: true},

		AllowedHosts: []string{"portal.svc", "*.example.org:8443", "10.0.0.1"},
		Database: Database{
			Client: ClientPostgres,
			URL:    "postgres://me%40here:p%40ss%20word%2F%3F%23@db.example.org:6432/catalog?sslmode=verify-full&sslrootcert=conf%2Ftls%2Fca.pem",
		},
		Cache:          Cache{Store: CacheRedis, Connection: "rediss://me:pw@redis:6380/2"},
		ExternalAccess: []ExternalAccess{{Token: "0123456789abcdef", Subject: "ci"}},
		Reading: Reading{
			Allow: []AllowedHost{{Host: "*.example.org", Paths: []string{"/catalog/"}}, {Host: "127.0.0.1:8080"}},
			Roots: []string{absolute(t, "conf/entities"), "/srv/entities"}, Timeout: 5 * time.Second, MaxSize: 1 << 20,
		},
		RateLimit: RateLimit{Enabled: true, Requests: 60, Window: time.Minute, AllowIPs: []string{"10.0.0.0/8"}},
		MaxBody:   2_000_000, MaxPush: 1 << 30, LogLevel: slog.LevelWarn,
		Telemetry: Telemetry{
			Endpoint: "http://collector:4318", Headers: map[string]source.Secret{"Authorization": "Bearer s-otlp", "X-Tenant": "one"},
			SampleRatio: 0.25, Interval: 10 * time.Second, ServiceName: "portal-staging",
		},
	}
	want.Auth = Auth{
		Guest: GuestProvider{Enabled: true, AllowOutside: true, UserRef: "user:default/visitor", OwnershipRefs: []string{"group:default/visitors", "user:default/visitor"}},
		OIDC: OIDCProvider{
			Enabled: true, Issuer: "https://login.example.org/realms/x", ClientID: "portal", ClientSecret: "s-oidc",
			Scopes: []string{"openid", "profile", "email", "groups", "offline_access"}, Audience: "api", AuthorizedParties: []string{"cli", "ci"},
			UserClaim: "email", GroupsClaim: "roles", UserNamespace: "people", GroupNamespace: "teams", CAFile: "conf/tls/ca.pem",
		},
		SessionSecret: "s-session-0123456", TokenLifetime: 30 * time.Minute,
	}
	want.Permission = Permission{Rules: []PermissionRule{
		{
			Who: []string{"user", "ci", "group:default/platform"}, Permissions: []string{"catalog.entity.*", "scaffolder.task.read"},
			Kinds: []string{"Component"}, Namespaces: []string{"default"}, Owners: []string{"own", "group:default/platform"}, Allow: true,
		},
		{},
	}}
	want.Audit = Audit{To: AuditFile, File: "conf/log/audit.jsonl"}
	want.Catalog = Catalog{
		Rules: []CatalogRule{{Allow: []string{"Component"}}, {Allow: []string{"API"}}},
		Locations: []CatalogLocation{
			{Type: LocationFile, Target: absolute(t, "entities/**/*.yaml")},
			{Type: LocationURL, Target: "https://example.org/feed.yaml?filter=kind=api", Rules: []CatalogRule{{Allow: []string{"User", "Group"}}}},
		},
		Interval: 5 * time.Minute, LocationTypes: []string{LocationURL},
		XRDTemplates: XRDTemplates{Directory: "conf/xrds", Watch: true, Frequency: 3 * time.Minute},
		UIDRetention: 24 * time.Hour,
	}
	if d := diff(want, loadPortal(t, portal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPortalDefaults checks that a portal without a configuration works, on this
// machine only.
func TestPortalDefaults(t *testing.T) {
	c, fs := Load(nil, Options{Sections: PortalSections})
	if len(fs) > 0 {
		t.Fatalf("findings are %q, want none", lines(fs))
	}
	upstream := loadPortal(t, "words: upstream\n")
	allowed := loadPortal(t, "words: upstream\ncatalog: { locationTypes: [url, file] }\n")
	cases := map[string]struct {
		reason    string
		got, want any
	}{
		"Listen":    {"The portal listens on this machine only, as guests may read.", c.Backend.Listen.String(), "127.0.0.1:7007"},
		"BaseURL":   {"The base URL is localhost.", c.Backend.BaseURL, "http://localhost:7007"},
		"Database":  {"The database is a file in the working directory.", c.Backend.Database, Database{Client: ClientSQLite, Path: "data/portal.sqlite"}},
		"Guest":     {"Guests are enabled.", c.Auth.Guest, GuestProvider{Enabled: true, UserRef: "user:development/guest", OwnershipRefs: []string{"user:development/guest"}}},
		"Lifetime":  {"A guest token lasts 1 hour.", c.Auth.TokenLifetime, time.Hour},
		"OIDC":      {"OIDC is disabled without an issuer.", c.Auth.OIDC.Enabled, false},
		"Origins":   {"No origin is allowed.", len(c.Backend.CORS.Origins), 0},
		"Roots":     {"No local file can be registered.", len(c.Backend.Reading.Roots), 0},
		"Hosts":     {"No host can be read.", len(c.Backend.Reading.Allow), 0},
		"Rate":      {"Requests are limited, except from this machine.", c.Backend.RateLimit, RateLimit{Enabled: true, Requests: 1000, Window: 10 * time.Second, AllowIPs: []string{"127.0.0.0/8", "::1"}}},
		"Body":      {"The size of a body is limited to 4 MiB.", c.Backend.MaxBody, int64(4 << 20)},
		"Policy":    {"Permissions are enabled without rules.", c.Permission, Permission{Enabled: true}},
		"Audit":     {"The audit log is disabled.", c.Audit, Audit{To: AuditNone}},
		"Kinds":     {"Users and groups are not allowed in the catalog.", c.Catalog.Rules, []CatalogRule{{Allow: []string{"Component", "API", "Resource", "System", "Domain", "Template", "Location"}}}},
		"Types":     {"Files and URLs can be registered.", c.Catalog.LocationTypes, []string{"file", "url"}},
		"Upstream":  {"With the keys of Backstage only URLs can be registered.", upstream.Catalog.LocationTypes, []string{"url"}},
		"Allowed":   {"With the keys of Backstage files can be allowed.", allowed.Catalog.LocationTypes, []string{"url", "file"}},
		"Provider":  {"A provider that is not configured is disabled.", c.Catalog.XRDTemplates.Enabled, false},
		"Telemetry": {"Nothing is sent to a collector.", []bool{c.Backend.Telemetry.HasTraces(), c.Backend.Telemetry.HasMetrics()}, []bool{false, false}},
		"Effective": {"The printed configuration is complete.", c.Effective().Get("backend", "listen").Str(), "127.0.0.1:7007"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestListen(t *testing.T) {
	cases := map[string]struct{ reason, text, want, base string }{
		"Port":      {"A port listens on this machine.", "listen: 8080", "127.0.0.1:8080", "http://localhost:8080"},
		"PortText":  {"A port may be quoted as in Backstage.", "listen: '8080'", "127.0.0.1:8080", "http://localhost:8080"},
		"All":       {"A colon before the port means all interfaces.", "listen: ':8080'", ":8080", "http://localhost:8080"},
		"Host":      {"A host and a port are accepted.", "listen: 'localhost:80'", "localhost:80", "http://localhost:80"},
		"IPv6":      {"An IPv6 address has brackets.", "listen: '[::]:80'", "[::]:80", "http://localhost:80"},
		"Map":       {"both", "listen: { host: 10.0.0.1, port: '81' }", "10.0.0.1:81", "http://localhost:81"},
		"MapPort":   {"A map may have only a port.", "listen: { port: 81 }", "127.0.0.1:81", "http://localhost:81"},
		"MapHost":   {"A map may have only a host.", "listen: { host: '::' }", "[::]:7007", "http://localhost:7007"},
		"Free":      {"Port 0 is any free port.", "listen: 0", "127.0.0.1:0", "http://localhost:0"},
		"Elsewhere": {"The address can come from the environment.", "listen: '${PG:-:9}'", ":9", "http://localhost:9"},
		"TLS":       {"A certificate changes the base URL to https.", "https: { certificate: { cert: { $file: a.pem }, key: b.pem } }", "127.0.0.1:7007", "https://localhost:7007"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, "auth: { providers: {} }\nbackend: { "+tc.text+" }", nil)
			if got := c.Backend.Listen.String(); got != tc.want || c.Backend.BaseURL != tc.base {
				t.Errorf("%s: address is %s at %s", tc.reason, got, c.Backend.BaseURL)
			}
		})
	}
}

func TestDatabase(t *testing.T) {
	pg := func(url string) Database {
		return Database{Client: ClientPostgres, URL: source.Secret("postgres://" + url)}
	}
	lite := func(path string) Database { return Database{Client: ClientSQLite, Path: path} }
	cases := map[string]struct {
		reason, text string
		want         Database
	}{
		"None":      {"The default is beside the configuration file.", "", lite("conf/data/portal.sqlite")},
		"Library":   {"The client may have the name of Backstage.", "client: better-sqlite3", lite("conf/data/portal.sqlite")},
		"Text":      {"The connection is a path.", "connection: ../x.db", lite("x.db")},
		"Directory": {"The connection is a directory.", "client: better-sqlite3, connection: { directory: /var/lib/portal }", lite("/var/lib/portal/portal.sqlite")},
		"Filename":  {"The connection is a file name.", "connection: { filename: ./x.db }", lite("conf/x.db")},
		"URL":       {"A PostgreSQL URL is kept.", "client: pg, connection: '${PG}'", pg("me:pw@db/portal?sslmode=disable")},
		"Map":       {"A host is enough for PostgreSQL.", "client: pg, connection: { host: db }", pg("db:5432/portal")},
		"User":      {"A user without a password is accepted.", "client: pg, connection: { host: '::1', user: me }", pg("me@[::1]:5432/portal")},
		"TLS":       {"ssl: true verifies the certificate.", "client: pg, connection: { host: db, ssl: true }", pg("db:5432/portal?sslmode=verify-full")},
		"NoTLS":     {"ssl: false disables TLS.", "client: pg, connection: { host: db, ssl: false }", pg("db:5432/portal?sslmode=disable")},
		"Believe":   {"ssl without verification requires TLS.", "client: pg, connection: { host: db, ssl: { rejectUnauthorized: false } }", pg("db:5432/portal?sslmode=require")},
		"Client":    {"A client certificate can be configured.", "client: pg, connection: { host: db, ssl: { cert: c.pem, key: { $file: /k.pem } } }", pg("db:5432/portal?sslcert=conf%2Fc.pem&sslkey=%2Fk.pem&sslmode=verify-full")},
		"Socket":    {"A host may be a folder with a socket.", "client: pg, connection: { host: /run/postgresql }", pg("/portal?host=%2Frun%2Fpostgresql&port=5432")},
		"Type":      {"The type default of Backstage is accepted.", "client: pg, connection: { type: default, host: db }", pg("db:5432/portal")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if d := diff(&Config{Backend: Backend{Database: tc.want}}, &Config{Backend: Backend{Database: loadPortal(t, "backend: { database: { "+tc.text+" } }").Backend.Database}}); d != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestProviders checks which sign-in providers are enabled.
func TestProviders(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		guest, oidc  bool
		warned       bool
	}{
		"None":        {reason: "Without providers guests are enabled.", text: "auth: {}", guest: true},
		"Null":        {reason: "Null is missing.", text: "auth: { providers: }", guest: true},
		"Empty":       {reason: "An empty list disables guests.", text: "auth: { providers: {} }"},
		"Guest":       {reason: "A provider in the list is enabled.", text: "auth: { providers: { guest: {} } }", guest: true},
		"OIDC":        {reason: "With only OIDC guests are disabled.", text: "auth: { providers: { oidc: { issuer: 'https://x', clientId: a } } }", oidc: true},
		"Both":        {reason: "All providers in the list are enabled.", text: "auth: { providers: { guest: {}, oidc: { issuer: 'https://x', clientId: a } } }", guest: true, oidc: true},
		"Environment": {reason: "A provider can have keys below the environment.", text: "auth: { providers: { guest: { development: {} } } }", guest: true},
		"Shared":      {reason: "Keys beside the environment apply to all environments.", text: "auth: { providers: { oidc: { clientId: a, development: { issuer: 'https://x' }, production: 7 } } }", oidc: true, warned: true},
		"Production":  {reason: "Guests are disabled outside development.", text: "auth: { environment: production, providers: { guest: {} } }", warned: true},
		"NoProviders": {reason: "Guests are disabled outside development by default.", text: "auth: { environment: production }"},
		"Dangerously": {reason: "Guests can be allowed outside development explicitly.", text: "auth: { environment: production, providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }", guest: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, fs := load(tc.text, nil)
			if c.Auth.Guest.Enabled != tc.guest || c.Auth.OIDC.Enabled != tc.oidc || len(fs) > 0 != tc.warned {
				t.Errorf("%s: guest is %v, oidc %v, findings are %q", tc.reason, c.Auth.Guest.Enabled, c.Auth.OIDC.Enabled, lines(fs))
			}
		})
	}
}

// TestGuestsOutside checks the warning about guests for several addresses.
func TestGuestsOutside(t *testing.T) {
	const says = "accepts connections from other machines, and guests are let in without signing in | "
	const byDefault = says + "configure sign-in under auth.providers, listen on 127.0.0.1, or write auth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }"
	const listed = says + "remove auth.providers.guest, listen on 127.0.0.1, or write dangerouslyAllowOutsideDevelopment: true below auth.providers.guest"
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"Default":    {"By default only this machine can connect.", "auth: { providers: { guest: {} } }\n", nil},
		"All":        {"All interfaces are reported.", "backend:\n  listen: ':7007'\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Zero":       {"All IPv4 interfaces are reported.", "backend:\n  listen: 0.0.0.0:7007\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Six":        {"All IPv6 interfaces are reported.", "backend:\n  listen: '[::]:7007'\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Address":    {"One interface is reported.", "backend:\n  listen: { host: 10.0.0.1 }\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Name":       {"A host name is reported.", "backend:\n  listen: portal.local:7007\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"NoList":     {"Guests that are enabled by default are reported.", "backend:\n  listen: ':7007'\n", []string{"a.yaml:2:11: CONF016 backend.listen " + byDefault}},
		"Both":       {"Guests beside OIDC are reported.", "backend:\n  listen: ':7007'\nauth: { providers: { guest: {}, oidc: { issuer: 'https://x', clientId: a } } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Localhost":  {"localhost is not reported.", "backend:\n  listen: LOCALHOST:7007\n", nil},
		"Loopback":   {"A loopback address is not reported.", "backend:\n  listen: 127.0.0.2:7007\n", nil},
		"Loopback6":  {"The IPv6 loopback address is not reported.", "backend:\n  listen: '[::1]:7007'\n", nil},
		"Meant":      {"Explicitly allowed guests are not reported.", "backend:\n  listen: ':7007'\nauth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }\n", nil},
		"MeantBelow": {"Guests explicitly allowed in one environment are not reported.", "backend:\n  listen: ':7007'\nauth: { providers: { guest: { development: { dangerouslyAllowOutsideDevelopment: true } } } }\n", nil},
		"NoGuests":   {"Without guests nothing is reported.", "backend:\n  listen: ':7007'\nauth: { providers: {} }\n", nil},
		"Production": {"Guests disabled by the environment are not reported.", "backend:\n  listen: ':7007'\nauth: { environment: production }\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := load(tc.text, nil)
			if diff := cmp.Diff(tc.want, lines(fs)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	// Programs that do not serve the portal do not report it.
	text := disk{"a.yaml": "backend: { listen: ':7007' }\n"}
	if _, fs := Load([]string{"a.yaml"}, Options{ReadFile: text.read, Sections: []string{SectionComposer}}); len(fs) > 0 {
		t.Errorf("findings without the section backend are %q, want none", lines(fs))
	}
}

// TestDefaultFiles checks that existing files are returned in order, including
// unreadable ones.
func TestDefaultFiles(t *testing.T) {
	dir := t.TempDir()
	if got := DefaultFiles(dir); got != nil {
		t.Errorf("empty folder has the files %q", got)
	}
	local, base := filepath.Join(dir, "app-config.local.yaml"), filepath.Join(dir, "app-config.yaml")
	if err := os.Symlink("app-config.local.yaml", local); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{local}, DefaultFiles(dir)); diff != "" {
		t.Errorf("files with an unreadable one (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(base, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{base, local}, DefaultFiles(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

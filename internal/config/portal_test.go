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

// portal sets each key of the portal to something that is no default.
const portal = `app:
  title: Platform
  baseUrl: https://portal.example.org/
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

// portalURL writes some keys in their other forms.
const portalURL = `backend:
  listen: ":7008"
  database: { client: pg, connection: "${PG}" }
  cache: { store: redis, connection: "redis://localhost" }
  rateLimit: false
auth: { providers: { oidc: { issuer: "https://login.example.org", clientId: portal } } }
catalog: { locationTypes: [] }
`

var portalSecrets = vars{"PASSWORD": "p@ss word/?#", "CI": "0123456789abcdef", "OIDC": "s-oidc", "SESSION": "s-session-0123456", "REDIS": "rediss://me:pw@redis:6380/2", "PG": "postgres://me:pw@db/portal?sslmode=disable"}

// absolute returns a path from where the test runs.
func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// loadPortal reads the sections of the portal from conf/a.yaml.
func loadPortal(t *testing.T, text string) *Config {
	t.Helper()
	c, fs := Load([]string{"conf/a.yaml"}, Options{Lookup: portalSecrets.lookup, ReadFile: disk{"conf/a.yaml": text}.read, Sections: PortalSections})
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("found %q in\n%s", found, text)
	}
	return c
}

func TestPortal(t *testing.T) {
	want := defaults()
	want.App = App{Title: "Platform", BaseURL: "https://portal.example.org"}
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

// TestPortalDefaults wants a portal without a configuration to work, on this
// machine alone.
func TestPortalDefaults(t *testing.T) {
	c, fs := Load(nil, Options{Sections: PortalSections})
	if len(fs) > 0 {
		t.Fatalf("found %q", lines(fs))
	}
	upstream := loadPortal(t, "words: upstream\n")
	allowed := loadPortal(t, "words: upstream\ncatalog: { locationTypes: [url, file] }\n")
	cases := map[string]struct {
		reason    string
		got, want any
	}{
		"Listen":    {"guests may read, so only from this machine", c.Backend.Listen.String(), "127.0.0.1:7007"},
		"BaseURL":   {"where people look", c.Backend.BaseURL, "http://localhost:7007"},
		"Database":  {"one file where it is started", c.Backend.Database, Database{Client: ClientSQLite, Path: "data/portal.sqlite"}},
		"Guest":     {"people may look around", c.Auth.Guest, GuestProvider{Enabled: true, UserRef: "user:development/guest", OwnershipRefs: []string{"user:development/guest"}}},
		"Lifetime":  {"limits of the contract: guest token 1 hour", c.Auth.TokenLifetime, time.Hour},
		"OIDC":      {"nobody signs in at an issuer nobody named", c.Auth.OIDC.Enabled, false},
		"Origins":   {"pages of others may not ask", len(c.Backend.CORS.Origins), 0},
		"Roots":     {"no file of the machine can be registered", len(c.Backend.Reading.Roots), 0},
		"Hosts":     {"no host is read from", len(c.Backend.Reading.Allow), 0},
		"Rate":      {"limited, but not from this machine", c.Backend.RateLimit, RateLimit{Enabled: true, Requests: 1000, Window: 10 * time.Second, AllowIPs: []string{"127.0.0.0/8", "::1"}}},
		"Body":      {"10 MB are too much", c.Backend.MaxBody, int64(4 << 20)},
		"Policy":    {"the contract's policy", c.Permission, Permission{Enabled: true}},
		"Audit":     {"no audit log unless it is asked for", c.Audit, Audit{To: AuditNone}},
		"Kinds":     {"who is who is not for everybody to say", c.Catalog.Rules, []CatalogRule{{Allow: []string{"Component", "API", "Resource", "System", "Domain", "Template", "Location"}}}},
		"Types":     {"files and addresses may be registered", c.Catalog.LocationTypes, []string{"file", "url"}},
		"Upstream":  {"only addresses under the words of Backstage, as there", upstream.Catalog.LocationTypes, []string{"url"}},
		"Allowed":   {"unless files are allowed", allowed.Catalog.LocationTypes, []string{"url", "file"}},
		"Provider":  {"a provider that is not there does nothing", c.Catalog.XRDTemplates.Enabled, false},
		"Effective": {"what is printed is complete", c.Effective().Get("backend", "listen").Str(), "127.0.0.1:7007"},
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
		"Port":      {"a port alone says nothing about who may connect", "listen: 8080", "127.0.0.1:8080", "http://localhost:8080"},
		"PortText":  {"in quotes, as Backstage has it", "listen: '8080'", "127.0.0.1:8080", "http://localhost:8080"},
		"All":       {"a colon before it means all interfaces", "listen: ':8080'", ":8080", "http://localhost:8080"},
		"Host":      {"a host and a port", "listen: 'localhost:80'", "localhost:80", "http://localhost:80"},
		"IPv6":      {"in brackets", "listen: '[::]:80'", "[::]:80", "http://localhost:80"},
		"Map":       {"both", "listen: { host: 10.0.0.1, port: '81' }", "10.0.0.1:81", "http://localhost:81"},
		"MapPort":   {"the port alone", "listen: { port: 81 }", "127.0.0.1:81", "http://localhost:81"},
		"MapHost":   {"the host alone", "listen: { host: '::' }", "[::]:7007", "http://localhost:7007"},
		"Free":      {"any port that is free", "listen: 0", "127.0.0.1:0", "http://localhost:0"},
		"Elsewhere": {"from the environment", "listen: '${PG:-:9}'", ":9", "http://localhost:9"},
		"TLS":       {"a certificate makes it https", "https: { certificate: { cert: { $file: a.pem }, key: b.pem } }", "127.0.0.1:7007", "https://localhost:7007"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, "auth: { providers: {} }\nbackend: { "+tc.text+" }", nil)
			if got := c.Backend.Listen.String(); got != tc.want || c.Backend.BaseURL != tc.base {
				t.Errorf("%s: got %s at %s", tc.reason, got, c.Backend.BaseURL)
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
		"None":      {"beside the configuration file", "", lite("conf/data/portal.sqlite")},
		"Library":   {"as Backstage calls it", "client: better-sqlite3", lite("conf/data/portal.sqlite")},
		"Text":      {"a path", "connection: ../x.db", lite("x.db")},
		"Directory": {"a folder for databases", "client: better-sqlite3, connection: { directory: /var/lib/portal }", lite("/var/lib/portal/portal.sqlite")},
		"Filename":  {"a file", "connection: { filename: ./x.db }", lite("conf/x.db")},
		"URL":       {"as it is", "client: pg, connection: '${PG}'", pg("me:pw@db/portal?sslmode=disable")},
		"Map":       {"the least there can be", "client: pg, connection: { host: db }", pg("db:5432/portal")},
		"User":      {"a user without a password", "client: pg, connection: { host: '::1', user: me }", pg("me@[::1]:5432/portal")},
		"TLS":       {"true checks the certificate", "client: pg, connection: { host: db, ssl: true }", pg("db:5432/portal?sslmode=verify-full")},
		"NoTLS":     {"false is none", "client: pg, connection: { host: db, ssl: false }", pg("db:5432/portal?sslmode=disable")},
		"Believe":   {"any certificate", "client: pg, connection: { host: db, ssl: { rejectUnauthorized: false } }", pg("db:5432/portal?sslmode=require")},
		"Client":    {"a certificate of one's own", "client: pg, connection: { host: db, ssl: { cert: c.pem, key: { $file: /k.pem } } }", pg("db:5432/portal?sslcert=conf%2Fc.pem&sslkey=%2Fk.pem&sslmode=verify-full")},
		"Socket":    {"a folder with a socket", "client: pg, connection: { host: /run/postgresql }", pg("/portal?host=%2Frun%2Fpostgresql&port=5432")},
		"Type":      {"Backstage's name for the usual type", "client: pg, connection: { type: default, host: db }", pg("db:5432/portal")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if d := diff(&Config{Backend: Backend{Database: tc.want}}, &Config{Backend: Backend{Database: loadPortal(t, "backend: { database: { "+tc.text+" } }").Backend.Database}}); d != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, d)
			}
		})
	}
}

// TestProviders says who is let in.
func TestProviders(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		guest, oidc  bool
		warned       bool
	}{
		"None":        {reason: "without providers, guests", text: "auth: {}", guest: true},
		"Null":        {reason: "null is absent", text: "auth: { providers: }", guest: true},
		"Empty":       {reason: "guest is removed by removing it", text: "auth: { providers: {} }"},
		"Guest":       {reason: "present is enabled", text: "auth: { providers: { guest: {} } }", guest: true},
		"OIDC":        {reason: "and no guests", text: "auth: { providers: { oidc: { issuer: 'https://x', clientId: a } } }", oidc: true},
		"Both":        {reason: "each that is there", text: "auth: { providers: { guest: {}, oidc: { issuer: 'https://x', clientId: a } } }", guest: true, oidc: true},
		"Environment": {reason: "keys below the environment", text: "auth: { providers: { guest: { development: {} } } }", guest: true},
		"Shared":      {reason: "keys beside the environment hold in all", text: "auth: { providers: { oidc: { clientId: a, development: { issuer: 'https://x' }, production: 7 } } }", oidc: true, warned: true},
		"Production":  {reason: "guests are not let in outside development", text: "auth: { environment: production, providers: { guest: {} } }", warned: true},
		"NoProviders": {reason: "nor by default", text: "auth: { environment: production }"},
		"Dangerously": {reason: "unless somebody insists", text: "auth: { environment: production, providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }", guest: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, fs := load(tc.text, nil)
			if c.Auth.Guest.Enabled != tc.guest || c.Auth.OIDC.Enabled != tc.oidc || len(fs) > 0 != tc.warned {
				t.Errorf("%s: guest %v, oidc %v, found %q", tc.reason, c.Auth.Guest.Enabled, c.Auth.OIDC.Enabled, lines(fs))
			}
		})
	}
}

// TestGuestsOutside has guests let in at one address or another.
func TestGuestsOutside(t *testing.T) {
	const says = "accepts connections from other machines, and guests are let in without signing in | "
	const byDefault = says + "list under auth.providers how people sign in, listen on 127.0.0.1, or write auth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }"
	const listed = says + "remove auth.providers.guest, listen on 127.0.0.1, or write dangerouslyAllowOutsideDevelopment: true below auth.providers.guest"
	cases := map[string]struct {
		reason, text string
		want         []string
	}{
		"Default":    {"by default only this machine can connect", "auth: { providers: { guest: {} } }\n", nil},
		"All":        {"all interfaces", "backend:\n  listen: ':7007'\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Zero":       {"all interfaces, by address", "backend:\n  listen: 0.0.0.0:7007\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Six":        {"all interfaces of IPv6", "backend:\n  listen: '[::]:7007'\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Address":    {"one interface", "backend:\n  listen: { host: 10.0.0.1 }\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Name":       {"a name may be anything", "backend:\n  listen: portal.local:7007\nauth: { providers: { guest: {} } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"NoList":     {"guests are let in because there is no list", "backend:\n  listen: ':7007'\n", []string{"a.yaml:2:11: CONF016 backend.listen " + byDefault}},
		"Both":       {"signing in does not keep guests out", "backend:\n  listen: ':7007'\nauth: { providers: { guest: {}, oidc: { issuer: 'https://x', clientId: a } } }\n", []string{"a.yaml:2:11: CONF016 backend.listen " + listed}},
		"Localhost":  {"this machine, by name", "backend:\n  listen: LOCALHOST:7007\n", nil},
		"Loopback":   {"this machine, by address", "backend:\n  listen: 127.0.0.2:7007\n", nil},
		"Loopback6":  {"this machine, by an address of IPv6", "backend:\n  listen: '[::1]:7007'\n", nil},
		"Meant":      {"the configuration says that it is meant", "backend:\n  listen: ':7007'\nauth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }\n", nil},
		"MeantBelow": {"the same, for one environment", "backend:\n  listen: ':7007'\nauth: { providers: { guest: { development: { dangerouslyAllowOutsideDevelopment: true } } } }\n", nil},
		"NoGuests":   {"no guests", "backend:\n  listen: ':7007'\nauth: { providers: {} }\n", nil},
		"Production": {"no guests, because of the environment", "backend:\n  listen: ':7007'\nauth: { environment: production }\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := load(tc.text, nil)
			if diff := cmp.Diff(tc.want, lines(fs)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	// Programs that do not serve the portal do not care.
	text := disk{"a.yaml": "backend: { listen: ':7007' }\n"}
	if _, fs := Load([]string{"a.yaml"}, Options{ReadFile: text.read, Sections: []string{SectionComposer}}); len(fs) > 0 {
		t.Errorf("a program without the section backend: %q", lines(fs))
	}
}

// TestDefaultFiles wants the files that are there, in order, and one that
// cannot be read too.
func TestDefaultFiles(t *testing.T) {
	dir := t.TempDir()
	if got := DefaultFiles(dir); got != nil {
		t.Errorf("an empty folder has %q", got)
	}
	local, base := filepath.Join(dir, "app-config.local.yaml"), filepath.Join(dir, "app-config.yaml")
	if err := os.Symlink("app-config.local.yaml", local); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{local}, DefaultFiles(dir)); diff != "" {
		t.Errorf("one that cannot be read (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(base, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{base, local}, DefaultFiles(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package production

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
)

// random is a strong token.
const random = "q8Zr1LxT0vKw5EpNbY7uGh2sMd4c"

// safe is a configuration for several teams. Each case replaces one line.
var safe = []string{
	"backend:",
	"  baseUrl: https://portal.example.org",
	"  listen: ':7007'",
	"  database: { client: pg, connection: '${PG}' }",
	"  cache: { store: redis, connection: '${REDIS}' }",
	"  auth: { externalAccess: [ { type: static, options: { token: '${CI}', subject: ci } } ] }",
	"auth:",
	"  session: { secret: '${SESSION}' }",
	"  providers:",
	"    oidc: { issuer: 'https://login.example.org', clientId: portal }",
	"permission:",
	"  rules: [ { who: [user], permissions: [catalog.entity.delete], owners: [own], result: allow } ]",
	"scaffolder: { secretKey: '${KEY}' }",
	"integrations: { github: [ { token: '${CI}' } ] }",
	"crossplaneIngestor: { clusters: [ { name: a, url: 'https://a', token: x }, { name: b, url: 'https://b', token: x } ] }",
	"audit: { to: stdout }",
}

// TestProduction weakens a safe configuration in one way at a time.
func TestProduction(t *testing.T) {
	const hint = " | generate one with: openssl rand -base64 24"
	cases := map[string]struct {
		reason string
		// line replaces a line of safe by its number, unless it is 0.
		number int
		line   string
		env    map[string]string
		want   []string
	}{
		"Safe": {reason: "A safe configuration has no findings."},
		"Guests": {
			reason: "Guests are reported, even if explicitly allowed.", number: 10,
			line: "    guest: { dangerouslyAllowOutsideDevelopment: true }",
			want: []string{"a.yaml:10:12: PROD001 guests are let in without signing in | remove auth.providers.guest, and write auth.providers.oidc"},
		},
		"PlainURL": {
			reason: "A base URL with plain HTTP is reported.", number: 2,
			line: "  baseUrl: http://portal.example.org",
			want: []string{
				"a.yaml:2:12: PROD002 backend.baseUrl is plain HTTP | write backend.baseUrl with https://, also if a proxy terminates TLS",
				"a.yaml:10:11: PROD003 the session cookie is sent without Secure, because backend.baseUrl is plain HTTP | write backend.baseUrl with https://",
			},
		},
		"PlainDefault": {
			reason: "The default base URL is reported at its section.", number: 2,
			line: "  maxBody: 4MiB",
			want: []string{
				"a.yaml:2:3: PROD002 backend.baseUrl is plain HTTP | write backend.baseUrl with https://, also if a proxy terminates TLS",
				"a.yaml:10:11: PROD003 the session cookie is sent without Secure, because backend.baseUrl is plain HTTP | write backend.baseUrl with https://",
			},
		},
		"PlainApp": {
			reason: "A base URL of the app with plain HTTP is reported.", number: 1,
			line: "app: { baseUrl: 'http://portal.example.org' }\nbackend:",
			want: []string{"a.yaml:1:17: PROD002 app.baseUrl is plain HTTP | write app.baseUrl with https://, also if a proxy terminates TLS"},
		},
		"Token": {
			reason: "A short token is reported.", env: map[string]string{"CI": "q8Zr1LxT0vKw5EpN"},
			want: []string{"a.yaml:6:63: PROD004 backend.auth.externalAccess[0].options.token can be guessed: want at least 24 characters" + hint},
		},
		"Secrets": {
			reason: "Predictable secrets are reported.", env: map[string]string{"SESSION": "the-session-secret-of-the-portal", "KEY": "0123456789abcdef0123456789ABCDEF"},
			want: []string{
				"a.yaml:8:22: PROD004 auth.session.secret can be guessed: want random characters, and no words or sequences" + hint,
				"a.yaml:13:26: PROD004 scaffolder.secretKey can be guessed: want random characters, and no words or sequences" + hint,
			},
		},
		"Database":         {reason: "A connection without sslmode is reported.", env: map[string]string{"PG": "postgres://me:pw@db/portal"}, want: []string{noTLS}},
		"DatabaseDisable":  {reason: "A connection with disabled TLS is reported.", env: map[string]string{"PG": "postgres://me:pw@db/portal?sslmode=disable"}, want: []string{noTLS}},
		"DatabaseAllow":    {reason: "A connection with optional TLS is reported.", env: map[string]string{"PG": "postgres://me:pw@db/portal?sslmode=allow"}, want: []string{noTLS}},
		"DatabasePrefer":   {reason: "A connection that prefers TLS is reported, as it can be downgraded.", env: map[string]string{"PG": "postgres://me:pw@10.0.0.1/portal?sslmode=prefer"}, want: []string{noTLS}},
		"DatabaseHost":     {reason: "The host in the query of a connection counts.", env: map[string]string{"PG": "postgres://me:pw@localhost/portal?host=db"}, want: []string{noTLS}},
		"DatabaseHosts":    {reason: "One remote host of several is enough for a report.", env: map[string]string{"PG": "postgres://localhost,db/portal"}, want: []string{noTLS}},
		"DatabaseRequired": {reason: "encrypted", env: map[string]string{"PG": "postgres://me:pw@db/portal?sslmode=require"}},
		"DatabaseHere":     {reason: "A local connection is not reported.", env: map[string]string{"PG": "postgres://me:pw@127.0.0.1/portal"}},
		"DatabaseSocket":   {reason: "A socket is not reported.", env: map[string]string{"PG": "postgres:///portal?host=/run/postgresql"}},
		"DatabaseMap": {
			reason: "A connection as a map is checked too.", number: 4,
			line: "  database: { client: pg, connection: { host: db, ssl: false } }",
			want: []string{"a.yaml:4:56: PROD005 backend.database.connection does not require encryption | write ssl: true, or sslmode=verify-full in the URL"},
		},
		"DatabaseMapSecure": {reason: "encrypted", number: 4, line: "  database: { client: pg, connection: { host: db, ssl: true } }"},
		"SQLite":            {reason: "SQLite has no connection.", number: 4, line: "  database: { client: sqlite }"},
		"Redis": {
			reason: "A Redis connection without TLS is reported.", env: map[string]string{"REDIS": "redis://:pw@redis:6379"},
			want: []string{"a.yaml:5:38: PROD010 backend.cache.connection is not encrypted | write rediss:// in place of redis://"},
		},
		"Collector": {
			reason: "Headers for a collector on another machine are not sent over plain HTTP.", number: 3,
			line: "  telemetry: { endpoint: 'http://collector:4318', headers: { Authorization: x } }",
			want: []string{"a.yaml:3:26: PROD014 backend.telemetry.headers are sent over plain HTTP | write https:// in place of http://, or remove headers"},
		},
		"CollectorOpen": {reason: "A collector without credentials may be reached over plain HTTP.", number: 3, line: "  telemetry: { endpoint: 'http://collector:4318' }"},
		"CollectorHere": {reason: "A collector on this machine may be reached over plain HTTP.", number: 3, line: "  telemetry: { endpoint: 'http://localhost:4318', headers: { Authorization: x } }"},
		"CollectorTLS":  {reason: "encrypted", number: 3, line: "  telemetry: { endpoint: 'https://collector:4318', headers: { Authorization: x } }"},
		"RedisHere":     {reason: "A local Redis connection is not reported.", env: map[string]string{"REDIS": "redis://localhost"}},
		"Permission": {
			reason: "Disabled permissions are reported.", number: 12, line: "  enabled: false",
			want: []string{"a.yaml:12:12: PROD006 permission.enabled is false | remove it, or write true"},
		},
		"NoRules": {
			reason: "Missing permission rules are reported.", number: 12, line: "  rules: []",
			want: []string{"a.yaml:12:10: PROD007 permission rules are missing | write permission.rules; docs/sign-in.md has an example"},
		},
		"NoAudit": {
			reason: "A disabled audit log is reported.", number: 16, line: "audit: { to: none }",
			want: []string{"a.yaml:16:14: PROD013 audit log is off | write audit: { to: stdout }, or to: file with file: the path"},
		},
		"RateLimit": {
			reason: "A disabled rate limit is reported.", number: 2, line: "  baseUrl: https://portal.example.org\n  rateLimit: false",
			want: []string{"a.yaml:3:14: PROD008 backend.rateLimit is off | remove it, or write a map with window and incomingRequestLimit"},
		},
		"SkipTLSCluster": {
			reason: "A cluster without TLS verification is reported in either vocabulary.", number: 15,
			line: "crossplaneIngestor: { clusters: [ { name: a, url: 'https://a', token: x }, { name: b, url: 'https://b', token: x, skipTLSVerify: true } ] }",
			want: []string{"a.yaml:15:130: PROD009 composerIngestor.clusters[1].skipTLSVerify is true: the certificate is not verified | remove it, and write caFile if the certificate authority is private"},
		},
		"SkipTLSOrchestrator": {
			reason: "A cluster of variant B without TLS verification is reported.", number: 15,
			line: "kubernetes: { serviceLocatorMethod: { type: multiTenant }, clusterLocatorMethods: [ { type: config, clusters: [ { name: a, url: 'https://a', token: x, skipTLSVerify: true } ] } ] }",
			want: []string{"a.yaml:15:167: PROD009 orchestrator.clusterLocatorMethods[0].clusters[0].skipTLSVerify is true: the certificate is not verified | remove it, and write caFile if the certificate authority is private"},
		},
		"SkipTLSHost": {
			reason: "A Git server without TLS verification is reported.", number: 14,
			line: "integrations: { gitea: [ { host: git.example.org, skipTLSVerify: true } ] }",
			want: []string{"a.yaml:14:66: PROD009 integrations.gitea[0].skipTLSVerify is true: the certificate is not verified | remove it, and write caFile if the certificate authority is private"},
		},
		"Issuer": {
			reason: "A local issuer with plain HTTP is reported.", number: 10,
			line: "    oidc: { metadataUrl: 'http://localhost:8080/.well-known/openid-configuration', clientId: portal }",
			want: []string{"a.yaml:10:26: PROD011 auth.providers.oidc.metadataUrl is plain HTTP | use https"},
		},
		"IssuerCluster": {
			reason: "A local issuer of a cluster with plain HTTP is reported.", number: 15,
			line: "composerIngestor: { clusters: [ { name: a, url: 'https://a', authProvider: oidc, oidc: { issuer: 'http://127.0.0.1', clientId: a, clientSecret: b } } ] }",
			want: []string{"a.yaml:15:98: PROD011 composerIngestor.clusters[0].oidc.issuer is plain HTTP | use https"},
		},
		"NoKey": {
			reason: "A missing secret key is reported, as replicas share it.", number: 13, line: "scaffolder: {}",
			want: []string{"a.yaml:13:13: PROD012 the key for task secrets is missing | write scaffolder: { secretKey: ${NAME} }, the same for all replicas; generate one with: openssl rand -base64 24"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"PG": "postgres://me:pw@db/portal?sslmode=verify-full", "REDIS": "rediss://:pw@redis", "CI": random, "SESSION": random + "1", "KEY": random + "2"}
			for name, value := range tc.env {
				env[name] = value
			}
			text := ""
			for i, line := range safe {
				if i+1 == tc.number {
					line = tc.line
				}
				text += line + "\n"
			}
			got := lines(Check(load(t, text, env)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

const noTLS = "a.yaml:4:39: PROD005 backend.database.connection does not require encryption | write ssl: true, or sslmode=verify-full in the URL"

// TestProductionDefaults checks that the weaknesses of the defaults are reported
// without a position.
func TestProductionDefaults(t *testing.T) {
	c, _ := config.Load(nil, config.Options{})
	want := []string{
		"defaults: PROD001 guests are let in without signing in | remove auth.providers.guest, and write auth.providers.oidc",
		"defaults: PROD002 backend.baseUrl is plain HTTP | write backend.baseUrl with https://, also if a proxy terminates TLS",
		"defaults: PROD007 permission rules are missing | write permission.rules; docs/sign-in.md has an example",
		"defaults: PROD013 audit log is off | write audit: { to: stdout }, or to: file with file: the path",
	}
	if diff := cmp.Diff(want, lines(Check(c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// load loads one file called a.yaml, without findings.
func load(t *testing.T, text string, env map[string]string) *config.Config {
	t.Helper()
	c, found := config.Load([]string{"a.yaml"}, config.Options{
		Lookup: func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		},
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	})
	for _, f := range found {
		if f.Severity != finding.Info {
			t.Fatalf("finding %v in\n%s", f, text)
		}
	}
	return c
}

// lines returns findings as users see them.
func lines(found []finding.Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s: %s %s | %s", f.Where(), f.Rule, f.Message, f.Hint))
	}
	return out
}

// TestRulesDocumented checks that the handbook lists the rules, in order.
func TestRulesDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range Rules {
		want = append(want, "| "+strings.Join([]string{r.ID, r.Severity.String(), r.Title, r.Why}, " | ")+" |")
	}
	got := regexp.MustCompile(`(?m)^\| PROD\d+ \|.*$`).FindAllString(string(page), -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules in docs/configuration.md differ (-code +docs):\n%s", diff)
	}
}
